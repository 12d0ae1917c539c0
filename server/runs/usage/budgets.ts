// Enforces the token and cost budgets of users. Each model call reserves its estimated usage, so that parallel runs share a budget.
import pLimit, { type LimitFunction } from 'p-limit'
import { dayOf } from '../../db/repositories/token-usage.ts'
import { type AppError, appError } from '../../errors.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { ChatDependencies } from '../dependencies.ts'

/** Tokens, and their cost in one currency ('' when the model has no price). */
export interface Amount {
  tokens: number
  cost: number
  currency: string
}

/** What a run has reserved for model calls in progress, plus what it has used but not stored yet. */
export type UnstoredUsage = () => Amount

export interface Budgets {
  /** Includes the run's unstored usage in the user's budget until `release` is called. */
  join(userId: UserId, unstored: UnstoredUsage): { admitCall: AdmitCall; release(): void }
}

/**
 * Whether another model call may start. If so, calls `reserve` before the next call of the same user is considered. One call
 * can exceed the budget, because its usage is not known in advance, but never two at the same time.
 */
type AdmitCall = (reserve: () => void) => Promise<boolean>

type Dependencies = {
  store: { tokenUsage: Pick<ChatDependencies['store']['tokenUsage'], 'total'> }
  settings: Pick<ChatDependencies['settings'], 'userTokensPerDay' | 'userCostPerMonth'>
} & Pick<ChatDependencies, 'now'>

/**
 * Reservations are kept in memory, because one process performs all runs of a store and no call outlives it. Without
 * configured budgets, nothing is queried.
 */
export function createBudgets(dependencies: Dependencies): Budgets {
  const { userTokensPerDay, userCostPerMonth } = dependencies.settings
  const isBounded = userTokensPerDay !== undefined || userCostPerMonth !== undefined
  const users = new Map<UserId, { runs: Set<UnstoredUsage>; queue: LimitFunction }>()
  return {
    join(userId, unstored) {
      if (!isBounded) return { admitCall: async () => true, release() {} }
      const user = users.get(userId) ?? { runs: new Set(), queue: pLimit(1) }
      users.set(userId, user)
      user.runs.add(unstored)
      return {
        admitCall: (reserve) =>
          user.queue(async () => {
            // Read before the stored total: usage that is stored in between counts twice for a moment, but is never missed.
            const amounts = [...user.runs].map((amountOf) => amountOf())
            if ((await exceededBudget(userId, dependencies, amounts)) !== null) return false
            reserve()
            return true
          }),
        release() {
          user.runs.delete(unstored)
          if (user.runs.size === 0 && users.get(userId) === user) users.delete(userId)
        },
      }
    },
  }
}

/**
 * The refusal that names the budget which the user has used up; null when there is none.
 * @param unstored amounts that count as used although they are not stored.
 */
export async function exceededBudget(
  userId: UserId,
  { store, settings, now }: Dependencies,
  unstored: readonly Amount[] = [],
): Promise<AppError | null> {
  const { userTokensPerDay, userCostPerMonth } = settings
  const today = dayOf(now())
  if (userTokensPerDay !== undefined) {
    const { tokens } = await store.tokenUsage.total(userId, { from: today, to: today })
    if (unstored.reduce((sum, amount) => sum + amount.tokens, tokens) >= userTokensPerDay)
      return appError('tokens_per_day_used_up', { limit: userTokensPerDay })
  }
  if (userCostPerMonth !== undefined) {
    const { cost } = await store.tokenUsage.total(userId, {
      from: `${today.slice(0, 8)}01`,
      to: today,
    })
    for (const amount of unstored)
      if (amount.currency !== '')
        cost.set(amount.currency, (cost.get(amount.currency) ?? 0) + amount.cost)
    // Prices may be in several currencies; the limit applies to each.
    if ([...cost.values()].some((spent) => spent >= userCostPerMonth))
      return appError('cost_per_month_used_up')
  }
  return null
}
