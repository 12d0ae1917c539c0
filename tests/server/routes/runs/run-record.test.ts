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
  test('has the exact requests of every API without keys, the responses, and the changed part of the prompt', async () => {
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
    const [token, other] = [await register(server, 'anna'), await register(server, 'ben')]
    const call = async (method: string, path: string, body?: unknown) =>
      await server.call(method, path, { token, ...(body === undefined ? {} : { body }) })
    const created = await call('POST', '/api/conversations', { model: 'chat' })
    const conversation = `/api/conversations/${created.json.data.id}`
    const ask = async (text: string): Promise<{ id: string; record: RunRecord }> => {
      const sent = await call('POST', `${conversation}/messages`, { text, stream: false })
      const { id } = sent.json.data.run
      return { id, record: (await call('GET', `/api/runs/${id}/record`)).json.data }
    }
    const bodies = ({ calls, parts }: RunRecord): string[] =>
      calls.flatMap(({ exchanges }) => exchanges.map((one) => requestBodyOf(one, parts)))
    const received = (from: number): string[] =>
      upstream.requests.slice(from).map(({ body }) => JSON.stringify(body))

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
    const first = await ask('Six times seven?')
    expect(bodies(first.record)).toEqual(received(0))
    const [failed, answered] = first.record.calls[0]?.exchanges ?? []
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
    expect(JSON.stringify(first.record)).not.toContain(KEY)
    expect(first.record.calls.map(({ change }) => change?.first)).toEqual([undefined, null])
    expect(first.record.tools).toMatchObject([
      { name: 'calculator', result: expect.stringContaining('42') },
    ])
    expect(first.record.stored.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['accepted', 'model_call', 'result', 'end']),
    )
    expect(
      (await server.call('GET', `/api/runs/${first.id}/record`, { token: other })).status,
    ).toBe(404)

    await call('PATCH', conversation, { system_prompt: 'Answer like a pirate.' })
    upstream.enqueue(
      turn.text('Arr.', {
        usage: { prompt_tokens: 8_000, completion_tokens: 1, total_tokens: 8_001 },
      }),
    )
    const from = upstream.requests.length
    const second = await ask('And times two?')
    expect(bodies(second.record)).toEqual(received(from))
    const change = second.record.calls[0]?.change
    expect(change).toMatchObject({
      previous: { run_id: first.id, call: 2 },
      other_model: false,
      prompt_tokens: 8_000,
      first: { field: 'messages', index: 0, kind: 'changed' },
    })
    expect(second.record.parts[change?.first?.after ?? '']?.json).toContain('like a pirate')
    expect(second.record.parts[change?.first?.before ?? '']?.json).not.toContain('like a pirate')
    expect(change?.same_tokens).toBeGreaterThan(0)
    expect(change?.resent_tokens).toBeGreaterThan(0)
    expect(change?.extra_cost.USD).toBeCloseTo(((change?.resent_tokens ?? 0) * 9) / 1e6, 9)

    for (const [id, answer] of [
      ['responses', responsesTurn([said('Eighty-four.')])],
      ['messages', messagesTurn([{ type: 'text', text: 'Eighty-four.' }])],
    ] as const) {
      await call('PATCH', conversation, { model: id })
      upstream.enqueue(answer)
      const before = upstream.requests.length
      const { record } = await ask(`Again with ${id}?`)
      expect(bodies(record)).toEqual(received(before))
      expect(record.calls[0]?.exchanges[0]?.response.text).toBe('Eighty-four.')
      expect(record.calls[0]?.change?.other_model).toBe(true)
      expect(JSON.stringify(record)).not.toContain(KEY)
    }
  })
})
