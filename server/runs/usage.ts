// The usage of a run: tokens summed over its iterations, added once to those of the user, by hour and model.
import type { CallUsage } from '../agent/run-scope.ts'
import type { Writer } from '../db/database.ts'
import type { NewRun, RunRow } from '../db/repositories/runs.ts'
import { dayOf } from '../db/repositories/token-usage.ts'
import { MAX_INTEGER } from '../protocol/bounds.ts'
import type { Usage } from '../protocol/run-event.ts'
import type { ChatDependencies } from './dependencies.ts'

/** The usage of one model call. */
interface ModelUsage {
  model: string
  promptTokens: number
  completionTokens: number
}

/**
 * @param patch what else changes in the run's row at that moment.
 * @returns false when the transaction was committed before and only its confirmation was lost: nothing is to be added.
 * @throws RunOver when the run has ended or another attempt has it.
 */
export type UsageWrite = (tx: Writer, patch?: Partial<NewRun>) => Promise<boolean>

export type RunUsage = ReturnType<typeof createRunUsage>

export function createRunUsage(
  run: RunRow,
  { store, database, settings, catalog, now }: ChatDependencies,
) {
  let { promptTokens, completionTokens, round, revision: lastRevision } = run
  /** Of model calls that are no part of the answer; they count toward the run's budget. */
  let extraTokens = 0
  /** Not yet stored. */
  let pending: ModelUsage[] = []

  return {
    total: (): Usage => ({
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    }),

    /** What an iteration used; `model` is the one that answered, '' where it is the run's own. */
    add({ usage, model }: CallUsage): void {
      promptTokens = bounded(promptTokens + usage.prompt_tokens)
      completionTokens = bounded(completionTokens + usage.completion_tokens)
      pending.push({
        model: model === '' ? run.model : model,
        promptTokens: usage.prompt_tokens,
        completionTokens: usage.completion_tokens,
      })
    },

    /** Tokens that were paid for but are no part of the answer (a title, a summary). */
    addExtra({ usage, model }: CallUsage): void {
      if (usage.total_tokens === 0) return
      extraTokens += usage.total_tokens
      pending.push({
        model: model === '' ? run.model : model,
        promptTokens: usage.prompt_tokens,
        completionTokens: usage.completion_tokens,
      })
    },

    /**
     * Has `store` store the run's sums together with what they were used for: the write it is given adds what was not
     * added yet, once, however often its transaction is tried. What could not be stored is part of the next write.
     */
    async storeWith(
      endsIteration: boolean,
      store: (write: UsageWrite) => Promise<void>,
    ): Promise<void> {
      const entries = pending
      pending = []
      if (endsIteration) round += 1
      try {
        await store(await writeOf(entries))
      } catch (error) {
        pending.unshift(...entries)
        throw error
      }
    },

    /** Adds what was not added yet where the run itself takes nothing more. */
    async storeAlone(): Promise<void> {
      const entries = await priced(pending)
      if (entries.length === 0) return
      await database.write(async (tx) => {
        for (const entry of entries)
          await store.tokenUsage.add(tx, now(), { userId: run.userId, ...entry })
      })
      pending = []
    },

    /** Gives up what could not be stored; returns how many tokens that is. */
    drop(): number {
      const tokens = pending.reduce((sum, one) => sum + one.promptTokens + one.completionTokens, 0)
      pending = []
      return tokens
    },

    /** Whether the model may be asked again, for whatever it is. */
    async isBudgetLeft(): Promise<boolean> {
      const used = promptTokens + completionTokens + extraTokens
      if (settings.runTokens !== undefined && used >= settings.runTokens) return false
      return (await exceededBudget(run.userId, { store, settings, now })) === null
    },
  }

  async function writeOf(entries: readonly ModelUsage[]): Promise<UsageWrite> {
    const sums = { promptTokens, completionTokens, round }
    const moment = now()
    const added = await priced(entries)
    /** Numbered when it is first run: writes of a run are run in the order in which they are stored. */
    let revision: number | null = null
    return async (tx, patch = {}) => {
      if (revision === null) {
        lastRevision += 1
        revision = lastRevision
      }
      if (!(await store.runs.writeOnce(tx, run, revision, { ...sums, ...patch }))) return false
      for (const entry of added)
        await store.tokenUsage.add(tx, moment, { userId: run.userId, ...entry })
      return true
    }
  }

  function priced(entries: readonly ModelUsage[]) {
    return Promise.all(entries.map(async (entry) => ({ ...entry, ...(await costOf(entry)) })))
  }

  async function costOf(entry: ModelUsage): Promise<{ currency: string; cost: number }> {
    // A model that is gone by now has no price any more.
    const price = await catalog.resolve(entry.model).then(
      ({ price }) => price,
      () => null,
    )
    if (price === null) return { currency: '', cost: 0 }
    const millionths = entry.promptTokens * price.input + entry.completionTokens * price.output
    return { currency: price.currency, cost: millionths / 1e6 }
  }
}

/** The sums are stored in integer columns. */
const bounded = (tokens: number): number => Math.min(tokens, MAX_INTEGER)

/** Which budget the user has used up, as a text for them; null when none is. */
export async function exceededBudget(
  userId: RunRow['userId'],
  { store, settings, now }: Pick<ChatDependencies, 'store' | 'settings' | 'now'>,
): Promise<string | null> {
  const { userTokensPerDay, userCostPerMonth } = settings
  const today = dayOf(now())
  if (userTokensPerDay !== undefined) {
    const { tokens } = await store.tokenUsage.spent(userId, { from: today, to: today })
    if (tokens >= userTokensPerDay)
      return `Your ${userTokensPerDay} tokens for today are used up. They are renewed at midnight UTC.`
  }
  if (userCostPerMonth !== undefined) {
    const { cost } = await store.tokenUsage.spent(userId, {
      from: `${today.slice(0, 8)}01`,
      to: today,
    })
    // Prices may be in several currencies; the limit holds for each.
    if ([...cost.values()].some((spent) => spent >= userCostPerMonth))
      return 'Your budget for this month is used up. It is renewed on the first day of next month (UTC).'
  }
  return null
}
