// Counts the tokens of a run: totals over its iterations, and exactly one addition to the user's usage per model call.
import type { CallUsage } from '../../agent/run-scope.ts'
import type { Writer } from '../../db/database.ts'
import { inParallel } from '../../db/in-parallel.ts'
import type { NewRun, RunRow } from '../../db/repositories/runs/runs.ts'
import { type AppError, appError } from '../../errors.ts'
import { MAX_INTEGER } from '../../protocol/bounds.ts'
import type { Price } from '../../protocol/models/catalog.ts'
import { type Usage, usageOfRun } from '../../protocol/runs/usage.ts'
import type { Charge } from '../../tools/spending.ts'
import type { ChatDependencies } from '../dependencies.ts'
import type { Write } from '../group-commit.ts'
import { type Budgets, limitsCost } from './budgets.ts'
import { callCost, type PricedCounts } from './call-cost.ts'

/** The usage of one model call. */
interface ModelUsage extends PricedCounts {
  model: string
  /** The cost in US dollars as reported by the provider, if it reports one. */
  costUsd?: number | undefined
  /** The cost of a request to another paid service, which is not priced like a model. */
  charged?: { currency: string; cost: number }
}

/** The usage that one transaction stores. */
export interface UsageBatch {
  /**
   * Stores the totals and the new usage together with `also`, exactly once, however often the transaction is retried: if an
   * earlier execution was committed and only its confirmation was lost, nothing is written.
   * @param patch further changes of the run's row.
   * @throws RunOver if the run has ended or another attempt performs it.
   */
  write(tx: Writer, patch?: Partial<NewRun>, also?: Write): Promise<void>
  /** Waits for the transaction that contains `write`. If it fails, its usage becomes part of the next batch. */
  settle(transaction: Promise<void>): Promise<void>
}

const NOTHING_ELSE: Write = async () => {}

/** Estimated usage of the first call of a run. Later calls are estimated by the previous one. */
const FIRST_CALL: PricedCounts = {
  promptTokens: 2_000,
  completionTokens: 1_000,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
}

interface Dependencies extends Pick<ChatDependencies, 'store' | 'database' | 'now' | 'observe'> {
  settings: Pick<ChatDependencies['settings'], 'runTokens'>
  access: Pick<ChatDependencies['access'], 'spendingLimits'>
  catalog: { resolve(model: string): Promise<{ price: Price | null }> }
  budgets: Budgets
}

/** The tokens and cost of a run. Create one per attempt. */
export type RunUsage = ReturnType<typeof createRunUsage>

/** Create one per attempt of a run; call `release` when the run has ended. */
export function createRunUsage(
  run: RunRow,
  { store, database, settings, access, catalog, budgets, now, observe }: Dependencies,
) {
  let { promptTokens, completionTokens, cachedTokens, iteration, revision: lastRevision } = run
  const cost: Record<string, number> = { ...run.cost }
  /** Settles when `cost` includes all calls so far. */
  let costKnown = Promise.resolve()
  /** Tokens of model calls outside the answer. They count toward the run's budget. */
  let extraTokens = 0
  /** Usage that is not stored yet. */
  let pending: ModelUsage[] = []
  /** Tokens in `pending` and in batches that are being stored. */
  let unstoredTokens = 0
  /**
   * Number of admitted model calls whose usage is not known yet. A failed call may never report its usage, but it also ends
   * the run.
   */
  let openCalls = 0
  let estimate: ModelUsage = { model: run.model, ...FIRST_CALL }
  let costPerToken = { currency: '', cost: 0 }
  /** The refusal of the last model call that was not admitted. */
  let reachedLimit: AppError | null = null
  const budget = budgets.join(
    run.userId,
    () => {
      const tokens = openCalls * tokensOf(estimate) + unstoredTokens
      return { tokens, currency: costPerToken.currency, cost: costPerToken.cost * tokens }
    },
    (refusal) => {
      reachedLimit = refusal
    },
  )

  const addPending = (entry: ModelUsage): void => {
    openCalls = Math.max(0, openCalls - 1)
    if (tokensOf(entry) === 0) return
    estimate = entry
    unstoredTokens += tokensOf(entry)
    pending.push(entry)
    if (observe !== undefined)
      void costOf(entry).then((priced) => observe({ kind: 'model_call', ...entry, ...priced }))
  }

  return {
    async total(): Promise<Usage> {
      await costKnown
      return usageOfRun({ promptTokens, completionTokens, cachedTokens, cost })
    },

    /** The cost of a model call by currency; empty where the model has no price. Adds nothing. */
    async priceOf(call: CallUsage): Promise<Record<string, number>> {
      const { currency, cost: amount } = await costOf(entryOf(call))
      return currency === '' ? {} : { [currency]: amount }
    },

    /** Adds the usage of an iteration. */
    add({ usage, model }: CallUsage): void {
      promptTokens = bounded(promptTokens + usage.prompt_tokens)
      completionTokens = bounded(completionTokens + usage.completion_tokens)
      cachedTokens = bounded(cachedTokens + (usage.cached_tokens ?? 0))
      const entry = entryOf({ usage, model })
      costKnown = costKnown.then(() => addCost(entry))
      addPending(entry)
    },

    /** Adds usage outside the answer, such as that of a title or summary. It says nothing about the next call of the answer. */
    addExtra({ usage, model }: CallUsage): void {
      extraTokens += usage.total_tokens
      const typical = estimate
      addPending(entryOf({ usage, model }))
      estimate = typical
    },

    /** Adds the cost of a tool's request to a paid service. Its tokens do not count toward the answer. */
    addCharge({ model, promptTokens, completionTokens, ...charged }: Charge): void {
      const counts = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
      const entry = { model, promptTokens, completionTokens, ...counts, charged }
      costKnown = costKnown.then(() => addCost(entry))
      unstoredTokens += tokensOf(entry)
      pending.push(entry)
    },

    /**
     * Takes the totals and the usage that is not stored yet. Store the batch in the transaction that stores what the usage
     * paid for.
     */
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

    /** Stores the user's pending usage if the run's row accepts no more writes. */
    async storeAlone(): Promise<void> {
      const entries = await priced(pending)
      if (entries.length === 0) return
      await database.write(async (tx) => {
        for (const entry of entries) await store.tokenUsage.add(tx, now(), entry)
      })
      pending = []
      unstoredTokens = 0
    },

    /** Discards usage that could not be stored. Returns its number of tokens. */
    dropPending(): number {
      const tokens = pending.reduce((sum, one) => sum + one.promptTokens + one.completionTokens, 0)
      pending = []
      unstoredTokens = 0
      return tokens
    },

    /**
     * Resolves to whether a model call may start, whatever its purpose. If so, its estimated usage is reserved until `add`
     * or `addExtra` reports the actual usage.
     * @param isOptional nobody has to know if the call may not start.
     */
    async isBudgetLeft({ isOptional = false } = {}): Promise<boolean> {
      const sum = promptTokens + completionTokens + extraTokens
      if (settings.runTokens !== undefined && sum >= settings.runTokens) {
        if (!isOptional)
          reachedLimit = appError('run_tokens_used_up', { limit: settings.runTokens })
        return false
      }
      if (access.spendingLimits(run.userId).some(({ quota }) => limitsCost(quota))) {
        const { currency, cost } = await costOf(estimate)
        costPerToken = { currency, cost: cost / tokensOf(estimate) }
      }
      return await budget.admitCall(
        () => {
          openCalls += 1
        },
        { isOptional },
      )
    },

    /** The limit that refused a model call, after `isBudgetLeft` resolved to false. */
    reachedLimit: (): AppError | null => reachedLimit,

    /** Releases the reservations; call it when the run has ended. */
    release: budget.release,
  }

  function entryOf({ usage, model }: CallUsage): ModelUsage {
    return {
      model: model === '' ? run.model : model,
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
      cachedTokens: usage.cached_tokens ?? 0,
      cacheWriteTokens: usage.cache_write_tokens ?? 0,
      reasoningTokens: usage.reasoning_tokens ?? 0,
      costUsd: usage.cost_usd,
    }
  }

  async function addCost(entry: ModelUsage): Promise<void> {
    const { currency, cost: amount } = await costOf(entry)
    if (currency !== '') cost[currency] = (cost[currency] ?? 0) + amount
  }

  async function writeOf(entries: readonly ModelUsage[]): Promise<UsageBatch['write']> {
    const counted = { promptTokens, completionTokens, cachedTokens, iteration }
    const moment = now()
    const added = await priced(entries)
    await costKnown
    const totals = { ...counted, cost: { ...cost } }
    /** Assigned on the first execution, because writes are executed in the order in which they are stored. */
    let revision: number | null = null
    return async (tx, patch = {}, also = NOTHING_ELSE) => {
      const isRepeated = revision !== null
      if (revision === null) {
        lastRevision += 1
        revision = lastRevision
      }
      const ofRevision = revision
      const writeOnce = () => store.runs.writeOnce(tx, run, ofRevision, { ...totals, ...patch })
      const rest = [
        ...added.map((entry) => () => store.tokenUsage.add(tx, moment, entry)),
        () => also(tx),
      ]
      // On the first execution, the usage cannot be stored already, so there is nothing to wait for: PostgreSQL receives
      // all statements at once.
      if (!isRepeated) await inParallel(writeOnce, ...rest)
      else if (await writeOnce()) await inParallel(...rest)
    }
  }

  function priced(entries: readonly ModelUsage[]) {
    return Promise.all(
      entries.map(async (entry) => {
        const { costUsd: _, charged: _charged, ...stored } = entry
        return { userId: run.userId, ...stored, ...(await costOf(entry)) }
      }),
    )
  }

  async function costOf(entry: ModelUsage): Promise<{ currency: string; cost: number }> {
    if (entry.charged !== undefined) return entry.charged
    if (entry.costUsd !== undefined) return { currency: 'USD', cost: entry.costUsd }
    // A model that has been removed has no price.
    const price = await catalog.resolve(entry.model).then(
      ({ price }) => price,
      () => null,
    )
    if (price === null) return { currency: '', cost: 0 }
    return { currency: price.currency, cost: callCost(price, entry) }
  }
}

const tokensOf = (entry: Pick<ModelUsage, 'promptTokens' | 'completionTokens'>): number =>
  entry.promptTokens + entry.completionTokens

/** Limits totals to what the integer columns can hold. */
const bounded = (tokens: number): number => Math.min(tokens, MAX_INTEGER)
