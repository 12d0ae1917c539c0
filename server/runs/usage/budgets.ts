// Enforces what users and groups may spend on model calls. Each call reserves its estimated usage, so that parallel runs share a limit.
import pLimit, { type LimitFunction } from 'p-limit'
import { dayOf } from '../../db/repositories/accounts/token-usage.ts'
import { type AppError, appError } from '../../errors.ts'
import type { SharedQuota } from '../../protocol/accounts/quota.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { ChatDependencies, RunNotices, SpendingLimit } from '../dependencies.ts'

/** Tokens, and their cost in one currency ('' when the model has no price). */
export interface Amount {
  tokens: number
  cost: number
  currency: string
}

/** What a run, or a call outside runs, has reserved for calls in progress, plus its usage that is not stored yet. */
export type UnstoredUsage = () => Amount

/** Create one per server. Counts stored and not yet stored usage together. */
export interface Budgets {
  /**
   * Includes the run's unstored usage in the user's budget until `release` is called.
   * @param onRefused receives the refusal that names the limit, when a call is not admitted.
   */
  join(
    userId: UserId,
    unstored: UnstoredUsage,
    onRefused?: (refusal: AppError) => void,
  ): { admitCall: AdmitCall; release(): void }
}

/**
 * Resolves to whether another model call may start. If so, calls `reserve` before it considers the next call under the same
 * limit. One call can exceed the limit, because its usage is not known in advance, but never two at the same time. A refusal
 * of a call that is optional is not reported.
 */
type AdmitCall = (reserve: () => void, options?: { isOptional: boolean }) => Promise<boolean>

type Dependencies = {
  store: { tokenUsage: Pick<ChatDependencies['store']['tokenUsage'], 'total'> }
} & Pick<ChatDependencies, 'now'>

/** Whether the quota limits cost, so that the prices of models matter. */
export const limitsCost = (quota: SharedQuota): boolean =>
  quota.cost_per_day !== null || quota.cost_per_month !== null

/**
 * Reservations stay in memory, because one process performs all runs of a store and no call outlives it. For users without
 * limits, nothing is queried.
 */
export function createBudgets(
  dependencies: Dependencies & {
    access: Pick<ChatDependencies['access'], 'spendingLimits'>
    notices?: Pick<RunNotices, 'quotaReached'>
  },
): Budgets {
  const users = new Map<UserId, { runs: Set<UnstoredUsage>; queue: LimitFunction }>()
  /** Calls under a group's shared limit are considered one at a time, whichever member makes them. */
  const shared = pLimit(1)
  return {
    join(userId, unstored, onRefused) {
      const user = users.get(userId) ?? { runs: new Set(), queue: pLimit(1) }
      users.set(userId, user)
      user.runs.add(unstored)
      return {
        async admitCall(reserve, { isOptional } = { isOptional: false }) {
          // Read at each call: limits can change while runs are active.
          const limits = dependencies.access.spendingLimits(userId)
          if (limits.length === 0) {
            reserve()
            return true
          }
          const queue = limits.some(({ group }) => group !== null) ? shared : user.queue
          return await queue(async () => {
            const refusal = await exceededBudget(limits, dependencies, unstoredOf)
            if (refusal === null) {
              reserve()
              return true
            }
            if (isOptional) return false
            onRefused?.(refusal)
            dependencies.notices?.quotaReached(userId, refusal)
            return false
          })
        },
        release() {
          user.runs.delete(unstored)
          if (user.runs.size === 0 && users.get(userId) === user) users.delete(userId)
        },
      }
    },
  }

  function unstoredOf(userIds: readonly UserId[]): Amount[] {
    return userIds.flatMap((id) => [...(users.get(id)?.runs ?? [])].map((amountOf) => amountOf()))
  }
}

/**
 * Returns the refusal that names the limit that is used up; null if none is.
 * @param unstoredOf returns the users' usage that is not stored yet; it counts, too.
 */
export async function exceededBudget(
  limits: readonly SpendingLimit[],
  { store, now }: Dependencies,
  unstoredOf: (userIds: readonly UserId[]) => readonly Amount[] = () => [],
): Promise<AppError | null> {
  const moment = now()
  for (const { users, group, quota } of limits) {
    // Read before the stored total: usage stored in between counts twice for a moment, but is never missed.
    const unstored = unstoredOf(users)
    for (const period of [dayAt(moment), monthAt(moment)] as const) {
      const tokenLimit = quota[`tokens_per_${period.name}`]
      const costLimit = quota[`cost_per_${period.name}`]
      if (tokenLimit === null && costLimit === null) continue
      const { tokens, cost } = await store.tokenUsage.total(users, period)
      const used = unstored.reduce((sum, amount) => sum + amount.tokens, tokens)
      if (tokenLimit !== null && used >= tokenLimit)
        return refusal('tokens', tokenLimit, group, period, moment)
      for (const amount of unstored)
        if (amount.currency !== '')
          cost.set(amount.currency, (cost.get(amount.currency) ?? 0) + amount.cost)
      // Prices may be in several currencies. The limit applies to each.
      const isSpent = costLimit !== null && [...cost.values()].some((spent) => spent >= costLimit)
      if (isSpent) return refusal('cost', costLimit, group, period, moment)
    }
  }
  return null
}

/** Both ends are inclusive. `renewsAt`: when the next period begins. */
interface Period {
  name: 'day' | 'month'
  from: string
  to: string
  renewsAt: Date
}

/** The UTC day of a moment. */
export const dayAt = (moment: Date): Period => ({
  name: 'day',
  from: dayOf(moment),
  to: dayOf(moment),
  renewsAt: new Date(
    Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate() + 1),
  ),
})

/** The UTC month of a moment, up to its day. */
export const monthAt = (moment: Date): Period => ({
  name: 'month',
  from: `${dayOf(moment).slice(0, 8)}01`,
  to: dayOf(moment),
  renewsAt: new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 1)),
})

const REASONS = {
  tokens: { day: 'tokens_per_day_used_up', month: 'tokens_per_month_used_up' },
  cost: { day: 'cost_per_day_used_up', month: 'cost_per_month_used_up' },
} as const
const GROUP_REASONS = { tokens: 'group_tokens_used_up', cost: 'group_cost_used_up' } as const

function refusal(
  what: 'tokens' | 'cost',
  limit: number,
  group: string | null,
  { name, renewsAt }: Period,
  now: Date,
): AppError {
  const retryAfter = Math.ceil((renewsAt.getTime() - now.getTime()) / 1000)
  const params = {
    limit,
    renews_at: renewsAt.toISOString(),
  }
  return group === null
    ? appError(REASONS[what][name], params, { retryAfter })
    : appError(GROUP_REASONS[what], { ...params, group }, { retryAfter })
}
