// Budgets of users: parallel runs share them, and each call in progress counts with its estimate.
import { expect, test } from 'vitest'
import type { UserId } from '../../../../server/protocol/ids.ts'
import {
  type Amount,
  createBudgets,
  exceededBudget,
  type UnstoredUsage,
} from '../../../../server/runs/usage/budgets.ts'

const kim = 'kim' as UserId
const lee = 'lee' as UserId
const now = () => new Date('2026-03-31T12:00:00Z')

/** Budgets over what is `stored` by day; `queries` counts the reads. */
function budgetsWith(
  limits: { userTokensPerDay?: number; userCostPerMonth?: number },
  stored: { day: string; tokens?: number; cost?: [string, number] }[] = [],
) {
  let queries = 0
  const dependencies = {
    now,
    settings: { userTokensPerDay: undefined, userCostPerMonth: undefined, ...limits },
    store: {
      tokenUsage: {
        async total(_user: UserId, { from, to }: { from: string; to: string }) {
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

test('of many runs that ask at once, only as many may call the model as the budget has left', async () => {
  const { budgets } = budgetsWith({ userTokensPerDay: 1_000 }, [{ day: '2026-03-31', tokens: 500 }])
  const runs = Array.from({ length: 20 }, () => runOf(200))
  const joined = runs.map((run) => ({ run, budget: budgets.join(kim, run.unstored) }))
  const admitted = await Promise.all(joined.map(({ run, budget }) => budget.admitCall(run.reserve)))
  // 500 stored, then 200, 400 and 600 estimated: the third call is the one that may exceed the budget.
  expect(admitted.filter((isAdmitted) => isAdmitted)).toHaveLength(3)
})

test('a call that has ended and a run that was released make room again', async () => {
  const { budgets } = budgetsWith({ userTokensPerDay: 100 })
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

test('the calls of one user do not count for another', async () => {
  const { budgets } = budgetsWith({ userTokensPerDay: 100 })
  const [mine, theirs] = [runOf(100), runOf(100)]
  expect(await budgets.join(kim, mine.unstored).admitCall(mine.reserve)).toBe(true)
  expect(await budgets.join(lee, theirs.unstored).admitCall(theirs.reserve)).toBe(true)
})

test('without budgets nothing is read from the store', async () => {
  const { budgets, queries } = budgetsWith({})
  expect(await budgets.join(kim, runOf(1).unstored).admitCall(() => {})).toBe(true)
  expect(queries()).toBe(0)
})

test('tokens count for the day and cost for the calendar month, each currency for itself', async () => {
  const stored = [
    { day: '2026-02-28', tokens: 900, cost: ['USD', 90] as [string, number] },
    { day: '2026-03-01', tokens: 900, cost: ['USD', 6] as [string, number] },
    { day: '2026-03-31', tokens: 99, cost: ['CNY', 9] as [string, number] },
  ]
  const { dependencies } = budgetsWith({ userTokensPerDay: 100, userCostPerMonth: 10 }, stored)
  expect(await exceededBudget(kim, dependencies)).toBeNull()
  const unstored = (amount: Partial<Amount>): Amount[] => [
    { tokens: 0, cost: 0, currency: '', ...amount },
  ]
  expect(await exceededBudget(kim, dependencies, unstored({ tokens: 1 }))).toMatchObject({
    reason: 'tokens_per_day_used_up',
    params: { limit: 100 },
  })
  expect(
    await exceededBudget(kim, dependencies, unstored({ cost: 3.5, currency: 'USD' })),
  ).toBeNull()
  expect(
    await exceededBudget(kim, dependencies, unstored({ cost: 4, currency: 'USD' })),
  ).toMatchObject({ reason: 'cost_per_month_used_up' })
})
