// A configured reranker decides the order of found passages; whatever it answers, and if it does not, a search has results.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError, parseConfig } from '../../../server/config/load.ts'
import { startUpstream, type Upstream } from '../../support/provider/upstream.ts'
import { type Turn, turn } from '../../support/provider/upstream-turns.ts'
import { openEvents } from '../../support/server/events.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

/** Ordered by how many of the query's words they contain. */
const TEXTS = {
  'both.md': 'The lamp of the hall is green.',
  'lamp.md': 'The green lamp hangs above.',
  'hall.md': 'The hall was long and cold, with nothing in it but a chair.',
}
const QUERY = 'green lamp hall'
const MERGED = ['both.md', 'lamp.md', 'hall.md']

let upstream: Upstream
/** Answers requests to the reranker, with the texts that they contain. */
let reranker: (texts: readonly string[]) => Turn
beforeAll(async () => {
  upstream = await startUpstream()
  upstream.program(({ path, body }) => {
    if (!path.endsWith('/rerank')) return undefined
    // Each request contains a list of texts, under the name of its form.
    return reranker((body.documents ?? body.texts) as string[])
  })
})
afterAll(() => upstream.close())
beforeEach(() => {
  reranker = () => turn.error(500)
})

/** What a reranker says that scores texts by the first of these words that they contain. */
const scored = (
  texts: readonly string[],
  scores: Record<string, number>,
): { index: number; relevance_score: number }[] =>
  texts.map((text, index) => ({
    index,
    relevance_score: Object.entries(scores).find(([word]) => text.includes(word))?.[1] ?? 0,
  }))

const configuration = (rerank: Record<string, unknown> = {}) => ({
  models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key' }],
  rerank: { api_url: upstream.url, api_key: 'key-of-the-reranker', model: 'judge', ...rerank },
  tools: { cache_ttl: 0 },
  titles: 'off',
})

/** Creates a project with these documents. @returns how its search is asked, and the requests to the reranker so far. */
async function prepare(
  server: TestServer,
  { texts = TEXTS, token }: { texts?: Record<string, string>; token?: string } = {},
) {
  const before = upstream.requests.length
  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, path, { token, ...(body === undefined ? {} : { body }) })
  const projectId = (await call('POST', '/api/projects', { name: 'Lamps' })).json.data.id
  const documents = `/api/projects/${projectId}/documents`
  for (const [name, text] of Object.entries(texts)) {
    const form = new FormData()
    form.append('files[]', new Blob([text]), name)
    await fetch(server.url + documents, {
      method: 'POST',
      body: form,
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    })
  }
  await expect
    .poll(async () =>
      (await call('GET', documents)).json.data.items.map(
        ({ status }: { status: string }) => status,
      ),
    )
    .toEqual(Object.keys(texts).map(() => 'ready'))
  const { json } = await call('POST', '/api/conversations', { project_id: projectId })
  return {
    requests: () => upstream.requests.slice(before).filter(({ path }) => path.endsWith('/rerank')),
    async search(more: { max_results?: number } = {}) {
      upstream.enqueue(
        turn.toolCalls([{ name: 'search_knowledge', arguments: { query: QUERY, ...more } }]),
        turn.text('Found.'),
      )
      const path = `${server.url}/api/conversations/${json.data.id}/messages`
      const events = await (
        await openEvents(path, {
          body: { text: 'Where?' },
          ...(token === undefined ? {} : { token }),
        })
      ).all()
      const content = events.find(({ data }) => data.type === 'tool_result')?.data.content
      // The tool's result; the assertions check it.
      return JSON.parse(content).data.results as { document: string; score: number | null }[]
    },
  }
}
const namesOf = (results: readonly { document: string }[]) =>
  results.map(({ document }) => document)

describeOnEachServer('a search with a reranker', (start) => {
  test('has its order and its scores, and its usage and price count for the owner', async () => {
    const server = await start(configuration({ price: { input: 2, currency: 'USD' } }))
    reranker = (texts) =>
      turn.json(200, {
        results: scored(texts, { 'lamp of': 0.25, 'lamp hangs': -1.5, cold: 7.125 }),
        usage: { total_tokens: 1_234 },
      })
    const { search, requests } = await prepare(server)
    expect(await search()).toMatchObject([
      { document: 'hall.md', score: 7.125 },
      { document: 'both.md', score: 0.25 },
      { document: 'lamp.md', score: -1.5 },
    ])
    expect(requests()).toHaveLength(1)
    expect(requests()[0]).toMatchObject({ path: '/v1/rerank', apiKey: 'key-of-the-reranker' })
    expect(requests()[0]?.body).toEqual({
      model: 'judge',
      query: QUERY,
      documents: MERGED.map((name) => expect.stringContaining(TEXTS[name as keyof typeof TEXTS])),
      top_n: 3,
    })
    const { by_model: models } = (await server.call('GET', '/api/stats/tokens?period=daily')).json
      .data
    expect(models.judge).toMatchObject({ prompt_tokens: 1_234, cost: { USD: 0.002468 } })
    expect(server.logged()).not.toContain('reranking failed')
    reranker = () => turn.error(500)
    await search()
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    for (const outcome of ['success', 'failure'])
      expect(metrics).toContain(`nanoclaw_rerank_seconds_count{outcome="${outcome}"} 1`)
  })

  test('speaks the form of Text Embeddings Inference, estimates what it does not report, and sends no more than `candidates`', async () => {
    const server = await start(configuration({ form: 'tei', candidates: 2 }))
    reranker = (texts) =>
      turn.json(
        200,
        scored(texts, { 'lamp of': 0.1, 'lamp hangs': 0.9 }).map(
          ({ index, relevance_score: score }) => ({ index, score }),
        ),
      )
    const { search, requests } = await prepare(server)
    expect(await search()).toMatchObject([
      { document: 'lamp.md', score: 0.9 },
      { document: 'both.md', score: 0.1 },
      // It was not sent.
      { document: 'hall.md', score: null },
    ])
    expect(requests()[0]?.body).toEqual({
      query: QUERY,
      texts: [expect.any(String), expect.any(String)],
    })
    const { by_model: models } = (await server.call('GET', '/api/stats/tokens?period=daily')).json
      .data
    expect(models.judge.prompt_tokens).toBeGreaterThan(10)
  })

  test('looks at more passages than are returned', async () => {
    const server = await start(configuration())
    reranker = (texts) => turn.json(200, { results: scored(texts, { cold: 1 }) })
    const { search, requests } = await prepare(server)
    expect(namesOf(await search({ max_results: 1 }))).toEqual(['hall.md'])
    expect(requests()[0]?.body).toMatchObject({ top_n: 1 })
    expect(requests()[0]?.body.documents).toHaveLength(3)
  })

  test('ignores entries that belong to no passage, come twice or have no score, and fills up from its own order', async () => {
    const server = await start(configuration())
    const noise = [
      { index: 3, relevance_score: 99 },
      { index: -1, relevance_score: 98 },
      { index: 0.5, relevance_score: 97 },
      { index: '0', relevance_score: 96 },
      { index: 0, relevance_score: null },
      { index: 0 },
      null,
      'text',
    ]
    reranker = () =>
      turn.json(200, {
        results: [
          ...noise,
          { index: 2, relevance_score: 0.5 },
          { index: 2, relevance_score: 0.75 },
        ],
      })
    const { search } = await prepare(server)
    expect(await search()).toMatchObject([
      { document: 'hall.md', score: 0.5 },
      { document: 'both.md', score: null },
      { document: 'lamp.md', score: null },
    ])
    const tooLarge = '{"index": 1, "relevance_score": 1e999}'
    reranker = () =>
      turn.raw([`{"results": [${tooLarge}, {"index": 2, "relevance_score": 1}]}`], {})
    expect(namesOf(await search())).toEqual(['hall.md', 'both.md', 'lamp.md'])
  })

  test('falls back to its own order whatever goes wrong, and the log names no secret', async () => {
    const server = await start(configuration())
    const { search, requests } = await prepare(server)
    reranker = (texts) => turn.json(200, { results: scored(texts, { cold: 1 }) })
    expect(namesOf(await search())[0]).toBe('hall.md')
    const broken: Turn[] = [
      turn.error(500, 'no: key-of-the-reranker'),
      turn.error(401, 'no: key-of-the-reranker'),
      turn.html(),
      turn.raw(['key-of-the-reranker'], { 'content-type': 'application/json' }),
      turn.raw(['{"results": [{"index": 2, "relevance_score": NaN}]}'], {}),
      turn.json(200, { data: [] }),
      turn.json(200, { results: {} }),
      turn.json(200, { results: [] }),
      turn.json(200, { results: [{ index: 17, relevance_score: 1 }] }),
      turn.json(307, {}, { location: `${upstream.url}/elsewhere/rerank` }),
      // A complete response, too large to be read.
      turn.json(200, {
        results: [{ index: 2, relevance_score: 1 }],
        padding: 'x'.repeat(2_000_000),
      }),
      turn.cut(turn.raw(['{"results": [', '{"index": 2'], {}), 1, 'reset'),
      turn.beforeHeaders('fin'),
    ]
    for (const [index, answer] of broken.entries()) {
      reranker = () => answer
      const results = await search()
      expect(namesOf(results), `answer ${index}`).toEqual(MERGED)
      expect(results.every(({ score }) => score !== null && score > 0 && score <= 1)).toBe(true)
    }
    // One request each, the redirect included.
    expect(requests()).toHaveLength(1 + broken.length)
    expect(server.logged().match(/reranking failed/g)).toHaveLength(broken.length)
    expect(server.logged()).not.toContain('key-of-the-reranker')
    expect(server.logged()).not.toContain(QUERY)
  })

  test('waits two seconds at most, also for the end of a response', async () => {
    const server = await start(configuration())
    const { search, requests } = await prepare(server)
    for (const answer of [
      turn.beforeHeaders('stall'),
      turn.raw(['{"results": [', { finish: 'stall' }], {}),
    ]) {
      reranker = () => answer
      const count = requests().length
      const begun = performance.now()
      expect(namesOf(await search())).toEqual(MERGED)
      // From when it asked: on a busy machine, the request arrives later.
      expect(performance.now() - begun).toBeGreaterThan(1_800)
      const request = requests()[count]
      expect(await request?.closed).toBe('client_left')
      const took = (request?.closedAt ?? 0) - (request?.openedAt ?? 0)
      expect(took).toBeLessThan(6_000)
    }
    expect(server.logged()).toContain('No complete response within 2 seconds')
  })

  test('sends only documents of the project that is searched', async () => {
    const server = await start({
      ...configuration(),
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
    })
    reranker = (texts) => turn.json(200, { results: scored(texts, {}) })
    const other = await prepare(server, {
      token: await register(server, 'other'),
      texts: { 'secret.md': 'The green lamp of the hall hides a key.' },
    })
    const own = await prepare(server, { token: await register(server, 'owner') })
    expect(namesOf(await own.search())).toEqual(MERGED)
    const sent = upstream.requests.filter(({ path }) => path.endsWith('/rerank')).at(-1)
    expect(JSON.stringify(sent?.body)).not.toContain('hides a key')
    expect(namesOf(await other.search())).toEqual(['secret.md'])
  })

  test('without passages, asks nothing', async () => {
    const server = await start(configuration())
    const { search, requests } = await prepare(server, { texts: { 'other.md': 'Bread and salt.' } })
    expect(await search()).toEqual([])
    expect(requests()).toEqual([])
  })
})

describe('the configuration of a reranker', () => {
  const read = (rerank: Record<string, unknown>) =>
    parseConfig(
      JSON.stringify({ rerank: { api_url: 'http://r.example', model: 'm', ...rerank } }),
      {},
    )

  test('has defaults', () => {
    expect(read({}).rerank).toEqual({
      api_url: 'http://r.example',
      model: 'm',
      candidates: 50,
      form: 'cohere',
    })
  })

  test.each([
    [{ candidates: 0 }],
    [{ candidates: 201 }],
    [{ candidates: 1.5 }],
    [{ form: 'jina' }],
    [{ api_url: 'nowhere' }],
    [{ model: '' }],
    [{ price: { input: -1, currency: 'USD' } }],
    [{ speed: 1 }],
  ])('refuses %j', (wrong) => {
    expect(() => read(wrong)).toThrow(ConfigError)
  })
})
