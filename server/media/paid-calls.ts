// Calls of services for speech and images: reserved in the user's budget, and counted in the statistics like calls of models.
import type { Database } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import type { AppError } from '../errors.ts'
import { type Amount, type CallBudgets, reserveCall } from '../lib/reserve-call.ts'
import type { UserId } from '../protocol/ids.ts'

/** What a call took. */
export interface Charge {
  input: number
  output: number
  cost: number
  currency: string
}

/** Makes calls that cost something. */
export interface PaidCalls {
  /**
   * Runs a call whose estimated amount is reserved, and counts what it took. A call that fails costs nothing; of one that
   * `signal` aborts the estimate is counted, because the service goes on with it.
   * @throws AppError with the limit that is used up.
   */
  pay<T>(
    userId: UserId,
    model: string,
    estimate: Amount,
    signal: AbortSignal,
    call: () => Promise<{ result: T; charge: Charge }>,
  ): Promise<T>
}

/** @param dependencies.budgets those of users for all calls of models. */
export function createPaidCalls({
  database,
  store,
  budgets,
  now,
}: {
  database: Pick<Database, 'write'>
  store: Pick<Store, 'tokenUsage'>
  budgets: CallBudgets<UserId, AppError>
  now(): Date
}): PaidCalls {
  const count = (userId: UserId, model: string, charge: Charge): Promise<void> =>
    database.write((tx) =>
      store.tokenUsage.add(tx, now(), {
        userId,
        model,
        promptTokens: charge.input,
        completionTokens: charge.output,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        cost: charge.cost,
        currency: charge.currency,
      }),
    )

  return {
    async pay(userId, model, estimate, signal, call) {
      let refusal: AppError | undefined
      const release = await reserveCall(budgets, userId, estimate, (given) => {
        refusal = given
      })
      if (release === null) throw refusal ?? new Error('a refused call has no reason')
      try {
        const { result, charge } = await call()
        await count(userId, model, charge)
        return result
      } catch (error) {
        const { tokens: input, cost, currency } = estimate
        if (signal.aborted) await count(userId, model, { input, output: 0, cost, currency })
        throw error
      } finally {
        release()
      }
    },
  }
}
