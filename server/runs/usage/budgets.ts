// What users may still spend: a model call sets aside what it is likely to use, so that runs side by side share one budget.
import pLimit, { type LimitFunction } from 'p-limit'
import { dayOf } from '../../db/repositories/token-usage.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { ChatDependencies } from '../dependencies.ts'

/** Tokens, and money in one currency ('' where the model has no price). */
export interface Amount {
  tokens: number
  cost: number
  currency: string
}

/** A run that calls models: what it has set aside for calls under way, and has used but not stored yet. */
export type Spender = () => Amount

export interface Budgets {
  /** What this run sets aside counts from now on until `leave` is called. */
  join(userId: UserId, spender: Spender): { claim: Claim; leave(): void }
}

/**
 * Whether one more model call may begin; if so `setAside` is called, before anybody else of the user is judged. The call
 * itself may go beyond a budget by what it uses, which nobody knows before; no second one does at the same time.
 */
type Claim = (setAside: () => void) => Promise<boolean>

type Dependencies = {
  store: { tokenUsage: Pick<ChatDependencies['store']['tokenUsage'], 'spent'> }
  settings: Pick<ChatDependencies['settings'], 'userTokensPerDay' | 'userCostPerMonth'>
} & Pick<ChatDependencies, 'now'>

/**
 * Kept in memory: one process performs all runs of a store, and no call outlives it. Without budgets nothing is looked up.
 */
export function createBudgets(dependencies: Dependencies): Budgets {
  const { userTokensPerDay, userCostPerMonth } = dependencies.settings
  const isBounded = userTokensPerDay !== undefined || userCostPerMonth !== undefined
  const users = new Map<UserId, { spenders: Set<Spender>; inTurn: LimitFunction }>()
  return {
    join(userId, spender) {
      if (!isBounded) return { claim: async () => true, leave() {} }
      const user = users.get(userId) ?? { spenders: new Set(), inTurn: pLimit(1) }
      users.set(userId, user)
      user.spenders.add(spender)
      return {
        claim: (setAside) =>
          user.inTurn(async () => {
            // Counted before the sum: what is stored meanwhile counts twice for a moment, never not at all.
            const aside = [...user.spenders].map((amountOf) => amountOf())
            if ((await exceededBudget(userId, dependencies, aside)) !== null) return false
            setAside()
            return true
          }),
        leave() {
          user.spenders.delete(spender)
          if (user.spenders.size === 0 && users.get(userId) === user) users.delete(userId)
        },
      }
    },
  }
}

/** Which budget the user has used up, as a text for them; null when none is. `aside` counts as used. */
export async function exceededBudget(
  userId: UserId,
  { store, settings, now }: Dependencies,
  aside: readonly Amount[] = [],
): Promise<string | null> {
  const { userTokensPerDay, userCostPerMonth } = settings
  const today = dayOf(now())
  if (userTokensPerDay !== undefined) {
    const { tokens } = await store.tokenUsage.spent(userId, { from: today, to: today })
    if (aside.reduce((sum, amount) => sum + amount.tokens, tokens) >= userTokensPerDay)
      return `Your ${userTokensPerDay} tokens for today are used up. They are renewed at midnight UTC.`
  }
  if (userCostPerMonth !== undefined) {
    const { cost } = await store.tokenUsage.spent(userId, {
      from: `${today.slice(0, 8)}01`,
      to: today,
    })
    for (const amount of aside)
      if (amount.currency !== '')
        cost.set(amount.currency, (cost.get(amount.currency) ?? 0) + amount.cost)
    // Prices may be in several currencies; the limit holds for each.
    if ([...cost.values()].some((spent) => spent >= userCostPerMonth))
      return 'Your budget for this month is used up. It is renewed on the first day of next month (UTC).'
  }
  return null
}
