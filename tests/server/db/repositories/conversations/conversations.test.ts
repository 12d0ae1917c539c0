// Conversations: creating, listing, updating and removing them; those of other users are not found.
import { eq } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../../server/db/database.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { newId } from '../../../../../server/lib/ids.ts'
import type { ConversationId, MessageId, RunId } from '../../../../../server/protocol/ids.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { chatRun, say, somebody } from '../../../../support/store/store-rows.ts'

describeOnEachDatabase('conversations', (open) => {
  let database: Database
  let store: Store
  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })

  test('a new conversation has what it was created with, and defaults for the rest', async () => {
    const user = await somebody(store)
    const project = await store.projects.create(user.id, { name: 'p', description: null })
    const created = await store.conversations.create(user.id, {
      title: 'Über Katzen',
      projectId: project.id,
      temperature: 0.25,
      approval: 'auto',
    })
    expect(await store.conversations.get(user.id, created.id)).toEqual({
      ...created,
      projectName: 'p',
      activeRunId: null,
      activeRunStatus: null,
      besideRunId: null,
    })
    expect(created).toMatchObject({ titled: true, thinkingEnabled: false, messageCount: 0 })
  })

  test('conversations and projects of other users are not found', async () => {
    const [owner, stranger] = [await somebody(store), await somebody(store)]
    const mine = await store.conversations.create(owner.id, {})
    const project = await store.projects.create(owner.id, { name: 'p', description: null })
    expect(await store.conversations.find(stranger.id, mine.id)).toBeUndefined()
    await expect(store.conversations.get(stranger.id, mine.id)).rejects.toMatchObject({
      status: 404,
    })
    await expect(
      store.conversations.patch(stranger.id, mine.id, { title: 'x' }),
    ).rejects.toMatchObject({ status: 404 })
    await expect(
      store.conversations.create(stranger.id, { projectId: project.id }),
    ).rejects.toMatchObject({ status: 404 })
    expect(await store.conversations.remove(stranger.id, mine.id)).toBe(false)
    expect((await store.conversations.list(stranger.id, { limit: 10 })).items).toEqual([])
  })

  test('the list begins with the newest activity, and its pages neither repeat nor skip', async () => {
    const user = await somebody(store)
    const made: ConversationId[] = []
    for (let n = 0; n < 7; n += 1)
      made.push((await store.conversations.create(user.id, { title: `c${n}` })).id)
    // The order must not depend on distinct times.
    const at = new Date()
    await database.write(async (tx) => {
      for (const id of made) await store.conversations.touch(tx, id, at)
    })
    const [first] = made
    if (first === undefined) throw new Error('nothing was made')
    await say(database, first, 'hello', null, { createdAt: new Date(at.getTime() + 5) })
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await store.conversations.list(user.id, { limit: 3, cursor })
      seen.push(...page.items.map(({ id }) => id))
      expect(page.hasMore).toBe(page.nextCursor !== null)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(seen[0]).toBe(first)
    expect(seen.toSorted()).toEqual(made.toSorted())
  })

  test('the list is filtered by project, archive and part of the title, ignoring case and without wildcards', async () => {
    const user = await somebody(store)
    const project = await store.projects.create(user.id, { name: 'p', description: null })
    await store.conversations.create(user.id, { title: 'ÄPFEL 100% frisch' })
    await store.conversations.create(user.id, { title: 'a_b', projectId: project.id })
    const old = await store.conversations.create(user.id, { title: 'old' })
    await store.conversations.patch(user.id, old.id, { archived: true })
    const titles = async (filter: Parameters<typeof store.conversations.list>[1]) =>
      (await store.conversations.list(user.id, filter)).items.map(({ title }) => title)
    expect(await titles({ limit: 10, q: 'äpfel' })).toEqual(['ÄPFEL 100% frisch'])
    expect(await titles({ limit: 10, q: '%' })).toEqual(['ÄPFEL 100% frisch'])
    expect(await titles({ limit: 10, q: '_' })).toEqual(['a_b'])
    expect(await titles({ limit: 10, q: '\\' })).toEqual([])
    expect(await titles({ limit: 10, projectId: project.id })).toEqual(['a_b'])
    expect(await titles({ limit: 10, archived: true })).toEqual(['old'])
  })

  test('a page ends early when its system prompts are long, and no conversation or prompt is lost', async () => {
    const user = await somebody(store)
    const prompts = new Map<string, string | null>()
    for (let at = 0; at < 30; at += 1) {
      // Four bytes per character, so that the number of characters does not measure the size.
      const systemPrompt = at % 3 === 0 ? null : '🦉'.repeat(at % 3 === 1 ? 50_000 : 10)
      const { id } = await store.conversations.create(user.id, { systemPrompt })
      prompts.set(id, systemPrompt)
    }
    const seen = new Map<string, string | null>()
    let cursor: string | undefined
    do {
      const page = await store.conversations.list(user.id, { limit: 100, cursor })
      const bytes = page.items.reduce((sum, item) => sum + (item.systemPrompt?.length ?? 0) * 2, 0)
      expect(bytes).toBeLessThan(1_100_000)
      expect(page.items.length).toBeGreaterThan(0)
      expect(page.hasMore).toBe(page.nextCursor !== null)
      for (const item of page.items) seen.set(item.id, item.systemPrompt)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(prompts)
    const [long] = [...prompts].find(([, prompt]) => (prompt?.length ?? 0) > 50_000) ?? []
    const one = await store.conversations.get(user.id, long as ConversationId)
    expect(one.systemPrompt).toBe(prompts.get(one.id))
  })

  test('a bad cursor is refused', async () => {
    const user = await somebody(store)
    for (const cursor of ['', 'x', Buffer.from('[1]').toString('base64url'), 'bnVsbA'])
      await expect(store.conversations.list(user.id, { limit: 1, cursor })).rejects.toMatchObject({
        code: 'bad_cursor',
        status: 400,
      })
  })

  test('the active run is shown until it has ended, and a conversation has at most one', async () => {
    const user = await somebody(store)
    const { id } = await store.conversations.create(user.id, {})
    const message = await say(database, id, '', null, { role: 'assistant', status: 'streaming' })
    const run = chatRun(user.id, id, message)
    await database.write((tx) => store.runs.insert(tx, run))
    expect(await store.conversations.get(user.id, id)).toMatchObject({
      activeRunId: run.id,
      activeRunStatus: 'running',
    })
    const second = await database.write((tx) =>
      store.runs.insert(tx, { ...run, id: newId<RunId>(), clientId: 'other' }),
    )
    expect(second).toBeUndefined()
    await database.write((tx) => store.runs.end(tx, run.id, { endedAt: new Date() }))
    expect((await store.conversations.get(user.id, id)).activeRunId).toBeNull()
  })

  test('a patch sets and clears the fields that it contains, and changes neither others nor the position in the list', async () => {
    const user = await somebody(store)
    const created = await store.conversations.create(user.id, { model: 'm', temperature: 1 })
    const patched = await store.conversations.patch(user.id, created.id, {
      title: 'New',
      temperature: null,
      pinned: true,
      disabledMcpServers: ['files'],
    })
    expect(patched).toMatchObject({
      title: 'New',
      titleKey: 'new',
      titled: true,
      model: 'm',
      temperature: null,
      pinned: true,
      disabledMcpServers: ['files'],
      updatedAt: created.updatedAt,
    })
    expect(await store.conversations.patch(user.id, created.id, {})).toEqual(patched)
  })

  test('a generated title is stored only if there is none yet', async () => {
    const user = await somebody(store)
    const created = await store.conversations.create(user.id, {})
    const setTitle = (title: string) =>
      database.write((tx) => store.conversations.setGeneratedTitle(tx, created.id, title))
    await setTitle('first')
    await setTitle('second')
    expect((await store.conversations.find(user.id, created.id))?.title).toBe('first')
  })

  test('removing a conversation removes its messages and runs, also a long chain of them', async () => {
    const user = await somebody(store)
    const created = await store.conversations.create(user.id, {})
    let parent: MessageId | null = null
    const { messages } = database.tables
    const chain = Array.from({ length: 2_500 }, () => {
      const id = newId<MessageId>()
      const row = {
        id,
        conversationId: created.id,
        parentId: parent,
        role: 'user' as const,
        text: 'x',
        tokenCount: 0,
        status: 'completed' as const,
        createdAt: new Date(),
      }
      parent = id
      return row
    })
    await database.write(async (tx) => {
      for (let from = 0; from < chain.length; from += 500)
        await tx.insert(messages).values(chain.slice(from, from + 500))
      if (parent !== null) await store.runs.insert(tx, chatRun(user.id, created.id, parent))
    })
    expect(await store.conversations.remove(user.id, created.id)).toBe(true)
    expect(await store.conversations.find(user.id, created.id)).toBeUndefined()
    const left = await database.read
      .select({ id: messages.id })
      .from(messages)
      .where(eq(messages.conversationId, created.id))
    expect(left).toEqual([])
    expect(await store.runs.findActive(created.id)).toBeUndefined()
    expect(await store.conversations.remove(user.id, created.id)).toBe(false)
  })
})
