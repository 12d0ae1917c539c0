// Shapes of answers seen in the field, through each of the three APIs: reasoning, ends, calls, reused indexes. Contents are invented.
import { describe, expect, test } from 'vitest'
import { createAnthropic } from '../../../server/llm/anthropic.ts'
import type { LlmClient } from '../../../server/llm/client.ts'
import { createOpenAiCompatible } from '../../../server/llm/openai.ts'
import { createResponses } from '../../../server/llm/responses.ts'
import { llmRequest, outcome, readResponse } from '../../support/provider/llm.ts'
import { messagesTurn } from '../../support/provider/messages-turns.ts'
import { called, responsesTurn, said } from '../../support/provider/responses-turns.ts'
import { chunk, turn } from '../../support/provider/upstream-turns.ts'
import { look, useProviderClients } from './provider-clients.ts'

const apis = [
  [
    'chat completions',
    createOpenAiCompatible,
    (text: string) => turn.text(text, { chunkSize: 4 }),
    (reason: string) => turn.chunks([chunk({ content: '' }), chunk({}, reason)]),
    (name: string, text: string) =>
      turn.chunks([
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { name, arguments: text } }] }),
        chunk({}, 'stop'),
      ]),
  ],
  [
    'the Responses API',
    createResponses,
    (text: string) => responsesTurn([said(text)]),
    () => responsesTurn([]),
    (name: string, text: string) => responsesTurn([{ ...called('call_1', name), arguments: text }]),
  ],
  [
    'the Messages API',
    createAnthropic,
    (text: string) => messagesTurn([{ type: 'text', text }]),
    (reason: string) => messagesTurn([], { stop_reason: reason }),
    undefined,
  ],
] as const

describe.each(apis)('through %s', (_name, create, textTurn, emptyTurn, callTurn) => {
  const { upstream, clientFor } = useProviderClients<LlmClient>(create, { id: 'm', api_key: 'k' })

  test.each([
    '<think>Hm.</think>\n\nHello!',
    'Hm.\n</think>\n\nHello!',
    '[THINK]Hm.[/THINK]Hello!',
    '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello!',
  ])('reasoning in the text is not the answer: %j', async (text) => {
    upstream.enqueue(textTurn(text))
    let seen = { thinking: '', text: '' }
    const { end } = await readResponse(clientFor(), llmRequest(), (one) => {
      if (one.type === 'thinking_delta') seen.thinking += one.text
      if (one.type === 'text_delta') seen.text += one.text
      if (one.type === 'text_was_thinking') seen = { thinking: seen.text, text: '' }
    })
    expect([seen.thinking.trim(), seen.text, end.type]).toEqual(['Hm.', 'Hello!', 'finished'])
  })

  test('an answer without text is none', async () => {
    upstream.enqueue(emptyTurn('stop'), textTurn('<think>Hm.'))
    expect((await readResponse(clientFor())).end).toMatchObject({
      error: { reason: 'model_answer_empty' },
    })
    expect((await readResponse(clientFor())).end).toMatchObject({
      error: { reason: 'model_answer_only_thinking' },
    })
  })

  test.skipIf(create === createResponses)('an end in any words is what it is', async () => {
    for (const [word, reason] of [
      ['MAX_TOKENS', 'model_answer_only_thinking_cut'],
      ['SAFETY', 'model_answer_filtered'],
      ['MALFORMED_FUNCTION_CALL', 'model_call_malformed'],
    ] as const) {
      upstream.enqueue(emptyTurn(word))
      expect((await readResponse(clientFor())).end).toMatchObject({ error: { reason } })
    }
  })

  test.skipIf(callTurn === undefined)('a call is read as it is meant, or refused', async () => {
    for (const [name, text, read] of [
      ['functions.look', 'null', '{}'],
      ['look:0', '{"at":1,}', '{"at":1}'],
      ['look', '{"at":"a "b" c"}', '{"at":"a "b" c"}'],
    ] as const) {
      if (callTurn === undefined) return
      upstream.enqueue(callTurn(name, text))
      const response = await readResponse(clientFor(), llmRequest({ tools: [look] }))
      expect(response.calls.map((call) => [call.name, call.arguments])).toEqual([['look', read]])
      expect(outcome(response)).toBe('finished:tool_calls')
    }
  })
})

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`

describe('events of gateways', () => {
  const messages = useProviderClients<LlmClient>(createAnthropic, { id: 'm', api_key: 'k' })
  const responses = useProviderClients<LlmClient>(createResponses, { id: 'm', api_key: 'k' })
  const begun = event({ type: 'message_start', message: { id: 'x', usage: { input_tokens: 5 } } })
  const end = (reason: string) =>
    event({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 9 } }) +
    event({ type: 'message_stop' })
  const block = (start: object, ...deltas: object[]) =>
    [
      { type: 'content_block_start', index: 0, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
      { type: 'content_block_stop', index: 0 },
    ]
      .map(event)
      .join('')

  // anthropics/anthropic-sdk-typescript#879, LuthienResearch/luthien-proxy#749
  test('of the Messages API that use an index again, or begin twice, lose nothing', async () => {
    const call = { type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } }
    messages.upstream.enqueue(
      turn.raw([
        begun +
          begun +
          block({ type: 'text', text: '' }, { type: 'text_delta', text: 'I look.' }) +
          block(call, { type: 'input_json_delta', partial_json: '{"at":1}' }) +
          block(
            { ...call, id: 't2', input: {} },
            { type: 'input_json_delta', partial_json: '{"at":2}' },
          ) +
          end('tool_use'),
      ]),
    )
    const response = await readResponse(messages.clientFor(), llmRequest({ tools: [look] }))
    expect(response.text).toBe('I look.')
    expect(response.calls.map((made) => made.arguments)).toEqual(['{"at":1}', '{"at":2}'])
  })

  // vercel/ai: `anthropic-message-start-prepopulated-content` among the fixtures of its Anthropic provider
  test('of the Messages API that begin with whole blocks lose nothing', async () => {
    const content = [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 't1', name: 'look', input: { at: 1 }, caller: { type: 'direct' } },
    ]
    const message = { id: 'x', content, stop_reason: 'tool_use', usage: { input_tokens: 5 } }
    const more = block(
      { type: 'tool_use', id: 't2', name: 'look', input: {} },
      { type: 'input_json_delta', partial_json: '{"at":2}' },
    )
    for (const [rest, calls] of [
      ['', ['{"at":1}']],
      [more, ['{"at":1}', '{"at":2}']],
    ] as const) {
      const begin = event({ type: 'message_start', message })
      messages.upstream.enqueue(turn.raw([begin + rest + event({ type: 'message_stop' })]))
      const response = await readResponse(messages.clientFor(), llmRequest({ tools: [look] }))
      expect(response.text).toBe('I look.')
      expect(response.calls.map((made) => made.arguments)).toEqual(calls)
    }
  })

  // vercel/ai: `xai-text-with-reasoning-streaming-store-false` among the fixtures of its xAI provider
  test('of xAI have reasoning, text and what goes back', async () => {
    const reasoning = { id: 'rs_1', type: 'reasoning', summary: [], status: 'in_progress' }
    const done = { ...reasoning, status: 'completed', encrypted_content: 'sealed' }
    const said = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress' }
    const part = { type: 'output_text', text: 'Chiltepin.', logprobs: [], annotations: [] }
    const whole = { ...said, status: 'completed', content: [part] }
    const summary = [{ type: 'summary_text', text: 'A question of taste.' }]
    const events: [type: string, more: object][] = [
      ['created', { response: { status: 'in_progress', output: [], store: false } }],
      ['output_item.added', { output_index: 0, item: reasoning }],
      ['reasoning_summary_part.added', { item_id: 'rs_1', output_index: 0, summary_index: 0 }],
      ...['A question', ' of taste.'].map((delta): [string, object] => [
        'reasoning_summary_text.delta',
        { item_id: 'rs_1', output_index: 0, summary_index: 0, delta },
      ]),
      ['reasoning_summary_text.done', { item_id: 'rs_1', output_index: 0, text: 'A question …' }],
      ['output_item.done', { output_index: 0, item: { ...done, summary } }],
      ['output_item.added', { output_index: 1, item: { ...said, content: [] } }],
      ['content_part.added', { item_id: 'msg_1', output_index: 1, content_index: 0 }],
      ['output_text.delta', { item_id: 'msg_1', output_index: 1, delta: 'Chiltepin.' }],
      ['output_text.done', { item_id: 'msg_1', output_index: 1, text: 'Chiltepin.' }],
      ['output_item.done', { output_index: 1, item: whole }],
      ['completed', { response: { status: 'completed', output: [{ ...done, summary }, whole] } }],
    ]
    responses.upstream.enqueue(
      turn.raw(
        events.map(([type, more], at) =>
          event({ sequence_number: at, type: `response.${type}`, ...more }),
        ),
      ),
    )
    const { thinking, text, end } = await readResponse(responses.clientFor(), llmRequest())
    expect([thinking, text]).toEqual(['A question of taste.', 'Chiltepin.'])
    expect(end).toMatchObject({ type: 'finished', carry: expect.any(String) })
  })

  test('of the Responses API without indexes, or with one index for all, lose nothing', async () => {
    for (const place of [{}, { output_index: 0 }]) {
      const item = (id: string) => ({ type: 'function_call', id, call_id: id, name: 'look' })
      const made = ['a', 'b'].flatMap((id) => [
        { type: 'response.output_item.added', ...place, item: item(id) },
        { type: 'response.function_call_arguments.delta', ...place, item_id: id, delta: '{"at":' },
        {
          type: 'response.function_call_arguments.delta',
          ...place,
          item_id: id,
          delta: `"${id}"}`,
        },
        {
          type: 'response.output_item.done',
          ...place,
          item: { ...item(id), arguments: `{"at":"${id}"}` },
        },
      ])
      const output = ['a', 'b'].map((id) => ({ ...item(id), arguments: `{"at":"${id}"}` }))
      responses.upstream.enqueue(
        turn.raw(
          [...made, { type: 'response.completed', response: { status: 'completed', output } }].map(
            event,
          ),
        ),
      )
      const response = await readResponse(responses.clientFor(), llmRequest({ tools: [look] }))
      expect(response.calls.map((call) => call.arguments)).toEqual(['{"at":"a"}', '{"at":"b"}'])
    }
  })
})

describe('an event that a gateway writes in its own way', () => {
  const messages = useProviderClients<LlmClient>(createAnthropic, { id: 'm', api_key: 'k' })
  const responses = useProviderClients<LlmClient>(createResponses, { id: 'm', api_key: 'k' })
  const chat = useProviderClients<LlmClient>(createOpenAiCompatible, { id: 'm', api_key: 'k' })
  type Provider = typeof messages
  const read = async ({ upstream, clientFor }: Provider, events: readonly object[]) => {
    upstream.enqueue(turn.raw(events.map(event)))
    const response = await readResponse(clientFor(), llmRequest({ tools: [look] }))
    const { thinking, text, calls } = response
    return [thinking, text, calls.map((call) => call.arguments), response.end.type]
  }
  const block = (start: object, ...deltas: object[]) => [
    { type: 'message_start', message: { id: 'x' } },
    { type: 'content_block_start', index: 0, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ]

  test('never makes a call run without its arguments', async () => {
    const call = { type: 'tool_use', id: 't', name: 'look', input: '{"at":1}' }
    expect(await read(messages, block(call))).toEqual(['', '', ['{"at":1}'], 'finished'])
    const item = { type: 'function_call', id: 'f', call_id: 'c', name: 'look' }
    const added = { type: 'response.output_item.added', output_index: 0 }
    const completed = { type: 'response.completed', response: { status: 'completed', output: [] } }
    const piece = (type: string, more: object) => ({ type, output_index: 0, item_id: 'f', ...more })
    for (const events of [
      // The whole at the end only.
      [
        { ...added, item: { ...item, arguments: '' } },
        piece('response.function_call_arguments.done', { arguments: '{"at":1}' }),
        completed,
      ],
      // An empty object first.
      [
        { ...added, item: { ...item, arguments: '{}' } },
        piece('response.function_call_arguments.delta', { delta: '{"at":1}' }),
        completed,
      ],
    ])
      expect(await read(responses, events)).toEqual(['', '', ['{"at":1}'], 'finished'])
  })

  test('neither loses nor repeats a text, nor shows reasoning as the answer', async () => {
    const text = { type: 'response.output_text.delta', item_id: 'm', delta: 'Hello.' }
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] }]
    const response = { status: 'completed', output }
    for (const end of ['response.completed', 'response.done'])
      expect(await read(responses, [text, { type: end, response }])).toEqual([
        '',
        'Hello.',
        [],
        'finished',
      ])
    const thought = { type: 'thinking_delta', thinking: 'Hm.' }
    const said = { type: 'text_delta', text: 'Hello.' }
    expect(await read(messages, block({ type: 'text', text: '' }, thought, said))).toEqual([
      'Hm.',
      'Hello.',
      [],
      'finished',
    ])
    for (const first of [
      chunk({ content: { type: 'text', text: 'Hello.' } }),
      { choices: [{ index: 0, text: 'Hello.', finish_reason: null }] },
    ])
      expect(await read(chat, [first, chunk({}, 'stop')])).toEqual(['', 'Hello.', [], 'finished'])
  })
})

describe('chat completions', () => {
  const { upstream, clientFor } = useProviderClients<LlmClient>(createOpenAiCompatible, {
    id: 'm',
    api_key: 'k',
  })

  test('of Groq report usage in a field of their own', async () => {
    upstream.enqueue(
      turn.chunks([
        chunk({ content: 'Hi.' }),
        {
          ...chunk({}, 'stop'),
          x_groq: { id: 'r', usage: { prompt_tokens: 7, completion_tokens: 3 } },
        },
      ]),
    )
    expect((await readResponse(clientFor())).end).toMatchObject({
      estimated: false,
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    })
  })

  test('of Gemini that end in a call that it could not read fail, and their text is kept', async () => {
    upstream.enqueue(
      turn.chunks([chunk({ content: 'I look it up.' }), chunk({}, 'MALFORMED_FUNCTION_CALL')]),
    )
    const response = await readResponse(clientFor())
    expect(response.text).toBe('I look it up.')
    expect(response.end).toMatchObject({ error: { reason: 'model_call_malformed' } })
  })

  test('of DashScope write a missing finish reason as a text', async () => {
    upstream.enqueue(
      turn.chunks([
        chunk({ content: 'Hel' }, 'null'),
        chunk({ content: 'lo' }, 'null'),
        chunk({}, 'length'),
      ]),
    )
    const response = await readResponse(clientFor())
    expect([response.text, outcome(response)]).toEqual(['Hello', 'finished:length'])
  })

  test('of MiniMax repeat all of the reasoning so far in each piece', async () => {
    const details = (text: string) =>
      chunk({ reasoning_details: [{ type: 'reasoning.text', text }] })
    upstream.enqueue(
      turn.chunks([
        details('I think about it'),
        details('I think about it, and then'),
        chunk({ content: 'Hi.' }, 'stop'),
      ]),
    )
    const { thinking, text } = await readResponse(clientFor())
    expect([thinking, text]).toEqual(['I think about it, and then', 'Hi.'])
  })

  test('send the headers of the model, and the inspector does not see them', async () => {
    upstream.enqueue(turn.text('Hi.'), turn.error(500, 'no header-secret, please'))
    const client = clientFor({
      headers: { 'X-Gateway': 'header-secret', Authorization: 'Basic x' },
    })
    const exchanges: never[] = []
    await readResponse(client, llmRequest({ exchanges }))
    expect((await upstream.nextRequest()).headers).toMatchObject({
      'x-gateway': 'header-secret',
      authorization: 'Basic x',
    })
    expect(JSON.stringify(exchanges)).not.toContain('header-secret')
    expect(JSON.stringify(exchanges)).toContain('x-gateway')
    const { end } = await readResponse(client)
    expect(end.type === 'failed' && end.error.message).toContain('no [key], please')
  })
})
