// The usage of a run: tokens summed over its iterations, added once to those of the user, by hour and model.
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

/**
 * @param patch what else changes in the run's row at that moment.
 * @returns false when the transaction was committed before and only its confirmation was lost: nothing is to be added.
 * @throws RunOver when the run has ended or another attempt has it.
 */
export type UsageWrite = (tx: Writer, patch?: Partial<NewRun>) => Promise<boolean>

/** What the first call of a run is taken to use; later ones as much as the one before. */
const FIRST_CALL = { promptTokens: 2_000, completionTokens: 1_000 }

export type RunUsage = ReturnType<typeof createRunUsage>

export function createRunUsage(
  run: RunRow,
  { store, database, settings, catalog, budgets, now }: ChatDependencies & { budgets: Budgets },
) {
  let { promptTokens, completionTokens, round, revision: lastRevision } = run
  /** Of model calls that are no part of the answer; they count toward the run's budget. */
  let extraTokens = 0
  /** Not yet stored. */
  let pending: ModelUsage[] = []
  /** Of `pending` and of what is just being stored. */
  let unstoredTokens = 0
  /** Model calls that were admitted whose usage is not known yet. One that fails may never do so: the run ends then. */
  let openCalls = 0
  let likely: ModelUsage = { model: run.model, ...FIRST_CALL }
  let costPerToken = { currency: '', cost: 0 }
  const budget = budgets.join(run.userId, () => {
    const tokens = openCalls * tokensOf(likely) + unstoredTokens
    return { tokens, currency: costPerToken.currency, cost: costPerToken.cost * tokens }
  })

  const used = (entry: ModelUsage): void => {
    openCalls = Math.max(0, openCalls - 1)
    if (tokensOf(entry) === 0) return
    likely = entry
    unstoredTokens += tokensOf(entry)
    pending.push(entry)
  }

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
      used(entryOf({ usage, model }))
    },

    /** Tokens that were paid for but are no part of the answer (a title, a summary). */
    addExtra({ usage, model }: CallUsage): void {
      extraTokens += usage.total_tokens
      used(entryOf({ usage, model }))
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
        for (const entry of entries) unstoredTokens -= tokensOf(entry)
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
      unstoredTokens = 0
    },

    /** Gives up what could not be stored; returns how many tokens that is. */
    drop(): number {
      const tokens = pending.reduce((sum, one) => sum + one.promptTokens + one.completionTokens, 0)
      pending = []
      unstoredTokens = 0
      return tokens
    },

    /**
     * Whether the model may be called, for whatever it is. If so, what the call is likely to use is set aside until `add`
     * or `addExtra` gets what it did use.
     */
    async isBudgetLeft(): Promise<boolean> {
      const sum = promptTokens + completionTokens + extraTokens
      if (settings.runTokens !== undefined && sum >= settings.runTokens) return false
      if (settings.userCostPerMonth !== undefined) {
        const { currency, cost } = await costOf(likely)
        costPerToken = { currency, cost: cost / tokensOf(likely) }
      }
      return await budget.claim(() => {
        openCalls += 1
      })
    },

    /** The run has ended: nothing is set aside for it any more. */
    leave: budget.leave,
  }

  function entryOf({ usage, model }: CallUsage): ModelUsage {
    return {
      model: model === '' ? run.model : model,
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
    }
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

const tokensOf = (entry: Pick<ModelUsage, 'promptTokens' | 'completionTokens'>): number =>
  entry.promptTokens + entry.completionTokens

/** The sums are stored in integer columns. */
const bounded = (tokens: number): number => Math.min(tokens, MAX_INTEGER)
