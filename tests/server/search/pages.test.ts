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

  test('the newest come first by their dates, also among many that an import stored in another order', async () => {
    const { userId, conversation } = await person()
    const start = Date.parse('2026-01-01T00:00:00Z')
    const count = 105
    // As in an export that begins with the newest.
    for (let at = count; at > 0; at -= 1)
      await say(given.database, conversation, `sorrel ${at}`, null, {
        createdAt: new Date(start + at * 60_000),
      })
    const texts: string[] = []
    let cursor: string | undefined
    do {
      const page = await find(userId, 'sorrel', { limit: 50, cursor })
      texts.push(...page.items.map(({ snippet }) => snippet.replaceAll(/<\/?mark>/g, '')))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(texts).toEqual(Array.from({ length: count }, (_, at) => `sorrel ${count - at}`))
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
