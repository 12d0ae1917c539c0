// Starts and stops runs, tracks those that this process performs, and finds the log of a run.
import { LRUCache } from 'lru-cache'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { appError } from '../errors.ts'
import type { RunId } from '../protocol/ids.ts'
import { type ActiveRun, createActiveRun, type StopReason } from './active-run.ts'
import { announceRun } from './announce.ts'
import type { ChatDependencies } from './dependencies.ts'
import { createRunWrites, type Write } from './group-commit.ts'
import { runLogHistory } from './log/history.ts'
import { createRunLog, type RunLog } from './log/log.ts'
import { outcomeOf } from './observation.ts'
import type { KnownStart, RunStarter } from './performed-run.ts'
import type { SharedRuns } from './shared/sharing.ts'
import { createSharedRuns, stopElsewhere } from './shared/take-over.ts'
import { newRun, RunNotInserted } from './start/admission.ts'
import { claimRun, endUnclaimed } from './start/claim.ts'
import { createStoreMoments } from './store-moments.ts'
import type { Budgets } from './usage/budgets.ts'
import { performRun } from './worker.ts'

/** Logs stay in memory for a while after the end, for listeners that reconnect to get the last events. */
const MAX_ENDED_LOGS = 50
const ENDED_LOG_TTL_MS = 20_000
/** Maximum total size of those logs. Larger ones are replayed from the store. */
const MAX_ENDED_LOG_CHARACTERS = 16_000_000
/** Delay between attempts to continue a run while the store is unavailable. */
const CONTINUE_RETRY_MS = 5_000
/** A stop takes effect within this time, as documented. */
const STOP_TIMEOUT_MS = 1_000

/** The runs of this process. Create one per process. */
export interface RunRegistry extends RunStarter {
  /** Performs a stored, unfinished run. Does nothing when this process already performs it or it has ended. */
  continue(id: RunId): Promise<void>
  /** Like `continue`, but retries in the background while the store is unavailable. Never rejects. */
  continueWithRetry(id: RunId): Promise<void>
  /**
   * Ends a run, whether this process performs it or not. Resolves when its end is stored or, if that takes more than a
   * second, when the stop request is stored, so that no restart continues the run.
   */
  stop(id: RunId, reason: StopReason): Promise<void>
  /** Waits until the run has ended in this process, then does `work` while nothing else can start or stop the run. */
  withEndedRun<T>(id: RunId, work: () => Promise<T>): Promise<T>
  get(id: RunId): ActiveRun | undefined
  /** The ids of the matching active runs, including those whose rows are still being stored. */
  findIds(matches: (run: RunRow) => boolean): RunId[]
  readonly count: number
  /** The number of active runs, of those that wait for a person, and of the connections that follow them. */
  readonly load: { active: number; waiting: number; listeners: number }
  /** Stops accepting runs. Active runs get `graceMs` to finish; then they are suspended until the next start. */
  drain(graceMs: number): Promise<void>
  readonly isDraining: boolean
  /** Whether another instance performs the runs that begin while this one drains. */
  canHandOver(): Promise<boolean>
  /**
   * The log of a run that is active or has just ended; null if it has to be replayed from the store (`replayRun`). Never
   * starts a run.
   * @throws AppError `not_found`, or a retryable error if no process performs the unfinished run at the moment.
   */
  runLog(run: RunRow): Promise<RunLog | null>
  /** What an instance that shares its runs with others calls. */
  readonly shared: SharedRuns
}

/** Create one per process. */
export function createRunRegistry(
  dependencies: ChatDependencies & { budgets: Budgets },
): RunRegistry {
  const { store, database, log, sharing, instance } = dependencies
  let isDraining = false
  const onRetry = (): void => dependencies.observe?.({ kind: 'store_retry' })
  const { starts, writes } = createRunWrites(database, { isDraining: () => isDraining, onRetry })
  const storeMoments = createStoreMoments()
  const active = new Map<RunId, { run: ActiveRun; row: RunRow }>()
  /** The active runs whose rows are stored. */
  const launched = new Set<RunId>()
  const ended = new LRUCache<RunId, RunLog>({
    max: MAX_ENDED_LOGS,
    maxSize: MAX_ENDED_LOG_CHARACTERS,
    maxEntrySize: MAX_ENDED_LOG_CHARACTERS / 4,
    sizeCalculation: charactersOf,
    ttl: ENDED_LOG_TTL_MS,
  })
  /** The ends of runs that began here during the drain and that other instances perform: their clients follow them here. */
  const handedOver = new Set<Promise<void>>()
  /** The last start or stop of each run. */
  const pending = new Map<RunId, Promise<unknown>>()

  /** The number of active runs that do not wait for a person. */
  const workingRuns = (): number =>
    [...active.values()].filter(({ run }) => !run.runLog.isWaiting).length

  /** Serializes the starts and stops of one run, so that nothing changes between a check and the action that follows. */
  async function serialize<T>(id: RunId, work: () => Promise<T>): Promise<T> {
    const result = (pending.get(id) ?? Promise.resolve()).then(work)
    const settled = result.catch(() => undefined)
    pending.set(id, settled)
    try {
      return await result
    } finally {
      if (pending.get(id) === settled) pending.delete(id)
    }
  }

  async function launch(activeRun: ActiveRun, run: RunRow, known?: KnownStart): Promise<void> {
    launched.add(run.id)
    announceRun(run, run.attempt > 1 ? 'updated' : 'created', dependencies)
    const startedAt = performance.now()
    const stepsBefore = activeRun.runLog.stepCount
    const isNew = stepsBefore === 0 && run.attempt === 1
    const endPublishing = sharing?.publish(run, activeRun.runLog, { isNew })
    const ownWrites = { commit: (write: Write) => writes.commit(write, run.id) }
    await performRun({ active: activeRun, run, known }, runDependencies, ownWrites)
    endPublishing?.()
    dependencies.observe?.({
      kind: 'run_ended',
      outcome: outcomeOf(activeRun.runLog.terminal),
      steps: activeRun.runLog.stepCount - stepsBefore,
      seconds: (performance.now() - startedAt) / 1_000,
    })
    announceRun(run, 'updated', dependencies)
    active.delete(run.id)
    launched.delete(run.id)
    if (activeRun.runLog.terminal !== null) ended.set(run.id, activeRun.runLog)
    else if (activeRun.stopReason === 'shutdown') await sharing?.dispatch(run.id)
    activeRun.markEnded()
  }

  const continueRun = (id: RunId): Promise<void> =>
    serialize(id, async () => {
      if (active.has(id) || isDraining) return
      const claimed = await claimRun(id, dependencies)
      if (claimed === null) return await nudgeHolder(id)
      ended.delete(id)
      const { run, rows } = claimed
      const activeRun = createActiveRun(id, createRunLog(runLogHistory(run, rows)))
      active.set(id, { run: activeRun, row: run })
      void launch(activeRun, run)
    })

  /** Asks the instance that performs the run to read what has changed. */
  async function nudgeHolder(id: RunId): Promise<void> {
    if (sharing === undefined) return
    const holder = await store.leases.holderOf(id)
    if (holder !== null && holder !== instance) sharing.nudge(holder)
  }

  /** Stores a new run. The lock order is the same everywhere: the user's runs, the run, the conversation. */
  async function commitNew(run: RunRow, write: Write): Promise<void> {
    const insert = newRun(run, write, dependencies)
    try {
      await starts.commit(insert, run.id)
    } catch (error) {
      if (!(error instanceof RunNotInserted)) throw error
      await starts.commit(insert, run.id)
    }
  }

  /** Stores a new run and lets any instance perform it. */
  async function offer(run: RunRow, write: Write): Promise<void> {
    const queued: RunRow = { ...run, status: 'queued', owner: null }
    await commitNew(queued, write)
    const isDispatched = await sharing?.dispatch(run.id)
    if (isDraining) {
      const end = endElsewhere(queued)
      handedOver.add(end)
      void end.then(() => handedOver.delete(end))
    } else if (!isDispatched) await continueWithRetry(run.id)
  }

  /** Resolves when a run that another instance performs has ended, as far as this one can see. Never rejects. */
  async function endElsewhere(run: RunRow): Promise<void> {
    try {
      const runLog = await sharing?.follow(run)
      if (runLog === undefined) return
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (runLog.terminal !== null) resolve()
        }
        runLog.observe({ onEntries: look, onClose: resolve })
        look()
      })
    } catch (error) {
      log.warn({ err: error, run_id: run.id }, 'a run that was handed over could not be followed')
    }
  }

  /** Resolves when neither these runs nor any that was handed over meanwhile is active. */
  async function settled(own: readonly ActiveRun[]): Promise<void> {
    await Promise.all(own.map((run) => run.ended))
    while (handedOver.size > 0) await Promise.all(handedOver)
  }

  async function continueWithRetry(id: RunId): Promise<void> {
    try {
      await continueRun(id)
    } catch (error) {
      log.warn({ err: error, run_id: id }, 'a run could not be continued; retrying')
      setTimeout(() => void continueWithRetry(id), CONTINUE_RETRY_MS).unref()
    }
  }

  const runs: RunRegistry = {
    async begin(run, write) {
      if (sharing !== undefined && (isDraining || sharing.isOffering(workingRuns())))
        return await offer(run, write)
      const activeRun = createActiveRun(run.id, createRunLog(runLogHistory(run, [])))
      // Registered before its rows are stored: a concurrent deletion of its user, project or conversation either finds the
      // run here, or the run finds them deleted.
      active.set(run.id, { run: activeRun, row: run })
      let known: KnownStart | undefined
      try {
        await commitNew(run, async (tx) => {
          known = await write(tx)
        })
      } catch (error) {
        active.delete(run.id)
        activeRun.markEnded()
        throw error
      }
      void launch(activeRun, run, known)
    },
    continue: continueRun,
    continueWithRetry,
    stop: (id, reason) =>
      serialize(id, async () => {
        const activeRun = active.get(id)?.run
        if (activeRun !== undefined) await stopAndWait(activeRun, reason)
        const requestStop = () => database.write((tx) => store.runs.requestStop(tx, id))
        const end = () => endUnclaimed(id, dependencies)
        if (active.has(id)) await requestStop()
        else if (sharing !== undefined)
          await stopElsewhere(id, { store, sharing, requestStop, end })
        // No process performs it, or it was suspended: a shutdown must not undo the stop.
        else await end()
      }),
    withEndedRun: (id, work) =>
      serialize(id, async () => {
        const run = await store.runs.find(id)
        if (run !== undefined && run.endedAt !== null) await active.get(id)?.run.ended
        return await work()
      }),
    get: (id) => active.get(id)?.run,
    findIds: (matches) =>
      [...active.values()].filter(({ row }) => matches(row)).map(({ row }) => row.id),
    get count() {
      return active.size
    },
    get load() {
      const logs = [...active.values()].map(({ run }) => run.runLog)
      return {
        active: logs.length,
        waiting: logs.filter(({ isWaiting }) => isWaiting).length,
        listeners: logs.reduce((sum, { listenerCount }) => sum + listenerCount, 0),
      }
    },
    get isDraining() {
      return isDraining
    },
    canHandOver: async () => (await sharing?.hasOthers()) ?? false,
    async drain(graceMs) {
      isDraining = true
      const all = (): ActiveRun[] => [...active.values()].map(({ run }) => run)
      const waiting = all()
      for (const run of waiting) if (run.runLog.isWaiting) run.stop('shutdown')
      let timer: NodeJS.Timeout | undefined
      const grace = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs)
      })
      await Promise.race([settled(waiting), grace])
      clearTimeout(timer)
      for (const run of all()) run.stop('shutdown')
      await Promise.all(all().map((run) => run.ended))
    },
    async runLog(run) {
      const logInMemory = () => active.get(run.id)?.run.runLog ?? ended.get(run.id)
      if (logInMemory() === undefined) await pending.get(run.id)
      const live = logInMemory()
      if (live !== undefined) return live
      const stored = await store.runs.find(run.id)
      if (stored === undefined) throw appError('run_not_found')
      if (stored.endedAt === null) {
        const started = logInMemory()
        if (started !== undefined) return started
        if (sharing !== undefined) return await sharing.follow(stored)
        throw appError(
          isDraining ? 'shutting_down' : 'run_continues_soon',
          {},
          { retryable: true, retryAfter: 2 },
        )
      }
      return null
    },
    shared: createSharedRuns({
      store,
      instance,
      active: (id) => active.get(id)?.run,
      performed: () => [...launched],
      continueRun: continueWithRetry,
      log,
    }),
  }
  const runDependencies = { ...dependencies, runs, storeMoments, isDraining: () => isDraining }
  return runs
}

/** The approximate size of a log, in characters. */
function charactersOf(runLog: RunLog): number {
  let characters = 1
  for (let index = 0; index < runLog.stepCount; index += 1) {
    const step = runLog.step(index)
    if (step !== undefined)
      characters += 'content' in step ? step.content.length : step.arguments.length
  }
  return characters
}

/** Waits until the run has ended, at most a second. */
async function stopAndWait(run: ActiveRun, reason: StopReason): Promise<void> {
  run.stop(reason)
  let timer: NodeJS.Timeout | undefined
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_TIMEOUT_MS)
  })
  await Promise.race([run.ended, time])
  clearTimeout(timer)
}
