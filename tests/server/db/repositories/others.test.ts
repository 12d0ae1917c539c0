// Projects, use of tokens, stored models, single values, memory, long results and documents.
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Database } from '../../../../server/db/database.ts'
import { createStore, type Store } from '../../../../server/db/store.ts'
import { newId } from '../../../../server/lib/ids.ts'
import type { ProjectId, RunId } from '../../../../server/protocol/ids.ts'
import { describeOnEachDatabase } from '../../../support/databases.ts'
import { somebody } from '../../../support/store-rows.ts'

describeOnEachDatabase('other repositories', (open) => {
  let database: Database
  let store: Store
  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })

  test('a project name is taken once per user, also when two requests come at once', async () => {
    const [one, two] = [await somebody(store), await somebody(store)]
    const make = (userId: typeof one.id) =>
      store.projects.create(userId, { name: 'site', description: null })
    const results = await Promise.allSettled([make(one.id), make(one.id), make(two.id)])
    expect(results.map(({ status }) => status).toSorted()).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
    ])
    const refused = results.find((result) => result.status === 'rejected')
    expect(refused?.reason).toMatchObject({ code: 'name_taken', status: 409 })
  })

  test('projects are listed with their total, changed and removed by their owner only', async () => {
    const [owner, stranger] = [await somebody(store), await somebody(store)]
    const names = ['a', 'b', 'c']
    const made = []
    for (const name of names)
      made.push(await store.projects.create(owner.id, { name, description: 'd' }))
    const first = await store.projects.list(owner.id, { limit: 2 })
    expect(first).toMatchObject({ total: 3, hasMore: true })
    const second = await store.projects.list(owner.id, {
      limit: 2,
      cursor: first.nextCursor ?? undefined,
    })
    expect([...first.items, ...second.items].map(({ name }) => name).toSorted()).toEqual(names)
    const [project] = made
    if (project === undefined) throw new Error('nothing was made')
    expect(await store.projects.find(stranger.id, project.id)).toBeUndefined()
    expect(await store.projects.update(stranger.id, project.id, { name: 'x' })).toBeUndefined()
    expect(await store.projects.remove(stranger.id, project.id)).toBe(false)
    await expect(store.projects.update(owner.id, project.id, { name: 'b' })).rejects.toMatchObject({
      code: 'name_taken',
    })
    expect(
      await store.projects.update(owner.id, project.id, { name: 'z', description: null }),
    ).toMatchObject({ name: 'z', description: null })
    const conversation = await store.conversations.create(owner.id, { projectId: project.id })
    expect(await store.projects.remove(owner.id, project.id)).toBe(true)
    expect((await store.conversations.find(owner.id, conversation.id))?.projectId).toBeNull()
  })

  test('use adds up by hour, model and currency, also when it comes at once', async () => {
    const user = await somebody(store)
    const use = (at: string, model: string, currency: string) =>
      database.write((tx) =>
        store.tokenUsage.add(tx, new Date(at), {
          userId: user.id,
          model,
          currency,
          promptTokens: 10,
          completionTokens: 5,
          cost: currency === '' ? 0 : 0.25,
        }),
      )
    await Promise.all([
      ...Array.from({ length: 20 }, () => use('2026-03-01T10:15:00Z', 'm', 'USD')),
      use('2026-03-01T23:59:59.999Z', 'm', ''),
      use('2026-03-02T00:00:00Z', 'n', 'EUR'),
    ])
    expect(await store.tokenUsage.byHour(user.id, '2026-03-01')).toMatchObject([
      { hour: 10, model: 'm', currency: 'USD', promptTokens: 200, completionTokens: 100, cost: 5 },
      { hour: 23, currency: '', promptTokens: 10, cost: 0 },
    ])
    const march = { from: '2026-03-01', to: '2026-03-31' }
    expect((await store.tokenUsage.byDay(user.id, march)).map(({ day }) => day)).toEqual([
      '2026-03-01',
      '2026-03-01',
      '2026-03-02',
    ])
    const spent = await store.tokenUsage.spent(user.id, march)
    expect(spent).toEqual({
      tokens: 330,
      cost: new Map([
        ['EUR', 0.25],
        ['USD', 5],
      ]),
    })
    expect(await store.tokenUsage.byDay((await somebody(store)).id, march)).toEqual([])
  })

  test('of many who add a model of one id at once one succeeds, and changes at once all hold', async () => {
    const model = { id: 'local', api_url: 'http://127.0.0.1:11434/v1' }
    const created = await Promise.all(
      Array.from({ length: 5 }, (_, n) => store.models.create(model, `sealed ${n}`)),
    )
    expect(created.filter((one) => one !== null)).toHaveLength(1)
    await Promise.all([
      store.models.change('local', (before) => ({
        ...before,
        settings: { ...before.settings, name: 'Local' },
      })),
      store.models.change('local', (before) => ({
        ...before,
        settings: { ...before.settings, vision: true },
      })),
      store.models.change('local', (before) => ({ ...before, sealedApiKey: null })),
    ])
    expect(await store.models.list()).toMatchObject([
      { settings: { ...model, name: 'Local', vision: true }, sealedApiKey: null },
    ])
    const refused = store.models.change('local', () => {
      throw new Error('refused')
    })
    await expect(refused).rejects.toThrow('refused')
    expect(await store.models.change('other', (before) => before)).toBeUndefined()
    expect(await store.models.remove('local')).toBe(true)
    expect(await store.models.remove('local')).toBe(false)
  })

  test('a single value comes back through its schema or not at all', async () => {
    const Size = z.object({ size: z.int() })
    expect(await store.settings.get('window', Size)).toBeUndefined()
    await store.settings.put('window', { size: 1 })
    await store.settings.put('window', { size: 2 })
    expect(await store.settings.get('window', Size)).toEqual({ size: 2 })
    await store.settings.put('window', 'something else')
    expect(await store.settings.get('window', Size)).toBeUndefined()
  })

  test('two changes of a memory at once both hold', async () => {
    const user = await somebody(store)
    await Promise.all(
      ['a', 'b', 'c'].map((fact) =>
        store.settings.changeMemory(user.id, (content) => `${content}${fact}`),
      ),
    )
    expect([...(await store.settings.memory(user.id))].toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('a handle belongs to its conversation', async () => {
    const user = await somebody(store)
    const [one, other] = [
      await store.conversations.create(user.id, {}),
      await store.conversations.create(user.id, {}),
    ]
    const content = 'long'.repeat(50_000)
    const handle = await store.toolResults.keep({
      conversationId: one.id,
      runId: newId<RunId>(),
      content,
    })
    expect(await store.toolResults.find(one.id, handle)).toBe(content)
    expect(await store.toolResults.find(other.id, handle)).toBeUndefined()
    await store.conversations.remove(user.id, one.id)
    expect(await store.toolResults.find(one.id, handle)).toBeUndefined()
  })

  async function documentOf(projectName: string, passages: string[]) {
    const user = await somebody(store)
    const project = await store.projects.create(user.id, { name: projectName, description: null })
    const document = await store.documents.create({
      projectId: project.id,
      userId: user.id,
      name: 'notes.md',
      mime: 'text/markdown',
      size: 10,
    })
    await store.documents.index(
      document,
      passages.map((text) => ({ heading: null, page: null, text, tokens: text.toLowerCase() })),
    )
    return { project, document }
  }
  const found = async (projectId: ProjectId, ...words: string[]) =>
    (await store.documents.search(projectId, words, 10)).map(({ text }) => text)

  test('passages are found by any of the words, best first, in their project only', async () => {
    const { project, document } = await documentOf('one', [
      'Cats sleep all day',
      'Dogs bark; cats sleep and cats purr',
      'Nothing of the kind',
    ])
    const { project: other } = await documentOf('two', ['cats elsewhere'])
    expect(await found(project.id, 'purr', 'cats')).toEqual([
      'Dogs bark; cats sleep and cats purr',
      'Cats sleep all day',
    ])
    expect(await found(other.id, 'cats')).toEqual(['cats elsewhere'])
    expect((await store.documents.find(project.id, document.id))?.status).toBe('ready')
    expect(await store.documents.find(other.id, document.id)).toBeUndefined()
  })

  test('words are asked for as they are: nothing in them is an operator', async () => {
    const { project } = await documentOf('three', ['plain words', 'near and or not'])
    for (const word of [
      '"',
      "'",
      'a" OR "b',
      '*',
      'plain*',
      '(',
      ')',
      ':',
      '^',
      '-',
      '!',
      '\\',
      '\0',
      '',
      ' ',
    ])
      await expect(store.documents.search(project.id, [word], 5)).resolves.toBeInstanceOf(Array)
    expect(await found(project.id, 'NOT')).toEqual(['near and or not'])
    expect(await found(project.id)).toEqual([])
  })

  test('indexing again and removing leave nothing of the old text in the index', async () => {
    const { project, document } = await documentOf('four', ['zebra one', 'zebra two'])
    await store.documents.index(document, [
      { heading: 'H', page: 2, text: 'giraffe', tokens: 'giraffe' },
    ])
    expect(await found(project.id, 'zebra')).toEqual([])
    expect(await store.documents.search(project.id, ['giraffe'], 5)).toMatchObject([
      { heading: 'H', page: 2, position: 0, document: 'notes.md', documentId: document.id },
    ])
    expect(await store.documents.passagesOf(project.id, document.id, 0, 5)).toHaveLength(1)
    expect(await store.documents.remove(project.id, document.id)).toBe(true)
    expect(await found(project.id, 'giraffe')).toEqual([])
    expect(await store.documents.remove(project.id, document.id)).toBe(false)
  })

  test('removing a project takes its documents out of the index', async () => {
    const user = await somebody(store)
    const project = await store.projects.create(user.id, { name: 'gone', description: null })
    const document = await store.documents.create({
      projectId: project.id,
      userId: user.id,
      name: 'a',
      mime: 'text/plain',
      size: 1,
    })
    expect((await store.documents.pending()).map(({ id }) => id)).toContain(document.id)
    await store.documents.index(document, [
      { heading: null, page: null, text: 'walrus', tokens: 'walrus' },
    ])
    await store.projects.remove(user.id, project.id)
    expect(await found(project.id, 'walrus')).toEqual([])
  })
})
