// Pages of hits, and the cursors that lead to them, on both databases.
import { expect, test } from 'vitest'
import { describeSearch } from '../../support/store/searches.ts'
import { say } from '../../support/store/store-rows.ts'

describeSearch('pages of a search', (given) => {
  const { person, find } = given

  test('pages follow each other without gaps or repetitions, titles first', async () => {
    const { userId, conversation } = await person()
    await given.store.conversations.patch(userId, conversation, { title: 'cedar' })
    await given.store.conversations.create(userId, { title: 'second cedar' })
    for (let at = 0; at < 7; at += 1) await say(given.database, conversation, `cedar ${at}`, null)
    for (const limit of [1, 2, 3, 8, 9]) {
      const texts: string[] = []
      let cursor: string | undefined
      do {
        const page = await find(userId, 'cedar', { limit, cursor })
        texts.push(...page.items.map(({ snippet }) => snippet.replaceAll(/<\/?mark>/g, '')))
        expect(page.items.length).toBeLessThanOrEqual(limit)
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      const messages = [6, 5, 4, 3, 2, 1, 0].map((at) => `cedar ${at}`)
      expect(texts, `limit ${limit}`).toEqual(['second cedar', 'cedar', ...messages])
    }
  })

  test('a cursor of another user, or of another query, is refused', async () => {
    const [one, other] = [await person(), await person()]
    for (const { conversation } of [one, other])
      for (const text of ['fig 1', 'fig 2']) await say(given.database, conversation, text, null)
    const { nextCursor } = await find(one.userId, 'fig', { limit: 1 })
    const cursor = nextCursor ?? ''
    expect((await find(one.userId, 'fig', { limit: 1, cursor })).items).toHaveLength(1)
    for (const attempt of [
      find(other.userId, 'fig', { limit: 1, cursor }),
      find(one.userId, 'figs', { limit: 1, cursor }),
      find(one.userId, 'fig', { limit: 1, cursor: 'nonsense' }),
    ])
      await expect(attempt).rejects.toMatchObject({ reason: 'cursor_invalid' })
  })
})
