// The timeline of a run: what was called, when, for how long and at what cost.
import { expect, test } from 'vitest'
import { scripted } from '../../../support/provider/scripted.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { describeOnEachServer, register, TEST_JWT_SECRET } from '../../../support/server/server.ts'

const upstream = await useUpstream()

describeOnEachServer('the timeline of a run', (start) => {
  /** A run that called a tool after a failed request, in the conversation of a user; somebody else has an account, too. */
  async function ran() {
    const [model] = [scripted(upstream).models].flat()
    const server = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      titles: 'first_message',
      models: [{ ...Object(model), price: { input: 1_000, output: 10_000, currency: 'USD' } }],
    })
    const token = await register(server, 'anna')
    const other = await register(server, 'ben')
    upstream.enqueue(
      turn.error(503),
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '6 * 7' } }]),
      turn.text('Forty-two.', {
        usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
      }),
    )
    const created = await server.call('POST', '/api/conversations', { body: {}, token })
    const path = `/api/conversations/${created.json.data.id}/messages`
    const sent = await server.call('POST', path, {
      body: { text: 'Six times seven?', stream: false },
      token,
    })
    const { run } = sent.json.data
    const timeline = (of = token) =>
      server.call('GET', `/api/runs/${run.id}/timeline`, { token: of })
    return { server, token, other, path, run, timeline }
  }

  test('has each model and tool call with its times, tokens, cost and retries', async () => {
    const { run, timeline } = await ran()
    const { entries } = (await timeline()).json.data
    expect(entries).toMatchObject([
      {
        kind: 'model',
        model: 'scripted',
        outcome: 'finished',
        tool_calls: 1,
        retries: [{ reason: expect.stringMatching(/^model_/), delay_ms: expect.any(Number) }],
      },
      { kind: 'tool', name: 'calculator', success: true, skipped: false, cached: false },
      {
        kind: 'model',
        outcome: 'finished',
        tool_calls: 0,
        prompt_tokens: 100,
        completion_tokens: 10,
        cost: { USD: 0.2 },
        retries: [],
      },
    ])
    for (const { started_at: at, duration_ms: ms } of entries) {
      expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(run.created_at) - 1)
      expect(Date.parse(at) + ms).toBeLessThanOrEqual(Date.parse(run.ended_at))
    }
    const costs = entries.map(({ cost }: { cost?: { USD: number } }) => cost?.USD ?? 0)
    const sum = costs.reduce((total: number, cost: number) => total + cost, 0)
    expect(sum).toBeCloseTo(run.usage.cost.USD, 9)
  })

  test('is found by its owner alone, and the answer has its duration with the wait before a retry', async () => {
    const { server, token, other, path, timeline } = await ran()
    expect((await timeline(other)).status).toBe(404)
    const [first] = (await timeline()).json.data.entries
    const last = (await server.call('GET', path, { token })).json.data.items.at(-1)
    expect(last.timing).toMatchObject({ duration_ms: expect.any(Number), reasoning_tokens: 0 })
    expect(last.timing.duration_ms).toBeGreaterThanOrEqual(first.retries[0].delay_ms)
  })

  test('belongs to a run in the list of its user, which has none of others and none of deleted conversations', async () => {
    const { server, token, other, path, run } = await ran()
    upstream.enqueue(turn.text('Again.'))
    await server.call('POST', path, { body: { text: 'And again?', stream: false }, token })
    const list = async (query = '', of = token) =>
      (await server.call('GET', `/api/runs${query}`, { token: of })).json.data
    const first = await list('?limit=1')
    expect(first).toMatchObject({ items: [{ status: 'completed' }], has_more: true })
    const second = await list(`?limit=1&cursor=${first.next_cursor}`)
    expect(second).toMatchObject({
      items: [
        {
          id: run.id,
          conversation_id: run.conversation_id,
          conversation_title: 'Six times seven?',
          message_id: run.message_id,
          kind: 'chat',
          model: 'scripted',
          usage: run.usage,
          ended_at: run.ended_at,
        },
      ],
      next_cursor: null,
    })
    expect((await list('', other)).items).toEqual([])
    await server.call('DELETE', `/api/conversations/${run.conversation_id}`, { token })
    expect((await list()).items).toEqual([])
  })

  test('gives an answer its duration only once it has ended', async () => {
    const server = await start(scripted(upstream))
    let release = (): void => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }]),
      turn.text('42.', { until }),
    )
    const { json } = await server.call('POST', '/api/conversations', { body: {} })
    const path = `/api/conversations/${json.data.id}/messages`
    const timing = async () => (await server.call('GET', path)).json.data.items.at(-1).timing
    const sent = server.call('POST', path, { body: { text: 'Six times seven?', stream: false } })
    await upstream.nextRequest()
    await upstream.nextRequest()
    // The first call and the tool are stored by now.
    expect(await timing()).toBeNull()
    release()
    await sent
    expect(await timing()).toMatchObject({ duration_ms: expect.any(Number) })
  })
})
