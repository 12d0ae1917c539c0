// The reason that a provider gives is found in every shape seen in the field, through each of the three APIs.
import { describe, expect, test } from 'vitest'
import { createAnthropic } from '../../../server/llm/anthropic.ts'
import { statusFailure } from '../../../server/llm/failure.ts'
import { createOpenAiCompatible } from '../../../server/llm/openai.ts'
import { createResponses } from '../../../server/llm/responses.ts'
import { readResponse } from '../../support/provider/llm.ts'
import { type Turn, turn } from '../../support/provider/upstream-turns.ts'
import { useProviderClients } from './provider-clients.ts'

const context = { model: 'M', apiKey: 'secret-key-1234', secrets: ['header-secret'] }

/** Bodies of failed requests, with the words that a person must see. Sources are issues of public repositories. */
const bodies: [source: string, body: unknown][] = [
  ['OpenAI', { error: { message: 'The field x is unknown.', type: 'invalid_request_error' } }],
  [
    'Gemini: a list (liliMozi/openhanako#395)',
    [{ error: { code: 400, message: 'The field x is unknown.' } }],
  ],
  ['FastAPI', { detail: 'The field x is unknown.' }],
  [
    'FastAPI: a list',
    { detail: [{ loc: ['body', 'x'], msg: 'The field x is unknown.', type: 'extra' }] },
  ],
  ['Mistral', { object: 'error', message: { detail: [{ msg: 'The field x is unknown.' }] } }],
  ['GLM', { code: 1214, msg: 'The field x is unknown.', success: false }],
  ['MiniMax', { base_resp: { status_code: 2013, status_msg: 'The field x is unknown.' } }],
  ['Bedrock', { Message: 'The field x is unknown.' }],
  [
    'Tencent Cloud',
    { Response: { Error: { Code: 'InvalidParameter', Message: 'The field x is unknown.' } } },
  ],
  [
    'Volcengine',
    {
      ResponseMetadata: {
        RequestId: 'r',
        Error: { Code: 'InvalidParameter', Message: 'The field x is unknown.' },
      },
    },
  ],
  ['Apigee', { fault: { faultstring: 'The field x is unknown.', detail: { errorcode: 'x.y' } } }],
  [
    'Cloudflare',
    { result: null, success: false, errors: [{ message: 'The field x is unknown.' }] },
  ],
  ['Java services', { errorCode: 'E1', errorMsg: 'The field x is unknown.' }],
  ['a bare title with details', { error: 'Bad Request', details: 'The field x is unknown.' }],
  [
    'XML',
    '<?xml version="1.0"?><Error><Code>X</Code><Message>The field x is unknown.</Message></Error>',
  ],
  ['a text', 'The field x is unknown.'],
  ['JSON as a text', JSON.stringify({ error: { message: 'The field x is unknown.' } })],
  ['a field with a text', { error: 'The field x is unknown.' }],
  ['several errors', { errors: [{ message: 'The field x is unknown.' }] }],
  [
    'OpenRouter',
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: '{"error":{"message":"The field x is unknown."}}' },
      },
    },
  ],
  [
    'LiteLLM',
    {
      error: {
        message:
          'litellm.BadRequestError: OpenAIException - {"error":{"message":"The field x is unknown."}}',
      },
    },
  ],
  [
    'LiteLLM, as Python writes it',
    {
      error: {
        message:
          "Error code: 400 - {'error': {'message': 'The field x is unknown.', 'code': None}}",
      },
    },
  ],
]

describe('a failed request', () => {
  test.each(bodies)('says why: %s', (_source, body) => {
    const { code, message } = statusFailure({ status: 400, body }, context)
    expect(code).toBe('model_refused')
    expect(message).toContain('The field x is unknown.')
    expect(message).not.toMatch(/[{}[\]]/)
  })

  test.each([
    // What can't succeed is not retried, whatever the status.
    [
      429,
      { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } },
      'model_rate_limited_quota',
      false,
    ],
    [429, { error: { message: 'Invalid API key provided' } }, 'model_unauthorized', false],
    [500, { error: { message: 'invalid_api_key' } }, 'model_unauthorized', false],
    [
      400,
      [{ error: { code: 400, message: 'API key not valid. Please pass a valid API key.' } }],
      'model_unauthorized',
      false,
    ],
    [
      500,
      { error: { message: 'This model has a maximum context length of 8192 tokens.' } },
      'model_context_exceeded',
      false,
    ],
    [
      400,
      { error: { message: 'Your credit balance is too low to access the API.' } },
      'model_refused_credit',
      false,
    ],
    [
      403,
      { error: { message: 'Country, region, or territory not supported' } },
      'model_refused',
      false,
    ],
    [403, { error: { message: 'Your input was flagged by moderation.' } }, 'model_refused', false],
    [
      404,
      { error: { message: 'No endpoints found that support tool use.' } },
      'model_refused',
      false,
    ],
    [
      503,
      { error: { message: 'No channel for this model', code: 'model_not_found' } },
      'model_not_found',
      false,
    ],
    // What may pass is.
    [429, { error: { message: 'Rate limit reached' } }, 'model_rate_limited', true],
    [
      429,
      { message: 'Too many tokens, please wait before trying again.' },
      'model_rate_limited',
      true,
    ],
    [503, { error: { message: 'The model is overloaded.' } }, 'model_unavailable', true],
  ])('with status %i and %j is %s', (status, body, reason, retryable) => {
    const failure = statusFailure({ status, body }, context)
    expect([failure.reason, failure.retryable]).toEqual([reason, retryable])
  })

  test('of Gemini that names a delay is a rate limit with that delay', () => {
    const body = [
      {
        error: {
          code: 429,
          message: 'You exceeded your current quota.',
          details: [{ retryDelay: '17s' }],
        },
      },
    ]
    const failure = statusFailure({ status: 429, body }, context)
    expect([failure.reason, failure.retryable, failure.retryAfter]).toEqual([
      'model_rate_limited',
      true,
      17,
    ])
  })

  test('reveals neither addresses with their paths nor keys nor headers', () => {
    const secrets = [
      'http://10.0.0.7:8080/secret-path',
      'gateway.internal:8443/secret-path/v1?x=1',
      '10.0.0.7/secret-path',
      'backend:8080/secret-path',
      'gateway.example.com/secret-path',
      '[::1]:8080/secret-path',
      'secret-key-1234',
      'header-secret',
    ]
    for (const secret of secrets) {
      const { message } = statusFailure(
        { status: 500, body: `Cannot reach ${secret} now` },
        context,
      )
      expect(message).toMatch(/Cannot reach \[(address|key)\] now/)
    }
    const plain = 'Use 8:30 or meta-llama/Llama-3.1-8B, e.g. and/or'
    expect(statusFailure({ status: 400, body: plain }, context).message).toContain(plain)
  })
})

const event = (value: { type: string }) =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
const apis = [
  [
    'chat completions',
    createOpenAiCompatible,
    'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n',
  ],
  [
    'Responses',
    createResponses,
    event({
      type: 'response.output_item.added',
      ...{ output_index: 0, item: { type: 'message' } },
    }) + event({ type: 'response.output_text.delta', ...{ output_index: 0, delta: 'Hel' } }),
  ],
  [
    'Messages',
    createAnthropic,
    event({ type: 'message_start', ...{ message: { usage: { input_tokens: 5 } } } }) +
      event({
        type: 'content_block_start',
        ...{ index: 0, content_block: { type: 'text', text: '' } },
      }) +
      event({
        type: 'content_block_delta',
        ...{ index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      }),
  ],
] as const

describe.each(apis)('an error after the beginning of a %s stream', (_name, create, begun) => {
  const { upstream, clientFor } = useProviderClients(create, { id: 'm', api_key: 'k' })
  const endOf = async (given: Turn) => {
    upstream.enqueue(given)
    const response = await readResponse(clientFor())
    if (response.end.type !== 'failed') throw new Error('expected a failure')
    return {
      text: response.text,
      reason: response.end.error.reason,
      message: response.end.error.message,
    }
  }

  test.each([
    [
      'OpenAI',
      'data: {"error":{"message":"Rate limit reached","type":"rate_limit_error","code":"429"}}\n\n',
    ],
    [
      'Gemini',
      'data: [{"error":{"code":429,"message":"Rate limit reached","status":"RESOURCE_EXHAUSTED"}}]\n\n',
    ],
    [
      'a bare event',
      'event: error\ndata: {"code":"rate_limit","message":"Rate limit reached"}\n\n',
    ],
    ['a text in an event', 'event: error\ndata: {"error":"Rate limit reached"}\n\n'],
    ['words in an event', 'event: error\ndata: Rate limit reached\n\n'],
    [
      'Anthropic',
      'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"Rate limit reached"}}\n\n',
    ],
    [
      'llama.cpp',
      'error: {"code":429,"message":"Rate limit reached","type":"rate_limit_error"}\n\n',
    ],
    ['FastAPI', 'data: {"detail":"Rate limit reached"}\n\n'],
    ['MiniMax', 'data: {"base_resp":{"status_code":1002,"status_msg":"Rate limit reached"}}\n\n'],
  ])('is the reason, and the text so far is kept: %s', async (_source, error) => {
    const end = await endOf(turn.raw([begun + error]))
    expect(end).toMatchObject({ text: 'Hel', reason: 'model_rate_limited' })
    expect(end.message).toContain('The provider says: Rate limit reached')
  })

  test('is also found in a body of JSON that is called a text, an event stream or nothing', async () => {
    const body = JSON.stringify({ error: { message: 'The field x is unknown.', code: 400 } })
    for (const type of ['text/plain', 'text/event-stream', 'application/octet-stream']) {
      const end = await endOf({ ...turn.raw([body]), headers: { 'content-type': type } })
      expect(end).toMatchObject({ reason: 'model_refused' })
      expect(end.message).toContain('The field x is unknown.')
    }
  })
})
