// The search index follows what is deleted, restored and stored before it existed, on both databases.
import { expect, test } from 'vitest'
import { describeSearch } from '../../support/store/searches.ts'
import { say } from '../../support/store/store-rows.ts'

describeSearch('upkeep of the search index', (given) => {
  const { person, found } = given

  test('deleted texts are not found, and their words leave the index with them', async () => {
    const { userId, conversation } = await person()
    const id = await say(given.database, conversation, 'short-lived mayfly', null)
    await given.database.write((tx) => given.store.messages.removeSubtree(tx, conversation, id))
    expect(await found(userId, 'mayfly')).toEqual([])
    await given.database.write((tx) => given.store.messages.restoreSubtree(tx, conversation, id))
    expect(await found(userId, 'mayfly')).toHaveLength(1)
    const entries = async () =>
      (
        await given.database.read
          .select({ id: given.database.tables.searchWords.rowid })
          .from(given.database.tables.searchWords)
      ).length
    const before = await entries()
    await given.store.conversations.patch(userId, conversation, { title: 'Mayflies' })
    expect(await entries()).toBe(before + 1)
    await given.store.conversations.remove(userId, conversation)
    expect(await entries()).toBe(before - 1)
    expect(await found(userId, 'mayfly')).toEqual([])
  })

  test('messages stored before the index existed are indexed in batches, and indexing them again changes nothing', async () => {
    const { userId, conversation } = await person()
    for (let at = 0; at < 5; at += 1) await say(given.database, conversation, `quokka ${at}`, null)
    await given.database.write(async (tx) => {
      await tx.delete(given.database.tables.searchWords)
    })
    expect(await found(userId, 'quokka')).toEqual([])
    const first = await given.store.search.newestRow()
    const next = await given.database.write((tx) =>
      given.store.search.stored.indexMessages(tx, first, 2),
    )
    expect(await found(userId, 'quokka')).toEqual(['quokka 4', 'quokka 3'])
    await given.database.write((tx) => given.store.search.stored.indexMessages(tx, first, 2))
    let from = next
    while (from > 0) {
      const upTo = from
      from = await given.database.write((tx) =>
        given.store.search.stored.indexMessages(tx, upTo, 50),
      )
    }
    expect(await found(userId, 'quokka')).toHaveLength(5)
  })
})
