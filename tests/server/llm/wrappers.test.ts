// Retries and fallbacks: what another try may mend, and that nothing given out is ever repeated.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createModelCatalog, type ModelCatalog } from '../../../server/llm/catalog.ts'
import type { ModelSettings } from '../../../server/protocol/catalog.ts'
import { hear, llmRequest, outcome } from '../../support/llm.ts'
import { refusingUrl, startUpstream, type Upstream } from '../../support/upstream.ts'
import { turn } from '../../support/upstream-turns.ts'

let upstream: Upstream
const catalogs: ModelCatalog[] = []
beforeEach(async () => {
  upstream = await startUpstream()
})
afterEach(() => upstream.close())
afterAll(() => Promise.all(catalogs.map((catalog) => catalog.close())))

const FAST = { delaysMs: [1, 2, 4] }
const model = (id: string, more: Partial<ModelSettings> = {}): ModelSettings => ({
  id,
  api_url: upstream.url,
  api_key: `key-${id}`,
  ...more,
})
const catalogOf = (
  models: ModelSettings[],
  more: Partial<Parameters<typeof createModelCatalog>[0]> = {},
): ModelCatalog => {
  const catalog = createModelCatalog({ models, idleTimeout: 30, retry: FAST, ...more })
  catalogs.push(catalog)
  return catalog
}
const ask = async (models: ModelSettings[], more = {}) =>
  hear((await catalogOf(models, more).resolve()).client)

describe('retries', () => {
  test('a 429 is retried three times, and each wait is reported', async () => {
    upstream.enqueue(turn.rateLimited(), turn.rateLimited(), turn.rateLimited(), turn.text('ok'))
    const heard = await ask([model('a')])
    expect(heard.text).toBe('ok')
    expect(heard.retries.map(({ attempt, delayMs }) => [attempt, delayMs])).toEqual([
      [1, 1],
      [2, 2],
      [3, 4],
    ])
  })

  test('after the last try the failure stands', async () => {
    for (let attempt = 0; attempt < 4; attempt += 1) upstream.enqueue(turn.error(503))
    expect(outcome(await ask([model('a')]))).toBe('model_unavailable')
    upstream.expectDone()
  })

  test('Retry-After says how long, but never more than the limit', async () => {
    upstream.enqueue(turn.rateLimited(0), turn.rateLimited(3600), turn.text('ok'))
    const heard = await ask([model('a')], { retry: { ...FAST, maxRetryAfter: 0.05 } })
    expect(heard.retries.map(({ delayMs }) => delayMs)).toEqual([0, 50])
  })

  test('connection faults before the first byte are tried again', async () => {
    upstream.enqueue(
      turn.beforeHeaders('reset'),
      turn.cut(turn.text('never seen'), 0, 'fin'),
      turn.text('ok'),
    )
    expect((await ask([model('a')])).text).toBe('ok')
  })

  test.each([400, 401, 404])('a %i is not', async (status) => {
    upstream.enqueue(turn.error(status))
    const heard = await ask([model('a')])
    expect(heard.end.type).toBe('failed')
    expect(upstream.requests).toHaveLength(1)
  })

  test('nothing is tried again once a word has been given out', async () => {
    upstream.enqueue(turn.cut(turn.text('some words'), 3, 'fin'))
    const heard = await ask([model('a'), model('b')])
    expect([heard.text, outcome(heard)]).toEqual(['some words', 'model_stream_broken'])
    expect(upstream.requests).toHaveLength(1)
  })

  test('the wait ends at once when the run is stopped', async () => {
    upstream.enqueue(turn.rateLimited(60))
    const controller = new AbortController()
    const { client } = await catalogOf([model('a')]).resolve()
    const heard = await hear(client, llmRequest({ signal: controller.signal }), (batch) => {
      if (batch[0]?.type === 'retrying') controller.abort()
    })
    expect(heard.end.type).toBe('failed')
    expect(upstream.requests).toHaveLength(1)
  })
})

describe('fallbacks', () => {
  test('are asked in their order when a model fails before its first word', async () => {
    upstream.enqueueFor({ apiKey: 'key-a' }, turn.error(401))
    upstream.enqueueFor({ apiKey: 'key-c' }, turn.text('from c'))
    const dead = model('b', { api_url: await refusingUrl() })
    const heard = await ask([model('a', { fallback: ['gone', 'b', 'c'] }), dead, model('c')])
    expect(heard.text).toBe('from c')
    expect(heard.end).toMatchObject({ model: 'c' })
    expect(heard.retries.map(({ reason }) => reason).join()).toContain('Asking "c" instead')
  })

  test('are left alone when the model answers, or fails after its first word', async () => {
    const models = [model('a', { fallback: ['b'] }), model('b')]
    upstream.enqueueFor({ apiKey: 'key-a' }, turn.text('mine'))
    expect((await ask(models)).text).toBe('mine')
    upstream.enqueueFor({ apiKey: 'key-a' }, turn.cut(turn.text('mine too'), 3, 'fin'))
    expect(outcome(await ask(models))).toBe('model_stream_broken')
  })
})

describe('the catalog', () => {
  test('lists what anybody may know, and never a key or an address', async () => {
    const list = await catalogOf(
      [model('a'), model('b', { name: 'B', vision: true, thinking: 'high', context_window: 1000 })],
      { defaultModel: 'b' },
    ).list()
    expect(list.map(({ id, default: isDefault }) => [id, isDefault])).toEqual([
      ['a', false],
      ['b', true],
    ])
    expect(list[1]).toMatchObject({ name: 'B', vision: true, thinking: 'high', demo: false })
    expect(JSON.stringify(list)).not.toMatch(/key-|127\.0\.0\.1/)
  })

  test('offers the demo while there is no other model, and takes stored ones as they come and go', async () => {
    let stored: ModelSettings[] = []
    const catalog = catalogOf([], {
      stored: async () => stored.map((settings) => ({ settings, needsKey: false })),
    })
    expect((await catalog.list()).map(({ id }) => id)).toEqual(['demo'])
    stored = [model('s')]
    upstream.enqueueFor({ apiKey: 'key-s' }, turn.text('stored'))
    expect((await catalog.list()).map(({ id, default: d }) => [id, d])).toEqual([['s', true]])
    expect((await hear((await catalog.resolve()).client)).text).toBe('stored')
    await expect(catalog.resolve('demo')).rejects.toMatchObject({ code: 'unknown_model' })
    stored = [model('s', { api_key: 'other' })]
    upstream.enqueueFor({ apiKey: 'other' }, turn.text('new key'))
    expect((await hear((await catalog.resolve('s')).client)).text).toBe('new key')
    stored = []
    expect((await catalog.resolve()).model.demo).toBe(true)
  })

  test('a model whose stored key is lost says so, is no default, and its fallback takes its place', async () => {
    const catalog = catalogOf([], {
      stored: async () => [
        { settings: model('lost', { name: 'Lost' }), needsKey: true },
        { settings: model('covered', { fallback: ['good'] }), needsKey: true },
        { settings: model('good'), needsKey: false },
      ],
    })
    expect((await catalog.list()).map((one) => [one.id, one.needs_key, one.default])).toEqual([
      ['lost', true, false],
      ['covered', true, false],
      ['good', false, true],
    ])
    const { end } = await hear((await catalog.resolve('lost')).client)
    expect(end).toMatchObject({
      type: 'failed',
      error: { code: 'model_unauthorized', message: expect.stringContaining('Lost') },
    })
    upstream.enqueueFor({ apiKey: 'key-good' }, turn.text('here'))
    expect((await hear((await catalog.resolve('covered')).client)).text).toBe('here')
  })

  test('an unknown id says which ids there are', async () => {
    await expect(catalogOf([model('a'), model('b')]).resolve('c')).rejects.toMatchObject({
      code: 'unknown_model',
      message: expect.stringContaining('Available: a, b'),
    })
  })

  test('a model without tools is offered none and reads earlier calls as text', async () => {
    upstream.enqueue(turn.text('ok'))
    const { client } = await catalogOf([model('a', { tool_mode: 'none' })]).resolve()
    const callId = 'c1' as never
    await hear(
      client,
      llmRequest({
        messages: [
          { role: 'user', content: 'q' },
          {
            role: 'assistant',
            content: '',
            toolCalls: [{ id: callId, name: 'f', arguments: '{}' }],
          },
          { role: 'tool', callId, name: 'f', content: '{"success":true}' },
        ],
        tools: [{ type: 'function', function: { name: 'f', description: '', parameters: {} } }],
        toolChoice: 'auto',
      }),
    )
    const { body, messages } = await upstream.nextRequest()
    expect(Object.keys(body)).not.toContain('tools')
    expect(Object.keys(body)).not.toContain('tool_choice')
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })
})
