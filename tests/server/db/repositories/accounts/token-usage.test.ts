// Token usage by hour and day, model and currency.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../../server/db/database.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { somebody } from '../../../../support/store/store-rows.ts'

describeOnEachDatabase('token usage', (open) => {
  let database: Database
  let store: Store
  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })

  test('usage is summed by hour, model and currency, also for concurrent additions', async () => {
    const user = await somebody(store)
    const use = (at: string, model: string, currency: string) =>
      database.write((tx) =>
        store.tokenUsage.add(tx, new Date(at), {
          userId: user.id,
          model,
          currency,
          promptTokens: 10,
          completionTokens: 5,
          cachedTokens: 4,
          cacheWriteTokens: 1,
          reasoningTokens: 2,
          cost: currency === '' ? 0 : 0.25,
        }),
      )
    await Promise.all([
      ...Array.from({ length: 20 }, () => use('2026-03-01T10:15:00Z', 'm', 'USD')),
      use('2026-03-01T23:59:59.999Z', 'm', ''),
      use('2026-03-02T00:00:00Z', 'n', 'EUR'),
    ])
    expect(await store.tokenUsage.byHour(user.id, '2026-03-01')).toMatchObject([
      {
        hour: 10,
        model: 'm',
        currency: 'USD',
        promptTokens: 200,
        completionTokens: 100,
        cachedTokens: 80,
        cacheWriteTokens: 20,
        reasoningTokens: 40,
        cost: 5,
      },
      { hour: 23, currency: '', promptTokens: 10, cost: 0 },
    ])
    const march = { from: '2026-03-01', to: '2026-03-31' }
    expect((await store.tokenUsage.byDay(user.id, march)).map(({ day }) => day)).toEqual([
      '2026-03-01',
      '2026-03-01',
      '2026-03-02',
    ])
    const spent = await store.tokenUsage.total([user.id], march)
    expect(spent).toEqual({
      tokens: 330,
      cost: new Map([
        ['EUR', 0.25],
        ['USD', 5],
      ]),
    })
    expect(await store.tokenUsage.byDay((await somebody(store)).id, march)).toEqual([])
  })
})
