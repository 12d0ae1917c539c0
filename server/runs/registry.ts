// Starts and stops runs and knows those that this process performs; hands out the log of any run, performed here or long ended.
import { LRUCache } from 'lru-cache'
import type { RunRow } from '../db/repositories/runs.ts'
import { appError } from '../errors.ts'
import type { RunId } from '../protocol/ids.ts'
import { type ActiveRun, createActiveRun, type StopReason } from './active-run.ts'
import { announceRun } from './announce.ts'
import type { ChatDependencies } from './dependencies.ts'
import { createWriteGroup, RETRY_DELAYS_MS } from './group-commit.ts'
import { runLogHistory } from './log/history.ts'
import { createRunLog, type RunLog } from './log/log.ts'
import type { RunStarter } from './performed-run.ts'
import { assertRunAllowed } from './start/admission.ts'
import { claimRun, endUnperformed } from './start/claim.ts'
import { createBudgets } from './usage/budgets.ts'
import { performRun } from './worker.ts'

/** A log stays in memory a while after the run's end: those who lost the last events come back soon. */
const ENDED_LOGS = 50
const ENDED_LOG_MS = 20_000
/** Of all of them together; a longer one is replayed from the store at once. */
const ENDED_LOGS_CHARACTERS = 16_000_000
/** Between two tries to begin a run that the store did not give. */
const STORE_AWAY_MS = 5_000
/** A stop is promised within a second. */
const STOP_MS = 1_000

export interface RunRegistry extends RunStarter {
  /** Performs a run that is stored and not ended; does nothing when it is performed here already or has ended. */
  continue(id: RunId): Promise<void>
  /** The same, but a store that is away is waited for, and nobody waits for that. */
  continueWhenPossible(id: RunId): Promise<void>
  /**
   * Ends a run, whether it is performed here or not. Fulfils when its end is stored; after a second it fulfils when it
   * is stored that it is to end, so that no restart goes on with it.
   */
  stop(id: RunId, reason: StopReason): Promise<void>
  /** Does `work` while the run is neither started nor stopped by anybody else; its former performance is over. */
  whileEnded<T>(id: RunId, work: () => Promise<T>): Promise<T>
  get(id: RunId): ActiveRun | undefined
  /** Those that fit, the ones whose rows are being stored just now among them. */
  where(fits: (run: RunRow) => boolean): RunId[]
  readonly count: number
  /** No new runs; those that are there get `graceMs`, then they are left for the next start. */
  drain(graceMs: number): Promise<void>
  readonly isDraining: boolean
  /**
   * The log of a run that goes on or has ended only just now; null for one that is replayed from the store (`replayRun`).
   * It never starts a run. Throws `not_found` for one that is gone.
   */
  runLog(run: RunRow): Promise<RunLog | null>
}

export function createRunRegistry(dependencies: ChatDependencies): RunRegistry {
  const { store, database, log } = dependencies
  let isDraining = false
  const writes = createWriteGroup(database, RETRY_DELAYS_MS, () => !isDraining)
  /** For what a person waits for: better a clear refusal now than an answer in a minute. */
  const promptWrites = createWriteGroup(database, [100, 400])
  const active = new Map<RunId, { run: ActiveRun; row: RunRow }>()
  const ended = new LRUCache<RunId, RunLog>({
    max: ENDED_LOGS,
    maxSize: ENDED_LOGS_CHARACTERS,
    maxEntrySize: ENDED_LOGS_CHARACTERS / 4,
    sizeCalculation: charactersOf,
    ttl: ENDED_LOG_MS,
  })
  const turns = new Map<RunId, Promise<unknown>>()
  const budgets = createBudgets(dependencies)

  /** Starts and stops of one run follow each other: between a look at it and what follows, nobody else acts on it. */
  async function inTurn<T>(id: RunId, work: () => Promise<T>): Promise<T> {
    const mine = (turns.get(id) ?? Promise.resolve()).then(work)
    const settled = mine.catch(() => undefined)
    turns.set(id, settled)
    try {
      return await mine
    } finally {
      if (turns.get(id) === settled) turns.delete(id)
    }
  }

  async function launch(one: ActiveRun, run: RunRow): Promise<void> {
    announceRun(run, run.attempt > 1 ? 'updated' : 'created', dependencies)
    const runDependencies = { ...dependencies, runs, budgets, isDraining: () => isDraining }
    await performRun(one, run, runDependencies, writes)
    announceRun(run, 'updated', dependencies)
    active.delete(run.id)
    if (one.runLog.terminal !== null) ended.set(run.id, one.runLog)
    one.markEnded()
  }

  const continueRun = (id: RunId): Promise<void> =>
    inTurn(id, async () => {
      if (active.has(id) || isDraining) return
      const claimed = await claimRun(id, dependencies)
      if (claimed === null) return
      ended.delete(id)
      const { run, rows } = claimed
      const runLog = createRunLog(runLogHistory(run, rows))
      const one = createActiveRun(id, runLog)
      active.set(id, { run: one, row: run })
      void launch(one, run)
    })

  async function continueWhenPossible(id: RunId): Promise<void> {
    try {
      await continueRun(id)
    } catch (error) {
      log.warn({ err: error, run_id: id }, 'a run could not be begun; it is tried again')
      setTimeout(() => void continueWhenPossible(id), STORE_AWAY_MS).unref()
    }
  }

  const runs: RunRegistry = {
    async begin(run, write) {
      const runLog = createRunLog({ entries: [], steps: [], lastId: 0 })
      runLog.appendEvent({
        event: 'run',
        run_id: run.id,
        user_message_id: run.userMessageId,
        message_id: run.messageId,
      })
      const one = createActiveRun(run.id, runLog)
      // Before its rows: whoever takes its user, project or conversation away finds it here, or it finds them gone.
      active.set(run.id, { run: one, row: run })
      try {
        await promptWrites.commit(async (tx) => {
          // Locked in this order everywhere: the user's runs, the run, the conversation.
          // Committed before, only the confirmation was lost.
          if ((await store.runs.findIn(tx, run.id)) !== undefined) return
          await assertRunAllowed(tx, run.userId, dependencies)
          await write(tx)
        })
      } catch (error) {
        active.delete(run.id)
        one.markEnded()
        throw error
      }
      void launch(one, run)
    },
    continue: continueRun,
    continueWhenPossible,
    stop: (id, reason) =>
      inTurn(id, async () => {
        const one = active.get(id)?.run
        if (one !== undefined) await stopAndWait(one, reason)
        if (active.has(id)) await database.write((tx) => store.runs.requestStop(tx, id))
        // Nobody performs it, or it was left for the next start: a server that goes away does not undo a stop.
        else await endUnperformed(id, dependencies)
      }),
    whileEnded: (id, work) =>
      inTurn(id, async () => {
        const run = await store.runs.find(id)
        if (run !== undefined && run.endedAt !== null) await active.get(id)?.run.ended
        return await work()
      }),
    get: (id) => active.get(id)?.run,
    where: (fits) => [...active.values()].filter(({ row }) => fits(row)).map(({ row }) => row.id),
    get count() {
      return active.size
    },
    get isDraining() {
      return isDraining
    },
    async drain(graceMs) {
      isDraining = true
      const all = (): ActiveRun[] => [...active.values()].map(({ run }) => run)
      const waiting = all()
      for (const run of waiting) if (run.runLog.pendingApprovals.size > 0) run.stop('shutdown')
      let timer: NodeJS.Timeout | undefined
      const grace = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs)
      })
      await Promise.race([Promise.all(waiting.map((run) => run.ended)), grace])
      clearTimeout(timer)
      for (const run of all()) run.stop('shutdown')
      await Promise.all(all().map((run) => run.ended))
    },
    async runLog(run) {
      const known = () => active.get(run.id)?.run.runLog ?? ended.get(run.id)
      if (known() === undefined) await turns.get(run.id)
      const live = known()
      if (live !== undefined) return live
      const stored = await store.runs.find(run.id)
      if (stored === undefined) throw appError('run_not_found')
      if (stored.endedAt === null) {
        const begun = known()
        if (begun !== undefined) return begun
        throw appError(
          isDraining ? 'shutting_down' : 'run_continues_soon',
          {},
          { retryable: true, retryAfter: 2 },
        )
      }
      return null
    },
  }
  return runs
}

/** About how much text a log holds. */
function charactersOf(runLog: RunLog): number {
  let characters = 1
  for (let index = 0; index < runLog.stepCount; index += 1) {
    const step = runLog.step(index)
    if (step !== undefined)
      characters += 'content' in step ? step.content.length : step.arguments.length
  }
  return characters
}

async function stopAndWait(run: ActiveRun, reason: StopReason): Promise<void> {
  run.stop(reason)
  let timer: NodeJS.Timeout | undefined
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_MS)
  })
  await Promise.race([run.ended, time])
  clearTimeout(timer)
}
