// Budgets of users: parallel runs share them, and each call in progress counts with its estimate.
import { expect, test } from 'vitest'
import { NO_SHARED_QUOTA, type SharedQuota } from '../../../../server/protocol/accounts/quota.ts'
import type { UserId } from '../../../../server/protocol/ids.ts'
import type { SpendingLimit } from '../../../../server/runs/dependencies.ts'
import {
  type Amount,
  createBudgets,
  exceededBudget,
  type UnstoredUsage,
} from '../../../../server/runs/usage/budgets.ts'
import { rounds, SEED } from '../../../support/random.ts'

const kim = 'kim' as UserId
const lee = 'lee' as UserId
const now = () => new Date('2026-03-31T12:00:00Z')

const own = (userId: UserId, quota: Partial<SharedQuota>): SpendingLimit => ({
  users: [userId],
  group: null,
  quota: { ...NO_SHARED_QUOTA, ...quota },
})

/** Budgets over what is `stored` by day; `queries` counts the reads. */
function budgetsWith(
  quota: Partial<SharedQuota>,
  stored: { day: string; tokens?: number; cost?: [string, number] }[] = [],
) {
  let queries = 0
  const dependencies = {
    now,
    access: {
      spendingLimits: (userId: UserId) =>
        Object.keys(quota).length === 0 ? [] : [own(userId, quota)],
    },
    store: {
      tokenUsage: {
        async total(_users: readonly UserId[], { from, to }: { from: string; to: string }) {
          queries += 1
          const days = stored.filter(({ day }) => day >= from && day <= to)
          return {
            tokens: days.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
            cost: new Map(days.flatMap(({ cost }) => (cost === undefined ? [] : [cost]))),
          }
        },
      },
    },
  }
  return { budgets: createBudgets(dependencies), dependencies, queries: () => queries }
}

/** A run whose calls are estimated at `tokens` each. */
function runOf(tokens: number): { unstored: UnstoredUsage; reserve: () => void; end: () => void } {
  let open = 0
  return {
    unstored: (): Amount => ({ tokens: open * tokens, cost: 0, currency: '' }),
    reserve: () => {
      open += 1
    },
    end: () => {
      open = 0
    },
  }
}

test('of many simultaneous runs, only as many may call the model as the budget allows', async () => {
  const { budgets } = budgetsWith({ tokens_per_day: 1_000 }, [{ day: '2026-03-31', tokens: 500 }])
  const runs = Array.from({ length: 20 }, () => runOf(200))
  const joined = runs.map((run) => ({ run, budget: budgets.join(kim, run.unstored) }))
  const admitted = await Promise.all(joined.map(({ run, budget }) => budget.admitCall(run.reserve)))
  // 500 stored, then 200, 400 and 600 estimated: the third call is the one that may exceed the budget.
  expect(admitted.filter((isAdmitted) => isAdmitted)).toHaveLength(3)
})

test('a call that has ended and a run that was released free their share', async () => {
  const { budgets } = budgetsWith({ tokens_per_day: 100 })
  const [first, second, third] = [runOf(100), runOf(100), runOf(100)]
  const one = budgets.join(kim, first.unstored)
  const two = budgets.join(kim, second.unstored)
  expect(await one.admitCall(first.reserve)).toBe(true)
  expect(await two.admitCall(second.reserve)).toBe(false)
  first.end()
  expect(await two.admitCall(second.reserve)).toBe(true)
  two.release()
  expect(await budgets.join(kim, third.unstored).admitCall(third.reserve)).toBe(true)
})

test("one user's calls do not count for another", async () => {
  const { budgets } = budgetsWith({ tokens_per_day: 100 })
  const [mine, theirs] = [runOf(100), runOf(100)]
  expect(await budgets.join(kim, mine.unstored).admitCall(mine.reserve)).toBe(true)
  expect(await budgets.join(lee, theirs.unstored).admitCall(theirs.reserve)).toBe(true)
})

test('without budgets nothing is read from the store', async () => {
  const { budgets, queries } = budgetsWith({})
  expect(await budgets.join(kim, runOf(1).unstored).admitCall(() => {})).toBe(true)
  expect(queries()).toBe(0)
})

test('tokens count per day and cost per calendar month, separately for each currency', async () => {
  const stored = [
    { day: '2026-02-28', tokens: 900, cost: ['USD', 90] as [string, number] },
    { day: '2026-03-01', tokens: 900, cost: ['USD', 6] as [string, number] },
    { day: '2026-03-31', tokens: 99, cost: ['CNY', 9] as [string, number] },
  ]
  const { dependencies } = budgetsWith({}, stored)
  const limits = [own(kim, { tokens_per_day: 100, cost_per_month: 10 })]
  expect(await exceededBudget(limits, dependencies)).toBeNull()
  const unstored = (amount: Partial<Amount>) => (): Amount[] => [
    { tokens: 0, cost: 0, currency: '', ...amount },
  ]
  const after = (amount: Partial<Amount>, given = limits) =>
    exceededBudget(given, dependencies, unstored(amount))
  expect(await after({ tokens: 1 })).toMatchObject({
    reason: 'tokens_per_day_used_up',
    params: { limit: 100, renews_at: '2026-04-01T00:00:00.000Z' },
    retryAfter: 12 * 60 * 60,
  })
  expect(await after({ cost: 3.5, currency: 'USD' })).toBeNull()
  expect(await after({ cost: 4, currency: 'USD' })).toMatchObject({
    reason: 'cost_per_month_used_up',
  })
  expect(await after({}, [own(kim, { tokens_per_month: 999 })])).toMatchObject({
    reason: 'tokens_per_month_used_up',
  })
  expect(await after({}, [own(kim, { cost_per_day: 9 })])).toMatchObject({
    reason: 'cost_per_day_used_up',
  })
  const shared = { ...own(kim, { tokens_per_day: 99 }), group: 'Editors' }
  expect(await after({}, [own(kim, { tokens_per_day: 100 }), shared])).toMatchObject({
    reason: 'group_tokens_used_up',
    params: { group: 'Editors', limit: 99 },
  })
})

test(`parallel runs of several users exceed no limit by more than one call each, in any order (SEED=${SEED})`, async () => {
  let refused = 0
  for (const { random, what } of rounds(60)) {
    const users = ['ann', 'bob', 'cyd'] as UserId[]
    const spent = new Map<UserId, number>(users.map((id) => [id, 0]))
    const sum = (ids: readonly UserId[]) => ids.reduce((all, id) => all + (spent.get(id) ?? 0), 0)
    const limits: SpendingLimit[] = [
      ...users.flatMap((id) =>
        random.below(3) === 0 ? [] : [own(id, { tokens_per_day: 1 + random.below(3_000) })],
      ),
      {
        users: users.slice(0, 2),
        group: 'shared',
        quota: { ...NO_SHARED_QUOTA, tokens_per_month: 1 + random.below(4_000) },
      },
    ]
    const budgets = createBudgets({
      now,
      access: { spendingLimits: (id) => limits.filter((limit) => limit.users.includes(id)) },
      store: {
        tokenUsage: {
          async total(ids) {
            for (let turns = random.below(4); turns > 0; turns -= 1) await Promise.resolve()
            return { tokens: sum(ids), cost: new Map() }
          },
        },
      },
    })
    const largestCall = 400
    const isExact = random.below(2) === 0
    const work = Array.from({ length: 12 }, async () => {
      const id = random.pick(users)
      let open = 0
      let unstored = 0
      const budget = budgets.join(id, () => ({
        tokens: open * (isExact ? largestCall : 200) + unstored,
        cost: 0,
        currency: '',
      }))
      for (let call = 0; call < 20; call += 1) {
        if (
          !(await budget.admitCall(() => {
            open += 1
          }))
        ) {
          refused += 1
          break
        }
        for (let turns = random.below(6); turns > 0; turns -= 1) await Promise.resolve()
        open -= 1
        const used = isExact ? largestCall : 1 + random.below(largestCall)
        unstored += used
        await Promise.resolve()
        spent.set(id, (spent.get(id) ?? 0) + used)
        unstored -= used
      }
      budget.release()
    })
    await Promise.all(work)
    for (const { users: ids, group, quota } of limits) {
      const limit = quota.tokens_per_day ?? quota.tokens_per_month ?? 0
      // Calls that end as estimated overspend by one at most; wrong estimates by one of each run.
      const beyond = (isExact ? 1 : work.length) * largestCall
      expect(sum(ids) - limit, `${what} ${group ?? ids.join()}`).toBeLessThan(beyond)
    }
  }
  expect(refused).toBeGreaterThan(0)
})
