// Messages in Anthropic's format: what Claude Code and programs like it send, and what they get.
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

const upstream = await useUpstream()
const model = 'nanoclaw/scripted'
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const read = {
  name: 'Read',
  description: 'Reads a file.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
}
const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: PICTURE },
}
const Event = z.looseObject({ type: z.string() })

describeOnEachServer('messages in the format of Anthropic', (start) => {
  let server: TestServer
  let key = ''
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, vision: true, thinking: true }],
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      titles: 'off',
    })
    const token = await register(server, 'claude')
    const { json } = await server.call('POST', '/api/auth/keys', { token, body: { name: 'tests' } })
    key = json.data.key
  })
  const post = (path: string, body: object, apiKey = key) =>
    fetch(`${server.url}/v1/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        'x-api-key': apiKey,
      },
      body: JSON.stringify({ model, max_tokens: 500, ...body }),
    })
  const whole = async (body: object) => {
    const response = await post('messages?beta=true', body)
    return { status: response.status, json: Object(await response.json()) }
  }
  const streamed = async (body: object) => {
    const response = await post('messages', { stream: true, ...body })
    expect(response.status).toBe(200)
    return (await response.text())
      .split('\n\n')
      .flatMap((frame) => frame.match(/^data: (.*)$/m)?.[1] ?? [])
      .map((data) => Event.parse(JSON.parse(data)))
  }

  test('an answer has its thinking and its text, with the usage and the reason of its end', async () => {
    upstream.enqueue(turn.thinking('Easy.', 'Four.'))
    const { json } = await whole({
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: '2 + 2?' }],
      metadata: { user_id: 'somebody' },
    })
    expect(json).toMatchObject({
      type: 'message',
      role: 'assistant',
      model,
      content: [
        { type: 'thinking', thinking: 'Easy.' },
        { type: 'text', text: 'Four.' },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 10 },
    })
    expect(JSON.stringify(upstream.requests.at(-1)?.messages[0])).toContain('Be brief.')
    expect(upstream.requests.at(-1)?.body.max_tokens).toBe(500)
  })

  test("a call of the program's tool ends the message, and its result continues the answer, with the images of the result", async () => {
    upstream.enqueue(turn.toolCalls([{ id: 'r1', name: 'Read', arguments: { path: 'a.png' } }]))
    const messages = [{ role: 'user', content: 'What is in a.png?' }]
    const first = await whole({ messages, tools: [read] })
    expect(first.json).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', name: 'Read', input: { path: 'a.png' } }],
    })
    expect(upstream.requests.at(-1)?.body.tools).toHaveLength(1)
    upstream.enqueue(turn.text('A pixel.'))
    const second = await whole({
      tools: [read],
      messages: [
        ...messages,
        { role: 'assistant', content: first.json.content },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: first.json.content[0].id,
              content: [{ type: 'text', text: 'an image' }, image],
            },
            { type: 'text', text: 'Be exact.' },
          ],
        },
      ],
    })
    expect(second.json.content).toEqual([{ type: 'text', text: 'A pixel.' }])
    expect(upstream.requests.at(-1)?.messages.slice(1)).toMatchObject([
      { role: 'user', content: 'What is in a.png?' },
      { role: 'assistant', tool_calls: [{ function: { name: 'Read' } }] },
      { role: 'tool', content: 'an image' },
      // A question after results begins a turn of its own.
      { role: 'assistant' },
      { role: 'user', content: [{ type: 'text', text: 'Be exact.' }, { type: 'image_url' }] },
    ])
  })

  test('a stream has blocks that begin and end, text in pieces, and the input of a call as JSON', async () => {
    upstream.enqueue(
      turn.toolCalls([{ id: 's1', name: 'Read', arguments: { path: 'b.txt' } }], {
        text: 'Let me look.',
      }),
    )
    const events = await streamed({
      tools: [read],
      messages: [{ role: 'user', content: 'And b.txt?' }],
    })
    const types = events.map(({ type }) => type)
    expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    const starts = events.filter(({ type }) => type === 'content_block_start')
    expect(starts).toMatchObject([
      { index: 0, content_block: { type: 'text', text: '' } },
      { index: 1, content_block: { type: 'tool_use', name: 'Read', input: {} } },
    ])
    const deltas = events.map(({ delta }) => Object(delta))
    expect(deltas.map(({ text }) => text ?? '').join('')).toBe('Let me look.')
    expect(deltas.find(({ partial_json }) => partial_json)?.partial_json).toBe('{"path":"b.txt"}')
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
  })

  test('a required form, tools of other servers and an answer begun by the program are understood', async () => {
    upstream.enqueue(turn.text('{"sum":4}'))
    const { json } = await whole({
      messages: [
        { role: 'user', content: [{ type: 'text', text: '2 + 2?' }, image] },
        { role: 'assistant', content: 'The sum is' },
      ],
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }],
      output_config: {
        format: {
          type: 'json_schema',
          schema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
        },
      },
    })
    expect(json.content).toEqual([{ type: 'text', text: '{"sum":4}' }])
    const request = upstream.requests.at(-1)
    expect(request?.messages.at(-2)).toMatchObject({ role: 'assistant', content: 'The sum is' })
    expect(request?.messages.at(-1)?.role).toBe('user')
    expect(JSON.stringify(request?.body.tools)).toContain('web_search')
  })

  test('errors have the form that the clients of Anthropic read', async () => {
    const wrong = await post(
      'messages',
      { messages: [{ role: 'user', content: 'Hi' }] },
      'sk-ant-x',
    )
    expect(wrong.status).toBe(401)
    expect(await wrong.json()).toMatchObject({
      type: 'error',
      error: { type: 'authentication_error', message: expect.stringContaining('API key') },
    })
    const unknown = await whole({ model: 'claude-x', messages: [{ role: 'user', content: 'Hi' }] })
    expect(unknown).toMatchObject({
      status: 404,
      json: { error: { type: 'not_found_error', message: expect.stringContaining(model) } },
    })
    upstream.enqueue(turn.error(400, 'maximum context length is 8192 tokens'))
    const response = await post('messages', {
      stream: true,
      messages: [{ role: 'user', content: 'Long' }],
    })
    expect(response.status).toBe(400)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await response.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        message: expect.stringMatching(/^prompt is too long/),
      },
    })
  })

  test('the tokens of a message can be estimated without asking the provider', async () => {
    const before = upstream.requests.length
    const count = async (text: string) => {
      const response = await post('messages/count_tokens', {
        messages: [{ role: 'user', content: text }],
        tools: [read],
      })
      return Object(await response.json()).input_tokens
    }
    expect(await count('word '.repeat(1_000))).toBeGreaterThan((await count('word')) + 1_000)
    expect(upstream.requests.length).toBe(before)
  })
})
