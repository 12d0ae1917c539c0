// What a run has used: tokens summed over its rounds, booked once to user, hour and model.
import type { Writer } from '../db/database.ts'
import type { NewRun, RunRow } from '../db/repositories/runs.ts'
import { dayOf } from '../db/repositories/token-usage.ts'
import { MAX_INTEGER } from '../protocol/bounds.ts'
import type { Usage } from '../protocol/run-event.ts'
import type { ChatDependencies } from './dependencies.ts'

interface Booking {
  model: string
  promptTokens: number
  completionTokens: number
}

/**
 * @param patch what else changes in the run's row at that moment.
 * @returns false when the transaction was committed before and only its confirmation was lost: nothing is to be added.
 * @throws RunOver when the run has ended or another attempt has it.
 */
export type BooksWrite = (tx: Writer, patch?: Partial<NewRun>) => Promise<boolean>

export type Bookkeeping = ReturnType<typeof createBookkeeping>

export function createBookkeeping(
  run: RunRow,
  { store, database, settings, catalog, now }: ChatDependencies,
) {
  let { promptTokens, completionTokens, round, revision: lastRevision } = run
  /** Of calls that are no part of the answer; they count toward the run's budget. */
  let asideTokens = 0
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
      promptTokens = bounded(promptTokens + usage.prompt_tokens)
      completionTokens = bounded(completionTokens + usage.completion_tokens)
      pending.push({
        model: model === '' ? run.model : model,
        promptTokens: usage.prompt_tokens,
        completionTokens: usage.completion_tokens,
      })
    },

    /** Tokens that were paid for but are no part of the answer (a title, a summary). */
    addAside(usage: { prompt: number; completion: number; model: string }): void {
      if (usage.prompt + usage.completion === 0) return
      asideTokens += usage.prompt + usage.completion
      pending.push({
        model: usage.model === '' ? run.model : usage.model,
        promptTokens: usage.prompt,
        completionTokens: usage.completion,
      })
    },

    /**
     * Has `store` store the run's sums together with what they were used for: the write it is given adds what was not
     * added yet, once, however often its transaction is tried. What could not be stored is part of the next write.
     */
    async storeWith(
      endsRound: boolean,
      store: (write: BooksWrite) => Promise<void>,
    ): Promise<void> {
      const bookings = pending
      pending = []
      if (endsRound) round += 1
      try {
        await store(await writeOf(bookings))
      } catch (error) {
        pending.unshift(...bookings)
        throw error
      }
    },

    /** Adds what was not added yet where the run itself takes nothing more. */
    async storeAside(): Promise<void> {
      const bookings = await priced(pending)
      if (bookings.length === 0) return
      await database.write(async (tx) => {
        for (const booking of bookings)
          await store.tokenUsage.add(tx, now(), { userId: run.userId, ...booking })
      })
      pending = []
    },

    /** Gives up what could not be stored; answers how many tokens that are. */
    drop(): number {
      const tokens = pending.reduce((sum, one) => sum + one.promptTokens + one.completionTokens, 0)
      pending = []
      return tokens
    },

    /** Whether the model may be asked again, for whatever it is. */
    async isBudgetLeft(): Promise<boolean> {
      const spent = promptTokens + completionTokens + asideTokens
      if (settings.runTokens !== undefined && spent >= settings.runTokens) return false
      return (await exceededBudget(run.userId, { store, settings, now })) === null
    },
  }

  async function writeOf(bookings: readonly Booking[]): Promise<BooksWrite> {
    const sums = { promptTokens, completionTokens, round }
    const moment = now()
    const added = await priced(bookings)
    /** Numbered when it is first run: writes of a run are run in the order in which they are stored. */
    let revision: number | null = null
    return async (tx, patch = {}) => {
      if (revision === null) {
        lastRevision += 1
        revision = lastRevision
      }
      if (!(await store.runs.writeOnce(tx, run, revision, { ...sums, ...patch }))) return false
      for (const booking of added)
        await store.tokenUsage.add(tx, moment, { userId: run.userId, ...booking })
      return true
    }
  }

  function priced(bookings: readonly Booking[]) {
    return Promise.all(
      bookings.map(async (booking) => ({ ...booking, ...(await costOf(booking)) })),
    )
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

/** The sums are stored in integer columns. */
const bounded = (tokens: number): number => Math.min(tokens, MAX_INTEGER)

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
