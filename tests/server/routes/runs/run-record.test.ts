// The record of a run over HTTP: exact requests of each API without secrets, responses, prompt changes, and what was stored when.
import { expect, test } from 'vitest'
import { type RunRecord, requestBodyOf } from '../../../../server/protocol/runs/run-record.ts'
import { messagesTurn } from '../../../support/provider/messages-turns.ts'
import { responsesTurn, said } from '../../../support/provider/responses-turns.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useFreshUpstream } from '../../../support/provider/use-upstream.ts'
import { describeOnEachServer, register, TEST_JWT_SECRET } from '../../../support/server/server.ts'

const upstream = useFreshUpstream()
const KEY = 'sk-a-very-secret-provider-key'

describeOnEachServer('the record of a run', (start) => {
  /** A conversation with a model of each API, and the record of each of its runs. */
  async function converse() {
    const price = { input: 10, output: 10, cached_input: 1, currency: 'USD' }
    const model = (id: string, more: object = {}) => ({ id, api_key: KEY, price, ...more })
    const server = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      titles: 'first_message',
      models: [
        model('chat', { api_url: upstream.url }),
        model('responses', { api_url: upstream.url, api: 'responses' }),
        model('messages', { api_url: upstream.url, api: 'messages' }),
      ],
    })
    const token = await register(server, 'anna')
    const call = async (method: string, path: string, body?: unknown) =>
      await server.call(method, path, { token, ...(body === undefined ? {} : { body }) })
    const created = await call('POST', '/api/conversations', { model: 'chat' })
    const conversation = `/api/conversations/${created.json.data.id}`
    return {
      server,
      change: (body: object) => call('PATCH', conversation, body),
      /** `received`: the bodies that the provider got. */
      async ask(text: string): Promise<{ id: string; record: RunRecord; received: string[] }> {
        const from = upstream.requests.length
        const sent = await call('POST', `${conversation}/messages`, { text, stream: false })
        const { id } = sent.json.data.run
        const { data: record } = (await call('GET', `/api/runs/${id}/record`)).json
        const received = upstream.requests.slice(from).map(({ body }) => JSON.stringify(body))
        return { id, record, received }
      },
    }
  }
  const bodies = ({ calls, parts }: RunRecord): string[] =>
    calls.flatMap(({ exchanges }) => exchanges.map((one) => requestBodyOf(one, parts)))

  test('has the exact requests without keys, the responses, the tools and what was stored', async () => {
    const { ask } = await converse()
    upstream.enqueue(
      turn.json(
        400,
        { error: { message: `${KEY} takes no reasoning_effort with tools` } },
        { 'x-request-id': 'req-7' },
      ),
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '6 * 7' } }], {
        thinking: 'I count.',
      }),
      turn.text('Forty-two.'),
    )
    const { record, received } = await ask('Six times seven?')
    expect(bodies(record)).toEqual(received)
    const [failed, answered] = record.calls[0]?.exchanges ?? []
    expect(failed?.url).toBe(`${upstream.url}/chat/completions`)
    expect(failed?.headers).toMatchObject({
      authorization: 'Bearer $API_KEY',
      'content-type': 'application/json',
    })
    expect(failed?.response).toMatchObject({ status: 400, request_id: 'req-7', finish: null })
    expect(answered?.response).toMatchObject({
      status: 200,
      thinking: 'I count.',
      calls: [{ name: 'calculator', arguments: '{"expression":"6 * 7"}' }],
      finish: 'tool_calls',
      usage: { prompt_tokens: 10 },
    })
    expect(JSON.stringify(record)).not.toContain(KEY)
    expect(record.calls.map(({ change }) => change?.first)).toEqual([undefined, null])
    expect(record.tools).toMatchObject([
      { name: 'calculator', result: expect.stringContaining('42') },
    ])
    expect(record.stored.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['accepted', 'model_call', 'result', 'end']),
    )
  })

  test('is found by its owner alone', async () => {
    const { server, ask } = await converse()
    const other = await register(server, 'ben')
    upstream.enqueue(turn.text('Forty-two.'))
    const { id } = await ask('Six times seven?')
    expect((await server.call('GET', `/api/runs/${id}/record`, { token: other })).status).toBe(404)
  })

  test('names the part of the prompt that changed since the call before, and what that cost', async () => {
    const { ask, change } = await converse()
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '6 * 7' } }]),
      turn.text('Forty-two.'),
    )
    const first = await ask('Six times seven?')
    await change({ system_prompt: 'Answer like a pirate.' })
    upstream.enqueue(
      turn.text('Arr.', {
        usage: { prompt_tokens: 8_000, completion_tokens: 1, total_tokens: 8_001 },
      }),
    )
    const { record, received } = await ask('And times two?')
    expect(bodies(record)).toEqual(received)
    const changed = record.calls[0]?.change
    expect(changed).toMatchObject({
      previous: { run_id: first.id, call: 2 },
      other_model: false,
      prompt_tokens: 8_000,
      first: { field: 'messages', index: 0, kind: 'changed' },
    })
    expect(record.parts[changed?.first?.after ?? '']?.json).toContain('like a pirate')
    expect(record.parts[changed?.first?.before ?? '']?.json).not.toContain('like a pirate')
    expect(changed?.same_tokens).toBeGreaterThan(0)
    expect(changed?.resent_tokens).toBeGreaterThan(0)
    expect(changed?.extra_cost.USD).toBeCloseTo(((changed?.resent_tokens ?? 0) * 9) / 1e6, 9)
  })

  test.each([
    ['responses', responsesTurn([said('Eighty-four.')])],
    ['messages', messagesTurn([{ type: 'text', text: 'Eighty-four.' }])],
  ] as const)('has the exact requests without keys of the API %s, too', async (id, answer) => {
    const { ask, change } = await converse()
    upstream.enqueue(turn.text('Forty-two.'))
    await ask('Six times seven?')
    await change({ model: id })
    upstream.enqueue(answer)
    const { record, received } = await ask(`Again with ${id}?`)
    expect(bodies(record)).toEqual(received)
    expect(record.calls[0]?.exchanges[0]?.response.text).toBe('Eighty-four.')
    expect(record.calls[0]?.change?.other_model).toBe(true)
    expect(JSON.stringify(record)).not.toContain(KEY)
  })
})
