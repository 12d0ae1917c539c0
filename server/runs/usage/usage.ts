// Counts the tokens of a run: totals over its iterations, and exactly one addition to the user's usage per model call.
import pLimit from 'p-limit'
import type { CallUsage } from '../../agent/run-scope.ts'
import type { Writer } from '../../db/database.ts'
import { inParallel } from '../../db/fragments.ts'
import type { NewRun, RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { type AppError, appError } from '../../errors.ts'
import { MAX_INTEGER } from '../../protocol/bounds.ts'
import type { Price } from '../../protocol/models/catalog.ts'
import { type Usage, usageOfRun } from '../../protocol/runs/usage.ts'
import type { Charge, Spending } from '../../tools/spending.ts'
import type { ChatDependencies } from '../dependencies.ts'
import type { Write, WriteGroup } from '../group-commit.ts'
import { ownLimitsOf, type RunOptions } from '../state.ts'
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
  writes: WriteGroup
  settings: Pick<ChatDependencies['settings'], 'runTokens'>
  access: Pick<ChatDependencies['access'], 'spendingLimits'>
  catalog: { priceOf(model: string): Promise<Price | null> }
  budgets: Budgets
}

/** The tokens and cost of a run. Create one per attempt. */
export type RunUsage = ReturnType<typeof createRunUsage>

/** What a run has used. */
interface UsageState {
  readonly run: RunRow
  /** Limits of the run's own. */
  readonly limits: RunOptions['limits']
  readonly store: Dependencies['store']
  readonly database: Dependencies['database']
  readonly settings: Dependencies['settings']
  readonly access: Dependencies['access']
  readonly now: Dependencies['now']
  readonly observe: Dependencies['observe']
  readonly costOf: CostOf
  readonly totals: ReturnType<typeof createTotals>
  readonly unstored: ReturnType<typeof createUnstored>
  readonly storeOnce: ReturnType<typeof createOnceWriter>
  /**
   * Number of admitted model calls whose usage is not known yet. A failed call may never report its usage, but it also ends
   * the run.
   */
  openCalls: number
  estimate: ModelUsage
  costPerToken: { currency: string; cost: number }
  /** Tokens of model calls outside the answer. They count toward the run's budget. */
  extraTokens: number
  /** The refusal of the last model call that was not admitted. */
  reachedLimit: AppError | null
  /** Whether it refused nothing: the answer was complete. */
  isComplete: boolean
  readonly budget: ReturnType<Budgets['join']>
}

/** Create one per attempt of a run; call `release` when the run has ended. */
export function createRunUsage(run: RunRow, dependencies: Dependencies) {
  const { store, database, settings, access, budgets, writes, now, observe } = dependencies
  const costOf = createCosts(dependencies.catalog)
  const totals = createTotals(run, costOf)
  const storeOnce = createOnceWriter(run, store)
  /** One write at a time outside the answer: each contains the totals, and older ones must not overwrite newer ones. */
  const queue = pLimit(1)
  const estimate = { model: run.model, ...FIRST_CALL }
  const budget = budgets.join(
    run.userId,
    () => {
      const tokens = state.openCalls * tokensOf(state.estimate) + state.unstored.tokens
      const { currency, cost } = state.costPerToken
      return { tokens, currency, cost: cost * tokens }
    },
    (refusal) => {
      state.reachedLimit = refusal
    },
  )
  const state: UsageState = {
    run,
    limits: ownLimitsOf(run),
    store,
    database,
    settings,
    access,
    now,
    observe,
    costOf,
    totals,
    unstored: createUnstored(),
    storeOnce,
    openCalls: 0,
    estimate,
    costPerToken: { currency: '', cost: 0 },
    extraTokens: 0,
    reachedLimit: null,
    isComplete: false,
    budget,
  }
  return {
    /** The tokens and cost of the answer so far. */
    async total(): Promise<Usage> {
      return usageOfRun(await state.totals.now())
    },

    /** The cost of a model call by currency; empty where the model has no price. Adds nothing. */
    async priceOf(call: CallUsage): Promise<Record<string, number>> {
      const { currency, cost: amount } = await state.costOf(entryOf(state, call))
      return currency === '' ? {} : { [currency]: amount }
    },

    /** Adds the usage of an iteration. */
    add(call: CallUsage): void {
      const entry = entryOf(state, call)
      state.totals.add(entry)
      addCall(state, entry)
    },

    /** Adds usage outside the answer, such as that of a title or summary. It says nothing about the next call of the answer. */
    addExtra: (call: CallUsage): void => addExtra(state, call),

    /** Adds the cost of a tool's request to a paid service. Its tokens do not count toward the answer. */
    addCharge: (charge: Charge): void => addCharge(state, charge),

    nextBatch: (given?: { endsIteration?: boolean }): Promise<UsageBatch> =>
      nextBatch(state, given),

    /** Does `work`, which stores usage outside the answer, after the earlier ones. */
    inTurn: <T>(work: () => Promise<T>): Promise<T> => queue(work),

    /** Stores the usage so far in one transaction with `also`. Call it in turn. */
    async storeNow(also: Write): Promise<void> {
      const batch = await nextBatch(state)
      await batch.settle(writes.commit((tx) => batch.write(tx, {}, also)))
    },

    /** Stores the user's pending usage if the run's row accepts no more writes. */
    storeAlone: () => storeAlone(state),

    /** Discards usage that could not be stored. Returns its number of tokens. */
    dropPending: state.unstored.drop,

    /**
     * Resolves to whether a model call may start, whatever its purpose. If so, its estimated usage is reserved until `add`
     * or `addExtra` reports the actual usage.
     * @param isOptional nobody has to know if the call may not start.
     */
    isBudgetLeft: (given?: { isOptional?: boolean }): Promise<boolean> =>
      isBudgetLeft(state, given),

    /** Whether the answer, now complete, has used more than the run's own limits: its last call was admitted below them. */
    async hasExceededLimits(): Promise<boolean> {
      state.reachedLimit = await exceededLimit(state, (used, limit) => used > limit)
      state.isComplete = state.reachedLimit !== null
      return state.isComplete
    },

    /** Whether the answer was complete when it went beyond a limit. */
    isComplete: (): boolean => state.isComplete,

    /** The limit that refused a model call, after `isBudgetLeft` resolved to false, or that was exceeded. */
    reachedLimit: (): AppError | null => state.reachedLimit,

    /** Releases the reservations; call it when the run has ended. */
    release: state.budget.release,
  }
}

const entryOf = (state: UsageState, call: CallUsage): ModelUsage =>
  usageOfCall(call, state.run.model)

function addCall(state: UsageState, entry: ModelUsage): void {
  state.openCalls = Math.max(0, state.openCalls - 1)
  if (tokensOf(entry) === 0) return
  state.estimate = entry
  state.unstored.add(entry)
  const { observe } = state
  if (observe !== undefined)
    void state.costOf(entry).then((priced) => observe({ kind: 'model_call', ...entry, ...priced }))
}

function addExtra(state: UsageState, call: CallUsage): void {
  state.extraTokens += call.usage.total_tokens
  const typical = state.estimate
  addCall(state, entryOf(state, call))
  state.estimate = typical
}

function addCharge(
  state: UsageState,
  { model, promptTokens, completionTokens, ...charged }: Charge,
): void {
  const counts = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
  const entry = { model, promptTokens, completionTokens, ...counts, charged }
  state.totals.addCost(entry)
  state.unstored.add(entry)
}

const priced = (state: UsageState, entries: readonly ModelUsage[]): Promise<PricedUsage[]> =>
  Promise.all(
    entries.map(async (entry) => {
      const { costUsd: _, charged: _charged, ...stored } = entry
      return { userId: state.run.userId, ...stored, ...(await state.costOf(entry)) }
    }),
  )

/**
 * Takes the totals and the usage that is not stored yet. Store the batch in the transaction that stores what the usage
 * paid for.
 */
async function nextBatch(
  state: UsageState,
  { endsIteration = false }: { endsIteration?: boolean | undefined } = {},
): Promise<UsageBatch> {
  const entries = state.unstored.take()
  if (endsIteration) state.totals.endIteration()
  const ofBatch = state.totals.now()
  const moment = state.now()
  try {
    const write = state.storeOnce({ totals: ofBatch, entries: priced(state, entries), moment })
    return {
      write: await write,
      async settle(transaction) {
        try {
          await transaction
          state.unstored.markStored(entries)
        } catch (error) {
          state.unstored.putBack(entries)
          throw error
        }
      },
    }
  } catch (error) {
    state.unstored.putBack(entries)
    throw error
  }
}

/** Stores the user's pending usage if the run's row accepts no more writes. */
async function storeAlone(state: UsageState): Promise<void> {
  const entries = await priced(state, state.unstored.entries)
  if (entries.length === 0) return
  await state.database.write(async (tx) => {
    for (const entry of entries) await state.store.tokenUsage.add(tx, state.now(), entry)
  })
  state.unstored.drop()
}

/**
 * Resolves to whether a model call may start, whatever its purpose. If so, its estimated usage is reserved until `add`
 * or `addExtra` reports the actual usage.
 * @param isOptional nobody has to know if the call may not start.
 */
async function isBudgetLeft(
  state: UsageState,
  { isOptional = false }: { isOptional?: boolean | undefined } = {},
): Promise<boolean> {
  const { runTokens } = state.settings
  const refusal =
    (await exceededLimit(state, (used, limit) => used >= limit)) ??
    (runTokens !== undefined && tokensUsed(state) >= runTokens
      ? appError('run_tokens_used_up', { limit: runTokens })
      : null)
  if (refusal !== null) {
    if (!isOptional) state.reachedLimit = refusal
    return false
  }
  if (state.access.spendingLimits(state.run.userId).some(({ quota }) => limitsCost(quota))) {
    const { currency, cost } = await state.costOf(state.estimate)
    state.costPerToken = { currency, cost: cost / tokensOf(state.estimate) }
  }
  return await state.budget.admitCall(
    () => {
      state.openCalls += 1
    },
    { isOptional },
  )
}

const tokensUsed = ({ totals, extraTokens }: UsageState): number => totals.tokens + extraTokens

/** Which limit of the run's own it has reached, as `isReached` compares; null if none. */
async function exceededLimit(
  state: UsageState,
  isReached: (used: number, limit: number) => boolean,
): Promise<AppError | null> {
  const { cost, tokens } = state.limits ?? {}
  if (cost !== undefined) {
    const spent = Math.max(0, ...Object.values((await state.totals.now()).cost ?? {}))
    if (isReached(spent, cost)) return appError('run_cost_used_up', { limit: cost })
  }
  if (tokens !== undefined && isReached(tokensUsed(state), tokens))
    return appError('run_tokens_used_up', { limit: tokens })
  return null
}

type CostOf = (entry: ModelUsage) => Promise<{ currency: string; cost: number }>

/** Usage as it is stored for a user. */
type PricedUsage = Omit<ModelUsage, 'costUsd' | 'charged'> & {
  userId: RunRow['userId']
  currency: string
  cost: number
}

/** What models and services cost: as charged or reported, otherwise by the price of the model. */
const createCosts =
  (catalog: Dependencies['catalog']): CostOf =>
  async (entry) => {
    if (entry.charged !== undefined) return entry.charged
    if (entry.costUsd !== undefined) return { currency: 'USD', cost: entry.costUsd }
    const price = await catalog.priceOf(entry.model)
    if (price === null) return { currency: '', cost: 0 }
    return { currency: price.currency, cost: callCost(price, entry) }
  }

type Totals = Pick<
  RunRow,
  'promptTokens' | 'completionTokens' | 'cachedTokens' | 'iteration' | 'cost'
>

/** The totals of the answer, continued from those of earlier attempts. */
function createTotals(run: RunRow, costOf: CostOf) {
  let { promptTokens, completionTokens, cachedTokens, iteration } = run
  const cost: Record<string, number> = { ...run.cost }
  /** Settles when `cost` includes all calls so far. */
  let costKnown = Promise.resolve()

  function addCost(entry: ModelUsage): void {
    costKnown = costKnown.then(async () => {
      const { currency, cost: amount } = await costOf(entry)
      if (currency !== '') cost[currency] = (cost[currency] ?? 0) + amount
    })
  }

  return {
    add(entry: ModelUsage): void {
      promptTokens = bounded(promptTokens + entry.promptTokens)
      completionTokens = bounded(completionTokens + entry.completionTokens)
      cachedTokens = bounded(cachedTokens + entry.cachedTokens)
      addCost(entry)
    },
    addCost,
    endIteration(): void {
      iteration += 1
    },
    get tokens(): number {
      return promptTokens + completionTokens
    },
    /** The totals at this moment, once their cost is known. */
    async now(): Promise<Totals> {
      const counted = { promptTokens, completionTokens, cachedTokens, iteration }
      await costKnown
      return { ...counted, cost: { ...cost } }
    },
  }
}

/** Usage that is not stored yet. */
function createUnstored() {
  /** Not in a batch yet. */
  let pending: ModelUsage[] = []
  /** In `pending` and in batches that are being stored. */
  let tokens = 0
  return {
    get tokens(): number {
      return tokens
    },
    get entries(): readonly ModelUsage[] {
      return pending
    },
    add(entry: ModelUsage): void {
      tokens += tokensOf(entry)
      pending.push(entry)
    },
    take(): ModelUsage[] {
      const entries = pending
      pending = []
      return entries
    },
    markStored(entries: readonly ModelUsage[]): void {
      for (const entry of entries) tokens -= tokensOf(entry)
    },
    putBack(entries: readonly ModelUsage[]): void {
      pending.unshift(...entries)
    },
    /** Returns the number of tokens that were waiting. */
    drop(): number {
      const dropped = pending.reduce((sum, entry) => sum + tokensOf(entry), 0)
      pending = []
      tokens = 0
      return dropped
    },
  }
}

/** Returns the function that creates the write of a batch, which takes effect once, however often it is executed. */
function createOnceWriter(run: RunRow, store: Dependencies['store']) {
  let lastRevision = run.revision
  return async ({
    totals,
    entries,
    moment,
  }: {
    totals: Promise<Totals>
    entries: Promise<PricedUsage[]>
    moment: Date
  }): Promise<UsageBatch['write']> => {
    const [counted, added] = await Promise.all([totals, entries])
    /** Assigned on the first execution, because writes are executed in the order in which they are stored. */
    let revision: number | null = null
    return async (tx, patch = {}, also = NOTHING_ELSE) => {
      const isRepeated = revision !== null
      if (revision === null) {
        lastRevision += 1
        revision = lastRevision
      }
      const ofRevision = revision
      const writeOnce = () => store.runs.writeOnce(tx, run, ofRevision, { ...counted, ...patch })
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
}

/** @param ownModel the run's model, for calls that do not say which one answered. */
const usageOfCall = ({ usage, model }: CallUsage, ownModel: string): ModelUsage => ({
  model: model === '' ? ownModel : model,
  promptTokens: usage.prompt_tokens,
  completionTokens: usage.completion_tokens,
  cachedTokens: usage.cached_tokens ?? 0,
  cacheWriteTokens: usage.cache_write_tokens ?? 0,
  reasoningTokens: usage.reasoning_tokens ?? 0,
  costUsd: usage.cost_usd,
})

const tokensOf = (entry: Pick<ModelUsage, 'promptTokens' | 'completionTokens'>): number =>
  entry.promptTokens + entry.completionTokens

/** Limits totals to what the integer columns can hold. */
const bounded = (tokens: number): number => Math.min(tokens, MAX_INTEGER)

/** What the tools of a run spend on paid services. */
export interface RunSpending extends Spending {
  /** Call it when the run has ended. */
  release(): void
}

/** Create one per attempt of a run. */
export function createSpending(
  run: RunRow,
  usage: Pick<RunUsage, 'addCharge' | 'inTurn' | 'storeNow'>,
  budgets: Budgets,
  attachments: Pick<Store['attachments'], 'append'>,
): RunSpending {
  /** Expected cost of requests in progress, in the currency of the one configured service. */
  const reserved = { tokens: 0, currency: '', cost: 0 }
  const budget = budgets.join(run.userId, () => reserved)
  return {
    async admit({ currency, cost }) {
      const isAdmitted = await budget.admitCall(() => {
        reserved.currency = currency
        reserved.cost += cost
      })
      if (!isAdmitted) return null
      let isOpen = true
      return {
        book: (charge, files) =>
          usage.inTurn(async () => {
            usage.addCharge(charge)
            await usage.storeNow((tx) => attachments.append(tx, run.messageId, files))
          }),
        release() {
          if (isOpen) reserved.cost -= cost
          isOpen = false
        },
      }
    },
    release: budget.release,
  }
}
