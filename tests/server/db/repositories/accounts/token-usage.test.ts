// Token usage by hour and day, model and currency.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../../server/db/database.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import type { UserId } from '../../../../../server/protocol/ids.ts'
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

  test('reports list accounts page by page, most tokens first, and count a member of two groups in each', async () => {
    const range = { from: '2026-05-01', to: '2026-05-31' }
    const ann = await somebody(store)
    const ben = await somebody(store)
    const cyd = await somebody(store)
    const use = (userId: UserId, day: string, promptTokens: number, currency: string) =>
      database.write((tx) =>
        store.tokenUsage.add(tx, new Date(`${day}T12:00:00Z`), {
          userId,
          model: 'm',
          currency,
          promptTokens,
          completionTokens: 1,
          cachedTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
          cost: currency === '' ? 0 : promptTokens / 4,
        }),
      )
    await use(ann.id, '2026-05-01', 10, 'USD')
    await use(ann.id, '2026-05-31', 10, 'EUR')
    await use(ben.id, '2026-05-15', 50, '')
    await use(cyd.id, '2026-05-15', 10, 'USD')
    await use(cyd.id, '2026-05-16', 10, 'USD')
    await use(cyd.id, '2026-04-30', 99, 'USD')
    await use(cyd.id, '2026-06-01', 99, 'USD')
    const first = await store.usageReport.ofAccounts(range, { limit: 2 })
    expect(first.items[0]).toEqual({
      id: ben.id,
      name: ben.username,
      promptTokens: 50,
      completionTokens: 1,
      cachedTokens: 0,
      cost: new Map(),
    })
    const cursor = first.nextCursor ?? undefined
    const second = await store.usageReport.ofAccounts(range, { limit: 2, cursor })
    expect([second.items.length, second.hasMore]).toEqual([1, false])
    const usd = new Map([['USD', 5]])
    const both = { EUR: 2.5, USD: 2.5 }
    const costs = [...first.items, ...second.items].map(({ id, cost }) => [id, cost] as const)
    expect(Object.fromEntries(costs.map(([id, cost]) => [id, Object.fromEntries(cost)]))).toEqual({
      [ben.id]: {},
      [cyd.id]: { USD: 5 },
      [ann.id]: both,
    })

    const group = (name: string) =>
      store.groups.create(
        {
          name,
          description: '',
          permissions: {
            models: null,
            tools: null,
            mcp_servers: null,
            approval_modes: null,
            features: null,
          },
          quota: null,
          sharedQuota: null,
        },
        10,
      )
    const red = await group('Red')
    const blue = await group('Blue')
    await store.groups.addMember(red.id, ben.id)
    await store.groups.addMember(red.id, cyd.id)
    await store.groups.addMember(blue.id, cyd.id)
    const groups = await store.usageReport.ofGroups(range)
    expect(groups[0]).toMatchObject({ name: 'Red', promptTokens: 70, cost: usd })
    expect(
      Object.fromEntries(groups.map(({ name, cost }) => [name, Object.fromEntries(cost)])),
    ).toEqual({ Red: { USD: 5 }, Blue: { USD: 5 }, null: both })
    const { promptTokens, cost } = await store.usageReport.total(range)
    expect([promptTokens, Object.fromEntries(cost)]).toEqual([90, { EUR: 2.5, USD: 7.5 }])
  })
})
