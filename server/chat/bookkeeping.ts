// What a run has used: tokens summed over its rounds, booked once to user, hour and model.
import type { Writer } from '../db/database.ts'
import type { NewRun, RunRow } from '../db/repositories/runs.ts'
import { dayOf } from '../db/repositories/token-usage.ts'
import type { Usage } from '../protocol/run-event.ts'
import type { ChatDependencies } from './chat-dependencies.ts'

interface Booking {
  model: string
  promptTokens: number
  completionTokens: number
}

/** @param patch what else changes in the run's row at that moment. */
export type BooksWrite = (tx: Writer, patch?: Partial<NewRun>) => Promise<void>

export type Bookkeeping = ReturnType<typeof createBookkeeping>

export function createBookkeeping(
  run: RunRow,
  { store, settings, catalog, now }: ChatDependencies,
) {
  let { promptTokens, completionTokens, round } = run
  /** Not yet stored. */
  let pending: Booking[] = []

  return {
    usage: (): Usage => ({
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    }),

    /** What a round used; `model` is the one that answered, '' where it is the run's own. */
    add(usage: Usage, model: string): void {
      promptTokens += usage.prompt_tokens
      completionTokens += usage.completion_tokens
      pending.push({
        model: model === '' ? run.model : model,
        promptTokens: usage.prompt_tokens,
        completionTokens: usage.completion_tokens,
      })
    },

    /** Tokens that were paid for but are no part of the answer (a title). */
    addAside(usage: { prompt: number; completion: number; model: string }): void {
      if (usage.prompt + usage.completion === 0) return
      pending.push({
        model: usage.model === '' ? run.model : usage.model,
        promptTokens: usage.prompt,
        completionTokens: usage.completion,
      })
    },

    /**
     * The run's sums, and the write that stores them with `patch` and books what was not booked yet, for the transaction
     * that stores what it was used for. It may be run again when its transaction is tried again; the bookings are in no
     * other write.
     */
    async takeWrite(endsRound: boolean): Promise<BooksWrite> {
      const bookings = pending
      pending = []
      if (endsRound) round += 1
      const sums = { promptTokens, completionTokens, round }
      const moment = now()
      const priced = await Promise.all(
        bookings.map(async (booking) => ({ ...booking, ...(await costOf(booking)) })),
      )
      return async (tx, patch = {}) => {
        await store.runs.update(tx, run.id, { ...sums, ...patch })
        for (const booking of priced)
          await store.tokenUsage.add(tx, moment, { userId: run.userId, ...booking })
      }
    },

    /** Whether another round may begin. */
    async isBudgetLeft(): Promise<boolean> {
      if (settings.runTokens !== undefined && promptTokens + completionTokens >= settings.runTokens)
        return false
      return (await exceededBudget(run.userId, { store, settings, now })) === null
    },
  }

  async function costOf(booking: Booking): Promise<{ currency: string; cost: number }> {
    // A model that is gone by now has no price any more.
    const price = await catalog.resolve(booking.model).then(
      ({ price }) => price,
      () => null,
    )
    if (price === null) return { currency: '', cost: 0 }
    const millionths = booking.promptTokens * price.input + booking.completionTokens * price.output
    return { currency: price.currency, cost: millionths / 1e6 }
  }
}

/** What the user has used up, in words for them; null when there is room. */
export async function exceededBudget(
  userId: RunRow['userId'],
  { store, settings, now }: Pick<ChatDependencies, 'store' | 'settings' | 'now'>,
): Promise<string | null> {
  const { userTokensPerDay, userCostPerMonth } = settings
  const today = dayOf(now())
  if (userTokensPerDay !== undefined) {
    const { tokens } = await store.tokenUsage.spent(userId, { from: today, to: today })
    if (tokens >= userTokensPerDay)
      return `Your ${userTokensPerDay} tokens for today are used up. They begin anew at midnight UTC.`
  }
  if (userCostPerMonth !== undefined) {
    const { cost } = await store.tokenUsage.spent(userId, {
      from: `${today.slice(0, 8)}01`,
      to: today,
    })
    // Prices may be in several currencies; the limit holds for each.
    if ([...cost.values()].some((spent) => spent >= userCostPerMonth))
      return 'Your budget for this month is used up. It begins anew on the first of the next month (UTC).'
  }
  return null
}
