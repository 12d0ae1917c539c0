// Search by meaning: a real embedding endpoint on loopback, both databases, and an unavailable endpoint.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createVectorRepository } from '../../../server/db/repositories/projects/vectors.ts'
import { createStore } from '../../../server/db/store.ts'
import { createEmbedder } from '../../../server/knowledge/embeddings.ts'
import { mergeByRank, searchPassages } from '../../../server/knowledge/knowledge.ts'
import { createPaidSearch } from '../../../server/knowledge/paid-search.ts'
import { createVectorSearch } from '../../../server/knowledge/vector-search.ts'
import { indexWords } from '../../../server/lib/words.ts'
import { createAddressRules } from '../../../server/net/addresses.ts'
import { createGuardedFetch } from '../../../server/net/guarded-fetch.ts'
import { NO_SHARED_QUOTA } from '../../../server/protocol/accounts/quota.ts'
import { createBudgets } from '../../../server/runs/usage/budgets.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { addProject, addUser } from '../../support/store/rows.ts'

/** One topic per entry. As with an embedding model, the vector of a text reflects its topics. */
const meanings = [/car|automobile|vehicle/i, /doctor|physician|hospital/i, /bread|oven|flour/i]
const vectorOf = (text: string): number[] => [
  ...meanings.map((meaning) => (meaning.test(text) ? 1 : 0)),
  0.01,
]

let url = ''
let isAway = false
/** The responses wait for it. */
let held = Promise.resolve()
const asked: { authorization: string | undefined; model: string; count: number }[] = []
const endpoint = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (isAway) return void response.writeHead(503).end('busy')
    const { input, model } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    asked.push({ authorization: request.headers.authorization, model, count: input.length })
    const data = input.map((text: string, index: number) => ({ index, embedding: vectorOf(text) }))
    // In any order, because only the index counts.
    void held.then(() => response.end(JSON.stringify({ data: data.reverse() })))
  })
})
const fetch = createGuardedFetch({
  rules: createAddressRules({ allowPrivate: [], allowPorts: [80, 443] }),
})

beforeAll(async () => {
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  const { port } = endpoint.address() as AddressInfo // never null or a path: the server listens on TCP
  url = `http://127.0.0.1:${port}/v1`
})
afterAll(async () => {
  endpoint.closeAllConnections()
  await new Promise((resolve) => endpoint.close(resolve))
})
beforeEach(() => {
  isAway = false
  asked.length = 0
})

const sentences = [
  'The automobile is in the garage.',
  'A physician is on duty at night.',
  'Flour and water make a dough.',
  'Cars are washed on Fridays.',
]

describeOnEachDatabase('finding by meaning', (open) => {
  const prepare = async () => {
    const database = await open()
    const { documents } = createStore(database)
    const userId = await addUser(database)
    /** Somebody who asks and does not store the project. */
    const by = { userId: await addUser(database) }
    const allowance = { isLeft: true }
    const spent: { payer: object; model: string; tokens: number; estimate: number }[] = []
    const released = { count: 0 }
    const projectId = await addProject(database, userId)
    const vectors = createVectorSearch({
      documents,
      vectors: createVectorRepository(database),
      embedder: createEmbedder({ apiUrl: url, apiKey: 'sk-test', model: 'tiny' }, fetch),
      usage: {
        admit: async (payer, estimate) =>
          allowance.isLeft
            ? {
                async add(model, tokens) {
                  spent.push({ payer, model, tokens, estimate })
                },
                release: () => {
                  released.count += 1
                },
              }
            : null,
      },
      log: { warn: () => undefined },
    })
    const document = await documents.create({
      projectId,
      userId,
      name: 'notes.txt',
      mime: 'text/plain',
      size: 1,
    })
    await documents.index(
      document,
      sentences.map((text) => ({
        heading: null,
        page: null,
        text,
        tokens: indexWords(text).join(' '),
      })),
    )
    await vectors.index(document, new AbortController().signal)
    const search = async (question: string) => {
      const [byWords, near] = await Promise.all([
        searchPassages(documents, projectId, question, 5),
        vectors.nearest({ ...by, projectId }, question, 5),
      ])
      const merged = await mergeByRank(documents, projectId, byWords, near)
      return merged.map(({ text }) => text)
    }
    return {
      ...{ database, documents, document, projectId, by, vectors, search },
      ...{ allowance, spent, released },
    }
  }

  test('a passage is found that shares no word with the question', async () => {
    const { search } = await prepare()
    expect(await search('hospital')).toEqual([sentences[1]])
    expect(asked[0]).toEqual({ authorization: 'Bearer sk-test', model: 'tiny', count: 4 })
  })

  test('embedding calls are reserved and counted for who stores the project, of queries for who asks, and none is made when the budget is used up', async () => {
    const { search, allowance, spent, released, projectId, by, vectors, document } = await prepare()
    expect(spent).toMatchObject([{ payer: { storerOf: projectId }, model: 'tiny' }])
    expect(spent[0]?.tokens).toBeGreaterThan(0)
    // The endpoint reports no usage, so the estimate is what counts.
    expect(spent[0]?.estimate).toBe(spent[0]?.tokens)
    expect(released.count).toBe(1)
    isAway = true
    expect(await search('hospital')).toEqual([])
    expect([spent.length, released.count]).toEqual([1, 2])
    isAway = false
    expect(await search('hospital')).toEqual([sentences[1]])
    expect(spent.splice(1)).toMatchObject([{ payer: by, model: 'tiny' }])
    allowance.isLeft = false
    const before = asked.length
    expect(await search('hospital')).toEqual([])
    await vectors.index(document, new AbortController().signal)
    expect([asked.length, spent.length]).toEqual([before, 1])
    vectors.stop()
  })

  test("of simultaneous calls, only as many are sent as the user's budget allows, and a failed one releases its share", async () => {
    const database = await open()
    const store = createStore(database)
    const userId = await addUser(database)
    const projectId = await addProject(database, userId)
    const limit = { ...NO_SHARED_QUOTA, tokens_per_day: 2 }
    const now = () => new Date('2026-03-31T12:00:00Z')
    const budgets = createBudgets({
      store,
      now,
      access: { spendingLimits: () => [{ users: [userId], group: null, quota: limit }] },
    })
    const embeddings = { apiUrl: url, apiKey: undefined, model: 'tiny', price: undefined }
    const log = { warn: () => undefined }
    const { vectors } = createPaidSearch(
      { embeddings, rerank: null, onReranked: () => undefined },
      { database, store, budgets, fetch, log, now },
    )
    const ask = () => vectors?.nearest({ userId, projectId }, 'hospital at night', 5)
    isAway = true
    await Promise.all([ask(), ask()])
    isAway = false
    expect(asked).toEqual([])
    let answer = (): void => undefined
    held = new Promise((resolve) => {
      answer = resolve
    })
    const first = ask()
    await expect.poll(() => asked.length).toBe(1)
    // What the first one will take is not known yet.
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([[], [], []])
    expect(asked).toHaveLength(1)
    answer()
    await first
    const month = { from: '2026-03-01', to: '2026-03-31' }
    const { tokens } = await store.tokenUsage.total([userId], month)
    expect(tokens).toBeGreaterThanOrEqual(2)
    await ask()
    expect(asked).toHaveLength(1)
  })

  test('a passage that matches by word and by meaning comes first', async () => {
    const { search } = await prepare()
    const found = await search('cars')
    expect(found[0]).toBe(sentences[3])
    expect(found).toContain(sentences[0])
    expect(found).not.toContain(sentences[2])
  })

  test('search by words and reading of documents work while the endpoint is unavailable', async () => {
    const { search, vectors, document } = await prepare()
    isAway = true
    expect(await search('physician hospital')).toEqual([sentences[1]])
    await expect(vectors.index(document, new AbortController().signal)).resolves.toBeUndefined()
  })

  test('removing a document removes its vectors', async () => {
    const { database, documents, document, projectId, by, vectors } = await prepare()
    await documents.remove(projectId, document.id)
    expect(await vectors.nearest({ ...by, projectId }, 'hospital', 5)).toEqual([])
    expect(await database.read.select().from(database.tables.passageVectors)).toEqual([])
  })

  test('missing vectors are created later, also after an interruption', async () => {
    const { search, vectors, database } = await prepare()
    const { passageVectors } = database.tables
    await database.write(async (tx) => void (await tx.delete(passageVectors)))
    expect(await search('hospital')).toEqual([])
    isAway = true
    await vectors.catchUp()
    expect(await search('hospital')).toEqual([])
    isAway = false
    await vectors.catchUp()
    expect(await search('hospital')).toEqual([sentences[1]])
    asked.length = 0
    await vectors.catchUp()
    expect(asked).toEqual([])
    vectors.stop()
  })
})
