// Counts the tokens of a run: totals over its iterations, and exactly one addition to the user's usage per model call.
import type { CallUsage } from '../../agent/run-scope.ts'
import type { Writer } from '../../db/database.ts'
import type { NewRun, RunRow } from '../../db/repositories/runs.ts'
import { MAX_INTEGER } from '../../protocol/bounds.ts'
import type { Usage } from '../../protocol/run-event.ts'
import type { ChatDependencies } from '../dependencies.ts'
import type { Budgets } from './budgets.ts'

/** The usage of one model call. */
interface ModelUsage {
  model: string
  promptTokens: number
  completionTokens: number
}

/** The usage that one transaction stores. */
export interface UsageBatch {
  /**
   * Stores the totals and the new usage, once, however often the transaction is retried.
   * @param patch further changes of the run's row.
   * @returns false when an earlier try was committed and only its confirmation was lost; then nothing else must be written.
   * @throws RunOver when the run has ended or another attempt performs it.
   */
  write(tx: Writer, patch?: Partial<NewRun>): Promise<boolean>
  /** Waits for the transaction that contains `write`. If it fails, the usage becomes part of the next batch. */
  settle(transaction: Promise<void>): Promise<void>
}

/** Estimated usage of the first call of a run. Later calls are estimated by the previous one. */
const FIRST_CALL = { promptTokens: 2_000, completionTokens: 1_000 }

export type RunUsage = ReturnType<typeof createRunUsage>

/** Create one per attempt of a run; call `release` when the run has ended. */
export function createRunUsage(
  run: RunRow,
  { store, database, settings, catalog, budgets, now }: ChatDependencies & { budgets: Budgets },
) {
  let { promptTokens, completionTokens, iteration, revision: lastRevision } = run
  /** Of model calls that are not part of the answer; they count toward the run's budget. */
  let extraTokens = 0
  /** Not yet stored. */
  let pending: ModelUsage[] = []
  /** Of `pending` and of the batches being stored. */
  let unstoredTokens = 0
  /** Admitted model calls whose usage is not known yet. A failed call may never report it, but it also ends the run. */
  let openCalls = 0
  let estimate: ModelUsage = { model: run.model, ...FIRST_CALL }
  let costPerToken = { currency: '', cost: 0 }
  const budget = budgets.join(run.userId, () => {
    const tokens = openCalls * tokensOf(estimate) + unstoredTokens
    return { tokens, currency: costPerToken.currency, cost: costPerToken.cost * tokens }
  })

  const addPending = (entry: ModelUsage): void => {
    openCalls = Math.max(0, openCalls - 1)
    if (tokensOf(entry) === 0) return
    estimate = entry
    unstoredTokens += tokensOf(entry)
    pending.push(entry)
  }

  return {
    total: (): Usage => ({
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    }),

    /** Adds the usage of an iteration. */
    add({ usage, model }: CallUsage): void {
      promptTokens = bounded(promptTokens + usage.prompt_tokens)
      completionTokens = bounded(completionTokens + usage.completion_tokens)
      addPending(entryOf({ usage, model }))
    },

    /** Adds usage that is not part of the answer, such as that of a title or summary. */
    addExtra({ usage, model }: CallUsage): void {
      extraTokens += usage.total_tokens
      addPending(entryOf({ usage, model }))
    },

    /** Takes the totals and the unstored usage, to store them in the transaction that stores what they were used for. */
    async takeBatch({ endsIteration = false } = {}): Promise<UsageBatch> {
      const entries = pending
      pending = []
      if (endsIteration) iteration += 1
      const settle = async (transaction: Promise<unknown>): Promise<void> => {
        try {
          await transaction
          for (const entry of entries) unstoredTokens -= tokensOf(entry)
        } catch (error) {
          pending.unshift(...entries)
          throw error
        }
      }
      try {
        return { write: await writeOf(entries), settle }
      } catch (error) {
        pending.unshift(...entries)
        throw error
      }
    },

    /** Stores the pending usage of the user when the run's row accepts no more writes. */
    async storeAlone(): Promise<void> {
      const entries = await priced(pending)
      if (entries.length === 0) return
      await database.write(async (tx) => {
        for (const entry of entries)
          await store.tokenUsage.add(tx, now(), { userId: run.userId, ...entry })
      })
      pending = []
      unstoredTokens = 0
    },

    /** Discards usage that could not be stored; returns the number of tokens. */
    dropPending(): number {
      const tokens = pending.reduce((sum, one) => sum + one.promptTokens + one.completionTokens, 0)
      pending = []
      unstoredTokens = 0
      return tokens
    },

    /**
     * Whether a model call may start, for whatever purpose. If so, its estimated usage is reserved until `add` or `addExtra`
     * reports the actual usage.
     */
    async isBudgetLeft(): Promise<boolean> {
      const sum = promptTokens + completionTokens + extraTokens
      if (settings.runTokens !== undefined && sum >= settings.runTokens) return false
      if (settings.userCostPerMonth !== undefined) {
        const { currency, cost } = await costOf(estimate)
        costPerToken = { currency, cost: cost / tokensOf(estimate) }
      }
      return await budget.admitCall(() => {
        openCalls += 1
      })
    },

    /** Releases the reservations; call it when the run has ended. */
    release: budget.release,
  }

  function entryOf({ usage, model }: CallUsage): ModelUsage {
    return {
      model: model === '' ? run.model : model,
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
    }
  }

  async function writeOf(entries: readonly ModelUsage[]): Promise<UsageBatch['write']> {
    const totals = { promptTokens, completionTokens, iteration }
    const moment = now()
    const added = await priced(entries)
    /** Assigned on the first execution, because writes are executed in the order in which they are stored. */
    let revision: number | null = null
    return async (tx, patch = {}) => {
      if (revision === null) {
        lastRevision += 1
        revision = lastRevision
      }
      if (!(await store.runs.writeOnce(tx, run, revision, { ...totals, ...patch }))) return false
      for (const entry of added)
        await store.tokenUsage.add(tx, moment, { userId: run.userId, ...entry })
      return true
    }
  }

  function priced(entries: readonly ModelUsage[]) {
    return Promise.all(entries.map(async (entry) => ({ ...entry, ...(await costOf(entry)) })))
  }

  async function costOf(entry: ModelUsage): Promise<{ currency: string; cost: number }> {
    // A model that has been removed has no price.
    const price = await catalog.resolve(entry.model).then(
      ({ price }) => price,
      () => null,
    )
    if (price === null) return { currency: '', cost: 0 }
    const millionths = entry.promptTokens * price.input + entry.completionTokens * price.output
    return { currency: price.currency, cost: millionths / 1e6 }
  }
}

const tokensOf = (entry: Pick<ModelUsage, 'promptTokens' | 'completionTokens'>): number =>
  entry.promptTokens + entry.completionTokens

/** The totals are stored in integer columns. */
const bounded = (tokens: number): number => Math.min(tokens, MAX_INTEGER)
