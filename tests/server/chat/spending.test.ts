// The usage of model calls is counted and limited, whatever a provider or a client reports.
import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { messagesTurn } from '../../support/provider/messages-turns.ts'
import type { UpstreamRequest } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()

const usage = (prompt_tokens: number, completion_tokens: number) => ({
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
})

describeOnEachServer('spending', (start) => {
  const conversationOf = async (server: TestServer): Promise<string> =>
    (await server.call('POST', '/api/conversations', { body: {} })).json.data.id
  const ask = async (server: TestServer, id: string, text = 'Go') =>
    (await openEvents(`${server.url}/api/conversations/${id}/messages`, { body: { text } })).all()
  const booked = async (server: TestServer): Promise<number> =>
    (await server.call('GET', '/api/stats/tokens?period=daily')).json.data.total_tokens
  const models = (over: object = {}) => [{ id: 'scripted', api_url: upstream.url, ...over }]

  test('a run that reaches its token or time limit ends with that limit', async () => {
    const endWith = async (limits: { run_tokens?: number; run_minutes?: number }) => {
      const server = await start({ models: models(), titles: 'off', limits })
      return (await ask(server, await conversationOf(server))).at(-1)
    }
    const call = { name: 'calculator', arguments: { expression: '3*3' } }
    upstream.enqueue(turn.toolCalls([call], usage(100, 50)))
    expect(await endWith({ run_tokens: 100 })).toMatchObject({
      event: 'done',
      data: {
        finish_reason: 'budget',
        limit: { reason: 'run_tokens_used_up', params: { limit: 100 } },
      },
    })
    upstream.enqueue(turn.cut(turn.text('It takes longer than that.'), 3, 'stall'))
    expect(await endWith({ run_minutes: 0.01 })).toMatchObject({
      event: 'done',
      data: {
        finish_reason: 'budget',
        limit: { reason: 'run_minutes_used_up', params: { limit: 0.01 } },
      },
    })
  })

  test("a provider's implausible token count is replaced by an estimate, and the run completes", async () => {
    const server = await start({ models: models(), titles: 'off' })
    const conversation = await conversationOf(server)
    for (const tokens of [3_000_000_000, 1e300, Number.MAX_SAFE_INTEGER]) {
      const before = upstream.requests.length
      upstream.enqueue(turn.text('Hello.', usage(tokens, tokens)))
      const end = (await ask(server, conversation)).at(-1)
      expect(end?.event).toBe('done')
      expect(end?.data.usage.completion_tokens).toBeLessThan(100)
      expect(upstream.requests.length).toBe(before + 1)
    }
    expect(await booked(server)).toBeLessThan(1_000_000)
  })

  test('cached tokens and cost are returned with the answer, the run, the message and the statistics, also later', async () => {
    const price = { input: 2, output: 10, cached_input: 0.5, currency: 'USD' }
    const server = await start({ models: models({ price }), titles: 'off' })
    const conversation = await conversationOf(server)
    const cached = (cached_tokens: number) => ({
      usage: {
        prompt_tokens: 1_000_000,
        completion_tokens: 100_000,
        total_tokens: 1_100_000,
        prompt_tokens_details: { cached_tokens, cache_write_tokens: 50_000 },
        completion_tokens_details: { reasoning_tokens: 20_000 },
      },
    })
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '3*3' } }], cached(0)),
      turn.text('Nine.', cached(800_000)),
    )
    const done = (await ask(server, conversation)).at(-1)
    // Cost of the first call: 2 + 1; of the second: 0.4 + 0.4 + 1. Writing to the cache costs as much as input.
    const counted = { prompt_tokens: 2_000_000, cached_tokens: 800_000, cost: { USD: 4.8 } }
    expect(done).toMatchObject({ event: 'done', data: { usage: counted } })
    const messages = await server.call('GET', `/api/conversations/${conversation}/messages`)
    const answer = messages.json.data.items.at(-1)
    expect(answer.usage).toEqual(done?.data.usage)
    const run = await server.call('GET', `/api/runs/${answer.run_id}`)
    expect(run.json.data.usage).toEqual(answer.usage)
    const stats = (await server.call('GET', '/api/stats/tokens?period=daily')).json.data
    const parts = { cache_write_tokens: 100_000, reasoning_tokens: 40_000 }
    expect(answer.timing).toMatchObject(parts)
    expect(stats).toMatchObject({
      ...counted,
      ...parts,
      by_model: { scripted: { ...counted, ...parts } },
    })
  })

  test('the cost that a known provider reports takes precedence over the configured price', async () => {
    const price = { input: 2, output: 10, currency: 'EUR' }
    const reported = (more: object) => ({
      usage: { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000, ...more },
    })
    const server = await start({
      models: models({ price, provider: 'openrouter' }),
      titles: 'off',
    })
    const conversation = await conversationOf(server)
    const byok = { is_byok: true, cost_details: { upstream_inference_cost: 0.5 } }
    const turns = [{ cost: 0.25 }, { cost: 0.1, ...byok }, { cost: 'free' }, { cost: -1 }]
    const costs: unknown[] = []
    for (const more of turns) {
      upstream.enqueue(turn.text('Hello.', reported(more)))
      costs.push((await ask(server, conversation)).at(-1)?.data.usage.cost)
    }
    expect(costs).toEqual([{ USD: 0.25 }, { USD: 0.6 }, { EUR: 2 }, { EUR: 2 }])
    const other = await start({ models: models({ price }), titles: 'off' })
    upstream.enqueue(turn.text('Hello.', reported({ cost: 0.25 })))
    const done = (await ask(other, await conversationOf(other))).at(-1)
    expect(done?.data.usage.cost).toEqual({ EUR: 2 })
  })

  test('max_tokens out of range returns 400 with the allowed range', async () => {
    const server = await start({ models: models(), titles: 'off' })
    const id = await conversationOf(server)
    for (const max_tokens of [3_000_000_000, 10_000_001, 0, -1, 1.5]) {
      const body = { max_tokens }
      const created = await server.call('POST', '/api/conversations', { body })
      expect(created.status).toBe(400)
      const changed = await server.call('PATCH', `/api/conversations/${id}`, { body })
      expect(changed.status).toBe(400)
    }
    const tooMany = await server.call('POST', '/api/conversations', {
      body: { max_tokens: 3_000_000_000 },
    })
    expect(tooMany.json.message).toContain('from 1 to 10000000')
  })

  test('a summary counts as usage like an answer', async () => {
    const server = await start({
      models: models({ context_window: 3_000, max_tokens: 200 }),
      titles: 'off',
    })
    const conversation = await conversationOf(server)
    const long = 'word '.repeat(1_200)
    for (const _ of [1, 2]) {
      upstream.enqueue(turn.text(long, usage(5_000, 10)))
      await ask(server, conversation, long)
    }
    // All requests except those for the answers themselves are for summaries.
    upstream.program(({ messages }) =>
      JSON.stringify(messages[0]).includes('Summarize the conversation')
        ? turn.text('They wrote words.', usage(5_000, 500))
        : undefined,
    )
    const before = await booked(server)
    upstream.enqueue(turn.text('Short.', usage(10, 10)))
    await ask(server, conversation, long)
    expect((await booked(server)) - before).toBeGreaterThanOrEqual(5_520)
  })

  test('a paused answer is billed for each of its requests, and nothing is dropped from a window with free space', async () => {
    const server = await start({
      models: models({ api: 'messages', context_window: 20_000 }),
      titles: 'off',
    })
    const conversation = await conversationOf(server)
    const long = 'word '.repeat(4_000)
    const part = (stop_reason: string) =>
      messagesTurn([{ type: 'text', text: 'Part. ' }], { stop_reason, input: 8_000 })
    upstream.enqueue(part('pause_turn'), part('pause_turn'), part('pause_turn'), part('end_turn'))
    const end = (await ask(server, conversation, long)).at(-1)
    expect(end?.data.usage.prompt_tokens).toBe(4 * 8_007)
    expect(await booked(server)).toBe(4 * 8_027)
    upstream.enqueue(part('end_turn'))
    await ask(server, conversation, 'And?')
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain(long)
  })

  const isTitle = (request: UpstreamRequest) =>
    JSON.stringify(request.messages[0]).includes('Write a title')
  const isSummary = (request: UpstreamRequest) =>
    JSON.stringify(request.messages[0]).includes('Summarize the conversation')

  test('a title counts as usage like an answer, and is not requested when the answer has used up the budget', async () => {
    const server = await start({
      models: models(),
      titles: 'model',
      limits: { user_tokens_per_day: 100 },
    })
    upstream.program((request) =>
      isTitle(request) ? turn.text('A greeting', usage(7, 3)) : turn.text('Hello.', usage(20, 20)),
    )
    expect((await ask(server, await conversationOf(server))).at(-1)?.data.suggested_title).toBe(
      'A greeting',
    )
    expect(await booked(server)).toBe(50)
    upstream.reset()
    upstream.program(() => turn.text('Hello.', usage(30, 30)))
    const seen = upstream.requests.length
    expect((await ask(server, await conversationOf(server))).at(-1)?.data.suggested_title).toBe(
      'Go',
    )
    expect(upstream.requests.length - seen).toBe(1)
    expect(await booked(server)).toBe(110)
  })

  test('a conversation is titled with its question at once and by the model while the answer is written, with one request', async () => {
    const server = await start({ models: models(), titles: 'model' })
    let release = (): void => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    const answer = turn.text('It is roasted over charcoal.', { chunkSize: 5, ...usage(20, 20) })
    const held = { ...answer, actions: answer.actions.toSpliced(3, 0, { until }) }
    let giveTitle = (): void => {}
    const titleGate = new Promise<void>((resolve) => {
      giveTitle = resolve
    })
    upstream.program((request) =>
      isTitle(request) ? turn.text('Roasting tea', { until: titleGate, ...usage(7, 3) }) : held,
    )
    const seen = upstream.requests.length
    const id = await conversationOf(server)
    const titleOf = async () =>
      (await server.call('GET', `/api/conversations/${id}`)).json.data.title
    const asked = ask(server, id, 'How is Wuyi tea roasted?\nIn detail, please.')
    await eventually(async () => expect(await titleOf()).toBe('How is Wuyi tea roasted?'))
    giveTitle()
    await eventually(async () => expect(await titleOf()).toBe('Roasting tea'))
    release()
    const events = await asked
    expect(events.slice(-2)).toMatchObject([
      { event: 'title', data: { title: 'Roasting tea' } },
      { event: 'done', data: { suggested_title: 'Roasting tea' } },
    ])
    expect(await titleOf()).toBe('Roasting tea')
    expect(upstream.requests.slice(seen).filter(isTitle)).toHaveLength(1)
    expect(await booked(server)).toBe(50)
  })

  test('a summary is not requested when it would exceed the budget', async () => {
    const server = await start({
      models: models({ context_window: 3_000, max_tokens: 200 }),
      titles: 'off',
      // Enough for the answer, but not for the usage that is assumed for an additional call.
      limits: { user_tokens_per_day: 6_500 },
    })
    const conversation = await conversationOf(server)
    const long = 'word '.repeat(1_200)
    const seen = upstream.requests.length
    for (const _ of [1, 2]) {
      upstream.enqueue(turn.text(long, usage(5_000, 10)))
      expect((await ask(server, conversation, long)).at(-1)?.event).toBe('done')
    }
    const asked = upstream.requests.slice(seen)
    expect(asked).toHaveLength(2)
    expect(asked.filter(isSummary)).toEqual([])
    expect(await booked(server)).toBe(10_020)
  })

  test('concurrent runs exceed a budget by at most one model call', async () => {
    const price = { input: 1_000_000, output: 1_000_000, currency: 'EUR' }
    for (const limits of [{ user_tokens_per_day: 1_000 }, { user_cost_per_month: 1_000 }]) {
      const server = await start({ models: models({ price }), titles: 'off', limits })
      let release = (): void => {}
      const gate = new Promise<void>((resolve) => {
        release = resolve
      })
      upstream.reset()
      upstream.program(() => turn.text('Hello.', { ...usage(500, 400), until: gate }))
      const seen = upstream.requests.length
      const conversations = await Promise.all(
        Array.from({ length: 6 }, () => conversationOf(server)),
      )
      const ends = conversations.map(async (id) => (await ask(server, id)).at(-1))
      // The other runs end before the one that was admitted.
      const refused = await new Promise<number>((resolve) => {
        let count = 0
        for (const end of ends)
          void end.then((event) => {
            if (event?.data.finish_reason === 'budget') count += 1
            if (count === 5) resolve(count)
          })
      })
      expect(refused).toBe(5)
      release()
      await Promise.all(ends)
      expect(upstream.requests.length - seen).toBe(1)
      expect(await booked(server)).toBe(900)
      // The reserved usage is released: 100 tokens are left for another call.
      expect((await ask(server, await conversationOf(server))).at(-1)?.data.finish_reason).toBe(
        'stop',
      )
      const id = await conversationOf(server)
      const over = await server.call('POST', `/api/conversations/${id}/messages`, {
        body: { text: 'Go', stream: false },
      })
      expect(over.json).toMatchObject({ error: 'budget_exceeded' })
    }
  })
})
