// Messages: branches, siblings, pages and subtrees.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../../server/db/database.ts'
import type { FullMessage } from '../../../../../server/db/repositories/conversations/messages.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { newId } from '../../../../../server/lib/ids.ts'
import type { ConversationId, MessageId, UserId } from '../../../../../server/protocol/ids.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { say, somebody } from '../../../../support/store/store-rows.ts'

const texts = (messages: FullMessage[]): string[] => messages.map(({ text }) => text)

describeOnEachDatabase('messages', (open) => {
  let database: Database
  let store: Store
  let statements: string[] = []
  let userId: UserId
  beforeAll(async () => {
    database = await open({ onStatement: (sql) => statements.push(sql) })
    store = createStore(database)
    userId = (await somebody(store)).id
  })

  const conversation = async (): Promise<ConversationId> =>
    (await store.conversations.create(userId, {})).id

  async function chain(id: ConversationId, length: number): Promise<MessageId[]> {
    const ids: MessageId[] = []
    for (let n = 0; n < length; n += 1)
      ids.push(
        await say(database, id, `m${n}`, ids.at(-1) ?? null, {
          role: n % 2 === 0 ? 'user' : 'assistant',
        }),
      )
    return ids
  }
  const at = (ids: MessageId[], n: number): MessageId => {
    const id = ids.at(n)
    if (id === undefined) throw new Error(`there is no message ${n}`)
    return id
  }

  test('pages run from the newest to the oldest, and each begins with its oldest message', async () => {
    const id = await conversation()
    const ids = await chain(id, 7)
    const leaf = at(ids, -1)
    const first = await store.messages.page(id, leaf, { limit: 3 })
    expect(texts(first.items)).toEqual(['m4', 'm5', 'm6'])
    const second = await store.messages.page(id, leaf, {
      limit: 3,
      cursor: first.nextCursor ?? undefined,
    })
    expect(texts(second.items)).toEqual(['m1', 'm2', 'm3'])
    const third = await store.messages.page(id, leaf, {
      limit: 3,
      cursor: second.nextCursor ?? undefined,
    })
    expect(third).toMatchObject({ nextCursor: null, hasMore: false })
    expect(texts(third.items)).toEqual(['m0'])
  })

  test('an empty conversation has an empty page; a cursor of another conversation is refused', async () => {
    const [one, other] = [await conversation(), await conversation()]
    expect((await store.messages.page(one, null, { limit: 5 })).items).toEqual([])
    const ids = await chain(other, 3)
    const { nextCursor } = await store.messages.page(other, at(ids, -1), { limit: 1 })
    await expect(
      store.messages.page(one, null, { limit: 1, cursor: nextCursor ?? undefined }),
    ).rejects.toMatchObject({ code: 'bad_cursor' })
    await expect(
      store.messages.page(one, null, { limit: 1, cursor: 'nonsense' }),
    ).rejects.toMatchObject({ code: 'bad_cursor' })
  })

  test('a page takes the same number of queries, however long it is', async () => {
    const id = await conversation()
    const ids = await chain(id, 12)
    const countFor = async (limit: number): Promise<number> => {
      statements = []
      await store.messages.page(id, at(ids, -1), { limit })
      return statements.length
    }
    expect(await countFor(1)).toBe(4)
    expect(await countFor(12)).toBe(4)
  })

  test('edits and new answers are siblings, and the shown branch is the newest', async () => {
    const id = await conversation()
    const question = await say(database, id, 'question', null)
    const first = await say(database, id, 'first answer', question, { role: 'assistant' })
    const second = await say(database, id, 'second answer', question, { role: 'assistant' })
    const edited = await say(database, id, 'edited question', null)
    const leafId = (await store.conversations.find(userId, id))?.leafId ?? null
    expect(leafId).toBe(edited)
    const { items } = await store.messages.page(id, leafId, { limit: 10 })
    expect(items.map(({ siblings }) => siblings)).toEqual([[question, edited]])
    const { items: branch } = await store.messages.page(id, first, { limit: 10 })
    expect(texts(branch)).toEqual(['question', 'first answer'])
    expect(branch[1]?.siblings).toEqual([first, second])
    expect((await store.messages.get(id, second)).siblings).toEqual([first, second])
    await expect(store.messages.get(await conversation(), second)).rejects.toMatchObject({
      status: 404,
    })
  })

  test('choosing a message shows the newest branch through it', async () => {
    const id = await conversation()
    const question = await say(database, id, 'q', null)
    const answer = await say(database, id, 'a', question)
    const newest = await say(database, id, 'more', answer)
    await say(database, id, 'b', question)
    const patched = await store.conversations.patch(userId, id, { leafId: answer })
    expect(patched.leafId).toBe(newest)
    await expect(
      store.conversations.patch(userId, id, { leafId: newId<MessageId>() }),
    ).rejects.toMatchObject({ status: 404 })
    await expect(
      store.conversations.patch(userId, await conversation(), { leafId: answer }),
    ).rejects.toMatchObject({ status: 404 })
  })

  test('attachments and steps are returned unchanged and in order', async () => {
    const id = await conversation()
    const files = [
      { name: 'a.txt', extension: 'txt', content: 'text' },
      { name: 'b.png', mime: 'image/png' as const, data: 'aGk=' },
    ]
    const question = await say(database, id, 'q', null, { files })
    const answer = await say(database, id, 'done', question, { role: 'assistant' })
    await database.write(async (tx) => {
      for (const position of [2, 0, 1])
        await store.steps.store(tx, userId, {
          messageId: answer,
          position,
          type: 'text',
          content: `part ${position}`,
          skipped: false,
          closed: true,
        })
    })
    const read = { length: 10, maxBytes: 1_000_000 }
    const [asked, answered] = await store.messages.history(id)(answer, read)
    expect((await store.messages.page(id, answer, { limit: 10 })).items).toMatchObject([
      { attachments: asked?.attachments },
      { steps: answered?.steps },
    ])
    const [text, image] = [
      { position: 0, kind: 'text', name: 'a.txt', extension: 'txt', mime: 'text/plain', size: 4 },
      { position: 1, kind: 'image', name: 'b.png', extension: null, mime: 'image/png', size: 2 },
    ]
    expect(asked?.attachments).toMatchObject([text, image])
    expect(await store.attachments.contents(question, [1, 0])).toEqual(
      files.map((file, position) => ({ position, ...file })),
    )
    const found = await store.attachments.find(question, 1)
    expect(found).toMatchObject({ size: 2, mime: 'image/png' })
    expect(await store.attachments.find(question, 2)).toBeUndefined()
    expect(answered?.steps).toEqual(
      [0, 1, 2].map((n) => ({ id: `step-${n}`, index: n, type: 'text', content: `part ${n}` })),
    )
  })

  test('deleting a message deletes the messages below it and shows the branch beside it', async () => {
    const id = await conversation()
    const question = await say(database, id, 'q', null)
    const kept = await say(database, id, 'kept', question)
    const gone = await say(database, id, 'gone', question)
    const below = await say(database, id, 'below', gone, {
      files: [{ name: 'x', extension: undefined, content: 'x' }],
    })
    const remove = (message: MessageId) =>
      database.write((tx) => store.messages.removeSubtree(tx, id, message))
    expect(await remove(gone)).toBe(2)
    expect(await store.messages.find(id, below)).toBeUndefined()
    expect(await store.conversations.find(userId, id)).toMatchObject({
      leafId: kept,
      messageCount: 2,
    })
    expect(await remove(gone)).toBe(0)
    expect(await remove(question)).toBe(2)
    expect(await store.conversations.find(userId, id)).toMatchObject({
      leafId: null,
      messageCount: 0,
    })
  })

  test('a deletion can be undone until it is purged, and nothing reads what was deleted', async () => {
    const id = await conversation()
    const question = await say(database, id, 'q', null)
    const answer = await say(database, id, 'a', question, { role: 'assistant' })
    const more = await say(database, id, 'more', answer)
    const last = await say(database, id, 'last', more, { role: 'assistant' })
    const change = (how: 'removeSubtree' | 'restoreSubtree', message: MessageId) =>
      database.write((tx) => store.messages[how](tx, id, message))
    const shown = () => store.conversations.find(userId, id)

    expect(await change('removeSubtree', last)).toBe(1)
    expect(await change('removeSubtree', answer)).toBe(2)
    for (const gone of [answer, more, last]) {
      expect(await store.messages.find(id, gone)).toBeUndefined()
      expect((await store.messages.page(id, gone, { limit: 10 })).items).toEqual([])
      await expect(store.messages.get(id, gone)).rejects.toMatchObject({ status: 404 })
    }
    const beside = await say(database, id, 'another answer', question, { role: 'assistant' })
    expect((await store.messages.get(id, beside)).siblings).toEqual([beside])
    expect(await change('restoreSubtree', last), 'what it hung on is deleted').toBe(0)
    expect(await change('restoreSubtree', more), 'it went with another').toBe(0)
    expect(await change('restoreSubtree', answer)).toBe(2)
    expect(await change('restoreSubtree', answer)).toBe(0)
    expect(await shown()).toMatchObject({ leafId: more, messageCount: 4 })
    expect((await store.messages.get(id, answer)).siblings).toEqual([answer, beside])
    expect(await change('restoreSubtree', last)).toBe(1)
    expect(await shown()).toMatchObject({ leafId: last, messageCount: 5 })

    expect(await change('removeSubtree', answer)).toBe(3)
    await store.messages.purge(new Date(Date.now() - 60_000))
    expect(await change('restoreSubtree', answer)).toBe(3)
    expect(await change('removeSubtree', answer)).toBe(3)
    await store.messages.purge(new Date(Date.now() + 60_000))
    expect(await change('restoreSubtree', answer)).toBe(0)
    expect(await shown()).toMatchObject({ leafId: beside, messageCount: 2 })
  })

  test('removing a hidden branch does not change the shown one', async () => {
    const id = await conversation()
    const hidden = await say(database, id, 'hidden', null)
    const shown = await say(database, id, 'shown', null)
    await database.write((tx) => store.messages.removeSubtree(tx, id, hidden))
    expect((await store.conversations.find(userId, id))?.leafId).toBe(shown)
  })

  test('a chain of thousands of messages can be read and removed', async () => {
    const id = await conversation()
    const root = await say(database, id, 'root', null)
    let parentId = root
    const rows = Array.from({ length: 3_000 }, (_, n) => {
      const row = {
        id: newId<MessageId>(),
        conversationId: id,
        parentId,
        role: 'user' as const,
        text: `m${n}`,
        tokenCount: 0,
        status: 'completed' as const,
        createdAt: new Date(),
      }
      parentId = row.id
      return row
    })
    await database.write(async (tx) => {
      for (let from = 0; from < rows.length; from += 500)
        await tx.insert(database.tables.messages).values(rows.slice(from, from + 500))
    })
    expect(await store.messages.leafUnder(id, root)).toBe(parentId)
    const read = { length: 5_000, maxBytes: 2 ** 30 }
    expect(await store.messages.history(id)(parentId, read)).toHaveLength(3_001)
    expect(await database.write((tx) => store.messages.removeSubtree(tx, id, root))).toBe(3_001)
  })

  test('an update changes only the fields that it names', async () => {
    const id = await conversation()
    const message = await say(database, id, '', null, { status: 'streaming' })
    await database.write((tx) =>
      store.messages.update(tx, message, { text: 'done', status: 'completed', tokenCount: 3 }),
    )
    expect(await store.messages.find(id, message)).toMatchObject({
      text: 'done',
      status: 'completed',
      tokenCount: 3,
    })
  })
})
