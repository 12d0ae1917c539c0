// A configured embedding endpoint takes effect: documents are found by meaning, and the doctor checks the endpoint.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkEmbeddings } from '../../../server/doctor/checks/embeddings.ts'
import { eventually } from '../../support/eventually.ts'
import { refusingUrl, startUpstream, type Upstream } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer } from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'

/** One topic per entry. As with an embedding model, the vector of a text reflects its topics. */
const meanings = [/car|automobile|vehicle/i, /doctor|physician|hospital/i, /bread|oven|flour/i]
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
  upstream.program(({ path, body }) => {
    if (!path.endsWith('/embeddings')) return undefined
    // Each request contains a list of texts.
    const data = (body.input as string[]).map((text, index) => ({
      index,
      embedding: meanings.map((meaning) => (meaning.test(text) ? 1 : 0.01)),
    }))
    return turn.json(200, { data })
  })
})
afterAll(() => upstream.close())

describeOnEachServer('documents with an endpoint for embeddings', (start) => {
  test('are found by meaning, and startup logs no ignored setting', async () => {
    const server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key' }],
      embeddings: {
        api_url: upstream.url,
        api_key: 'key-of-embeddings',
        model: 'tiny',
        price: { input: 1_000_000, currency: 'USD' },
      },
      titles: 'off',
    })
    const before = upstream.requests.length
    const project = await server.call('POST', '/api/projects', { body: { name: 'Meanings' } })
    const documents = `/api/projects/${project.json.data.id}/documents`
    const form = new FormData()
    form.append('files[]', new Blob(['# Night\n\nA physician is on duty.']), 'duty.md')
    form.append('files[]', new Blob(['# Day\n\nThe automobile is washed.']), 'wash.md')
    await fetch(server.url + documents, { method: 'POST', body: form })
    const taken = () =>
      upstream.requests.slice(before).filter(({ path }) => path.endsWith('/embeddings'))
    await eventually(() => expect(taken()).toHaveLength(2))
    expect(taken()[1]).toMatchObject({ apiKey: 'key-of-embeddings', model: 'tiny' })

    const { json } = await server.call('POST', '/api/conversations', {
      body: { project_id: project.json.data.id },
    })
    const ask = async () => {
      upstream.enqueue(
        turn.toolCalls([{ name: 'search_knowledge', arguments: { query: 'hospital' } }]),
        turn.text('On duty.'),
      )
      const path = `${server.url}/api/conversations/${json.data.id}/messages`
      const events = await (await openEvents(path, { body: { text: 'Who helps?' } })).all()
      return JSON.parse(events.find(({ data }) => data.type === 'tool_result')?.data.content)
    }
    await eventually(async () =>
      expect((await ask()).data.results).toMatchObject([
        { document: 'duty.md', heading: 'Night', text: expect.stringContaining('physician') },
      ]),
    )
    const { by_model: models } = (await server.call('GET', '/api/stats/tokens?period=daily')).json
      .data
    expect(models.tiny.prompt_tokens).toBeGreaterThan(0)
    expect(models.tiny.cost).toEqual({ USD: models.tiny.prompt_tokens })
    expect(server.logged()).not.toContain('setting ignored')
  })
})

test('the doctor reports whether the endpoint responds and what compares vectors', async () => {
  const database = { dialect: 'sqlite' as const, file: 'not-looked-at.db' }
  const settings = { apiUrl: upstream.url, apiKey: 'key', model: 'tiny' }
  expect(await checkEmbeddings(null, database)).toEqual([])
  expect(await checkEmbeddings(settings, database)).toMatchObject([
    { state: 'ok', subject: 'embeddings', detail: expect.stringContaining('3 dimensions') },
    { subject: 'vector search' },
  ])
  const away = await checkEmbeddings({ ...settings, apiUrl: await refusingUrl() }, database)
  expect(away[0]).toMatchObject({ state: 'fail', advice: expect.stringContaining('api_url') })
})

const databases = useDatabases()
test('PostgreSQL without pgvector compares vectors one by one, and the doctor recommends pgvector', async () => {
  const place = await databases.settings('postgres')
  if (place.dialect !== 'postgres') throw new Error('not what was asked for')
  const settings = { apiUrl: upstream.url, apiKey: 'key', model: 'tiny' }
  const [, comparing] = await checkEmbeddings(settings, { ...place, embeddings: true })
  // A server with pgvector also passes: then it is used.
  if (comparing?.state === 'ok') expect(comparing.detail).toBe('pgvector')
  else expect(comparing?.advice).toContain('pgvector')
})
