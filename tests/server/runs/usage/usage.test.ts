// The usage of a run without HTTP: totals of the answer, and one addition to the user's usage for each model call.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../../../server/db/database.ts'
import { dayOf } from '../../../../server/db/repositories/accounts/token-usage.ts'
import type { RunRow } from '../../../../server/db/repositories/runs/runs.ts'
import { createStore, type Store } from '../../../../server/db/store.ts'
import { createWriteGroup } from '../../../../server/runs/group-commit.ts'
import { createRunUsage, type RunUsage } from '../../../../server/runs/usage/usage.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'
import { storeRun } from '../../../support/store/store-rows.ts'

const now = () => new Date()
/** A million prompt tokens cost 1 USD, a million completion tokens 2. */
const PRICE = { input: 1, output: 2, currency: 'USD' }
const call = (prompt: number, completion: number, model = 'priced') => ({
  model,
  usage: {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  },
})

describeOnEachDatabase('the usage of a run', (open) => {
  let database: Database
  let store: Store
  let run: RunRow
  let usage: RunUsage

  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })
  beforeEach(async () => {
    run = await storeRun(database, store, { model: 'priced' })
    usage = createRunUsage(run, {
      database,
      store,
      now,
      settings: { runTokens: 1_000 },
      access: { spendingLimits: () => [] },
      catalog: { priceOf: async (model) => (model === 'priced' ? PRICE : null) },
      budgets: { join: () => ({ admitCall: async () => true, release() {} }) },
      writes: createWriteGroup(database, []),
    })
  })

  /** What is stored: the tokens of the run, and the tokens and cost of its user. */
  async function stored() {
    const row = await store.runs.find(run.id)
    const today = dayOf(now())
    const { tokens, cost } = await store.tokenUsage.total([run.userId], { from: today, to: today })
    return {
      run: [row?.promptTokens, row?.completionTokens, row?.iteration],
      user: { tokens, usd: cost.get('USD') ?? 0 },
    }
  }

  async function commit(): Promise<void> {
    const batch = await usage.nextBatch({ endsIteration: true })
    await batch.settle(
      database.write(async (tx) => {
        await batch.write(tx)
      }),
    )
  }

  test('a call counts once for its run and once for its user, at the price of its model', async () => {
    usage.add(call(100, 20))
    await commit()
    usage.add(call(200, 30))
    await commit()
    expect(await stored()).toEqual({
      run: [300, 50, 2],
      user: { tokens: 350, usd: expect.closeTo(0.0004) },
    })
    expect(await usage.total()).toMatchObject({ prompt_tokens: 300, completion_tokens: 50 })
  })

  test('a batch whose commit was not confirmed is not counted again by the retry', async () => {
    usage.add(call(100, 20))
    const batch = await usage.nextBatch()
    let others = 0
    const other = async (): Promise<void> => {
      others += 1
    }
    await database.write((tx) => batch.write(tx, {}, other))
    await database.write((tx) => batch.write(tx, {}, other))
    expect(others).toBe(1)
    expect(await stored()).toMatchObject({ run: [100, 20, 0], user: { tokens: 120 } })
  })

  test('the usage of a transaction that failed is part of the next batch', async () => {
    usage.add(call(100, 20))
    const failed = await usage.nextBatch()
    const transaction = database.write(async (tx) => {
      await failed.write(tx)
      throw new Error('the disk is full')
    })
    await expect(failed.settle(transaction)).rejects.toThrow('the disk is full')
    expect(await stored()).toMatchObject({ user: { tokens: 0 } })
    usage.add(call(1, 1))
    await commit()
    expect(await stored()).toMatchObject({ run: [101, 21, 1], user: { tokens: 122 } })
  })

  test("a call outside the answer counts towards the user and the run's limit, but not towards the answer", async () => {
    usage.addExtra(call(990, 5))
    expect(await usage.isBudgetLeft()).toBe(true)
    usage.addExtra(call(5, 0))
    expect(await usage.isBudgetLeft()).toBe(false)
    expect(usage.reachedLimit()).toMatchObject({
      reason: 'run_tokens_used_up',
      params: { limit: 1_000 },
    })
    await commit()
    expect(await stored()).toMatchObject({ run: [0, 0, 1], user: { tokens: 1_000 } })
  })

  test('a call of a model that was removed or has no price costs nothing', async () => {
    usage.add(call(100, 20, 'removed'))
    usage.add(call(100, 20, 'free'))
    await commit()
    expect((await stored()).user).toEqual({ tokens: 240, usd: 0 })
  })

  test('usage refused by a run that has ended is stored separately, once', async () => {
    usage.add(call(100, 20))
    await database.write((tx) =>
      store.runs.end(tx, run.id, { status: 'failed', endedAt: now(), attempt: run.attempt }),
    )
    await expect(commit()).rejects.toThrow()
    await usage.storeAlone()
    await usage.storeAlone()
    expect((await stored()).user.tokens).toBe(120)
    expect(usage.dropPending()).toBe(0)
  })
})
