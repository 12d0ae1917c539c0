// Starts runs within the limits of their users and stops them, tracks those that this process performs, and finds the log of a run.
import { LRUCache } from 'lru-cache'
import type { Writer } from '../db/database.ts'
import { inParallel } from '../db/fragments.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { StopCause } from '../db/tables/runs/runs.ts'
import { type AppError, appError } from '../errors.ts'
import type { RunId, UserId } from '../protocol/ids.ts'
import { type ActiveRun, createActiveRun } from './active-run.ts'
import type { ChatDependencies, ChatLog, UserAccess } from './dependencies.ts'
import { createRunWrites, createStoreMoments, type Write, type WriteGroup } from './group-commit.ts'
import { runLogHistory } from './log/history.ts'
import { createRunLog, type RunLog } from './log/log.ts'
import { announceRun, outcomeOf } from './observation.ts'
import type { KnownStart, RunDependencies, RunStarter } from './performed-run.ts'
import type { RunSharing, SharedRuns } from './shared/sharing.ts'
import { createSharedRuns, stopElsewhere } from './shared/take-over.ts'
import { claimRun, endUnclaimed } from './start/claim.ts'
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
  stop(id: RunId, cause: StopCause): Promise<void>
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

/** The runs of this process. */
interface RegistryState {
  readonly dependencies: ChatDependencies & { budgets: Budgets }
  readonly store: ChatDependencies['store']
  readonly database: ChatDependencies['database']
  readonly log: ChatDependencies['log']
  readonly sharing: ChatDependencies['sharing']
  readonly instance: ChatDependencies['instance']
  isDraining: boolean
  readonly starts: WriteGroup
  readonly writes: WriteGroup
  readonly active: Map<RunId, { run: ActiveRun; row: RunRow }>
  /** The active runs whose rows are stored. */
  readonly launched: Set<RunId>
  readonly ended: LRUCache<RunId, RunLog, unknown>
  readonly handedOver: ReturnType<typeof createHandedOver>
  readonly changes: ReturnType<typeof createRunChanges>
  readonly runDependencies: RunDependencies
}

/** Create one per process. */
export function createRunRegistry(
  dependencies: ChatDependencies & { budgets: Budgets },
): RunRegistry {
  const { store, database, log, sharing, instance } = dependencies
  const { starts, writes } = createRunWrites(database, {
    isDraining: () => registry.isDraining,
    onRetry: () => dependencies.observe?.({ kind: 'store_retry' }),
  })
  const storeMoments = createStoreMoments()
  const handedOver = createHandedOver(sharing, log)
  const runDependencies = {
    ...dependencies,
    // Created below.
    get runs() {
      return runs
    },
    storeMoments,
    isDraining: () => registry.isDraining,
  }
  const registry: RegistryState = {
    dependencies,
    store,
    database,
    log,
    sharing,
    instance,
    isDraining: false,
    starts,
    writes,
    active: new Map<RunId, { run: ActiveRun; row: RunRow }>(),
    launched: new Set<RunId>(),
    ended: createEndedLogs(),
    handedOver,
    changes: createRunChanges(),
    runDependencies,
  }
  const runs: RunRegistry = {
    begin: (run, write) => begin(registry, run, write),
    continue: (id) => continueRun(registry, id),
    continueWithRetry: (id) => continueWithRetry(registry, id),
    stop: (id, cause) => stop(registry, id, cause),
    withEndedRun: (id, work) =>
      registry.changes.inOrder(id, async () => {
        const run = await registry.store.runs.find(id)
        if (run !== undefined && run.endedAt !== null) await registry.active.get(id)?.run.ended
        return await work()
      }),
    get: (id) => registry.active.get(id)?.run,
    findIds: (matches) =>
      [...registry.active.values()].filter(({ row }) => matches(row)).map(({ row }) => row.id),
    get count() {
      return registry.active.size
    },
    get load() {
      const logs = [...registry.active.values()].map(({ run }) => run.runLog)
      return {
        active: logs.length,
        waiting: logs.filter(({ isWaiting }) => isWaiting).length,
        listeners: logs.reduce((sum, { listenerCount }) => sum + listenerCount, 0),
      }
    },
    get isDraining() {
      return registry.isDraining
    },
    canHandOver: async () => (await registry.sharing?.hasOthers()) ?? false,
    async drain(graceMs) {
      registry.isDraining = true
      await drainRuns(
        () => [...registry.active.values()].map(({ run }) => run),
        registry.handedOver,
        graceMs,
      )
    },
    runLog: (run) => runLog(registry, run),
    shared: createSharedRuns({
      store: registry.store,
      instance: registry.instance,
      active: (id) => registry.active.get(id)?.run,
      performed: () => [...registry.launched],
      continueRun: (id) => continueWithRetry(registry, id),
      log: registry.log,
    }),
  }
  return runs
}

/** The number of active runs that do not wait for a person. */
const workingRuns = (registry: RegistryState): number =>
  [...registry.active.values()].filter(({ run }) => !run.runLog.isWaiting).length

async function launch(
  registry: RegistryState,
  activeRun: ActiveRun,
  run: RunRow,
  known?: KnownStart,
): Promise<void> {
  registry.launched.add(run.id)
  announceRun(run, run.attempt > 1 ? 'updated' : 'created', registry.dependencies.announce)
  const startedAt = performance.now()
  const stepsBefore = activeRun.runLog.stepCount
  const isNew = stepsBefore === 0 && run.attempt === 1
  const endPublishing = registry.sharing?.publish(run, activeRun.runLog, { isNew })
  const ownWrites = { commit: (write: Write) => registry.writes.commit(write, run.id) }
  await performRun({ active: activeRun, run, known }, registry.runDependencies, ownWrites)
  endPublishing?.()
  registry.dependencies.observe?.({
    kind: 'run_ended',
    outcome: outcomeOf(activeRun.runLog.terminal),
    steps: activeRun.runLog.stepCount - stepsBefore,
    seconds: (performance.now() - startedAt) / 1_000,
  })
  announceRun(run, 'updated', registry.dependencies.announce)
  registry.active.delete(run.id)
  registry.launched.delete(run.id)
  if (activeRun.runLog.terminal !== null) registry.ended.set(run.id, activeRun.runLog)
  else if (activeRun.stopReason === 'shutdown') await registry.sharing?.dispatch(run.id)
  activeRun.markEnded()
}

const continueRun = (registry: RegistryState, id: RunId): Promise<void> =>
  registry.changes.inOrder(id, async () => {
    if (registry.active.has(id) || registry.isDraining) return
    const claimed = await claimRun(id, registry.dependencies)
    if (claimed === null) return await nudgeHolder(registry, id)
    registry.ended.delete(id)
    const { run, rows } = claimed
    const activeRun = createActiveRun(id, createRunLog(runLogHistory(run, rows)))
    registry.active.set(id, { run: activeRun, row: run })
    void launch(registry, activeRun, run)
  })

/** Asks the instance that performs the run to read what has changed. */
async function nudgeHolder(registry: RegistryState, id: RunId): Promise<void> {
  if (registry.sharing === undefined) return
  const holder = await registry.store.leases.holderOf(id)
  if (holder !== null && holder !== registry.instance) registry.sharing.nudge(holder)
}

/** Stores a new run. The lock order is the same everywhere: the user's runs, the run, the conversation. */
async function commitNew(registry: RegistryState, run: RunRow, write: Write): Promise<void> {
  const insert = newRun(run, write, registry.dependencies)
  try {
    await registry.starts.commit(insert, run.id)
  } catch (error) {
    if (!(error instanceof RunNotInserted)) throw error
    await registry.starts.commit(insert, run.id)
  }
}

/** Stores a new run and lets any instance perform it. */
async function offer(registry: RegistryState, run: RunRow, write: Write): Promise<void> {
  const queued: RunRow = { ...run, status: 'queued', owner: null }
  await commitNew(registry, queued, write)
  const isDispatched = await registry.sharing?.dispatch(run.id)
  if (registry.isDraining) registry.handedOver.add(queued)
  else if (!isDispatched) await continueWithRetry(registry, run.id)
}

async function continueWithRetry(registry: RegistryState, id: RunId): Promise<void> {
  try {
    await continueRun(registry, id)
  } catch (error) {
    registry.log.warn({ err: error, run_id: id }, 'a run could not be continued; retrying')
    setTimeout(() => void continueWithRetry(registry, id), CONTINUE_RETRY_MS).unref()
  }
}

async function begin(
  registry: RegistryState,
  run: RunRow,
  write: (tx: Writer) => Promise<KnownStart | undefined>,
): Promise<void> {
  if (
    registry.sharing !== undefined &&
    (registry.isDraining || registry.sharing.isOffering(workingRuns(registry)))
  )
    return await offer(registry, run, write)
  const activeRun = createActiveRun(run.id, createRunLog(runLogHistory(run, [])))
  // Registered before its rows are stored: a concurrent deletion of its user, project or conversation either finds the
  // run here, or the run finds them deleted.
  registry.active.set(run.id, { run: activeRun, row: run })
  let known: KnownStart | undefined
  try {
    await commitNew(registry, run, async (tx) => {
      known = await write(tx)
    })
  } catch (error) {
    registry.active.delete(run.id)
    activeRun.markEnded()
    throw error
  }
  void launch(registry, activeRun, run, known)
}

const stop = (registry: RegistryState, id: RunId, cause: StopCause): Promise<void> =>
  registry.changes.inOrder(id, async () => {
    const activeRun = registry.active.get(id)?.run
    if (activeRun !== undefined) await stopAndWait(activeRun, cause)
    const requestStop = () =>
      registry.database.write((tx) => registry.store.runs.requestStop(tx, id, cause))
    const end = () => endUnclaimed(id, cause, registry.dependencies)
    if (registry.active.has(id)) await requestStop()
    else if (registry.sharing !== undefined)
      await stopElsewhere(id, {
        store: registry.store,
        sharing: registry.sharing,
        requestStop,
        end,
      })
    // No process performs it, or it was suspended: a shutdown must not undo the stop.
    else await end()
  })

async function runLog(registry: RegistryState, run: RunRow): Promise<RunLog | null> {
  const logInMemory = () => registry.active.get(run.id)?.run.runLog ?? registry.ended.get(run.id)
  if (logInMemory() === undefined) await registry.changes.last(run.id)
  const live = logInMemory()
  if (live !== undefined) return live
  const stored = await registry.store.runs.find(run.id)
  if (stored === undefined) throw appError('run_not_found')
  if (stored.endedAt === null) {
    const started = logInMemory()
    if (started !== undefined) return started
    if (registry.sharing !== undefined) return await registry.sharing.follow(stored)
    throw appError(
      registry.isDraining ? 'shutting_down' : 'run_continues_soon',
      {},
      { retryable: true, retryAfter: 2 },
    )
  }
  return null
}

/** The logs of runs that have just ended, for listeners that reconnect. */
const createEndedLogs = (): LRUCache<RunId, RunLog> =>
  new LRUCache<RunId, RunLog>({
    max: MAX_ENDED_LOGS,
    maxSize: MAX_ENDED_LOG_CHARACTERS,
    maxEntrySize: MAX_ENDED_LOG_CHARACTERS / 4,
    sizeCalculation: charactersOf,
    ttl: ENDED_LOG_TTL_MS,
  })

/** Serializes the starts and stops of each run, so that nothing changes between a check and the action that follows. */
function createRunChanges() {
  /** The last start or stop of each run. */
  const pending = new Map<RunId, Promise<unknown>>()
  return {
    async inOrder<T>(id: RunId, work: () => Promise<T>): Promise<T> {
      const result = (pending.get(id) ?? Promise.resolve()).then(work)
      const settled = result.catch(() => undefined)
      pending.set(id, settled)
      try {
        return await result
      } finally {
        if (pending.get(id) === settled) pending.delete(id)
      }
    },
    /** Settles when what is in progress for the run is done. Never rejects. */
    last: async (id: RunId): Promise<void> => void (await pending.get(id)),
  }
}

/** The runs that began here during the drain and that other instances perform: their clients follow them here. */
function createHandedOver(sharing: RunSharing | undefined, log: ChatLog) {
  const ends = new Set<Promise<void>>()

  /** Resolves when the run has ended, as far as this instance can see. Never rejects. */
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

  return {
    add(run: RunRow): void {
      const end = endElsewhere(run)
      ends.add(end)
      void end.then(() => ends.delete(end))
    },
    /** Resolves when all have ended, those that are added meanwhile included. */
    async settled(): Promise<void> {
      while (ends.size > 0) await Promise.all(ends)
    },
  }
}

/** Gives active runs `graceMs` to finish, also those that were handed over meanwhile; then suspends what is left. */
async function drainRuns(
  active: () => ActiveRun[],
  handedOver: { settled(): Promise<void> },
  graceMs: number,
): Promise<void> {
  const waiting = active()
  for (const run of waiting) if (run.runLog.isWaiting) run.stop('shutdown')
  let timer: NodeJS.Timeout | undefined
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, graceMs)
  })
  const settled = async (): Promise<void> => {
    await Promise.all(waiting.map((run) => run.ended))
    await handedOver.settled()
  }
  await Promise.race([settled(), grace])
  clearTimeout(timer)
  for (const run of active()) run.stop('shutdown')
  await Promise.all(active().map((run) => run.ended))
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
async function stopAndWait(run: ActiveRun, reason: StopCause): Promise<void> {
  run.stop(reason)
  let timer: NodeJS.Timeout | undefined
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_TIMEOUT_MS)
  })
  await Promise.race([run.ended, time])
  clearTimeout(timer)
}

// Checks whether a user may start another run, and inserts it.

/** The error for a user who has `runsPerUser` unfinished runs. */
export const tooManyRuns = (runsPerUser: number): AppError =>
  appError('runs_exhausted', { limit: runsPerUser }, { retryAfter: 5 })

/** The 409 error that names the active run. */
export const activeRunError = (runId: RunId): AppError =>
  appError('conversation_has_run', {}, { details: { run_id: runId } })

/** The maximum number of unfinished runs of a user. */
export const runsAtOnce = (access: Pick<UserAccess, 'quota'>, userId: UserId): number =>
  access.quota(userId).concurrent_runs ?? Number.MAX_SAFE_INTEGER

/**
 * Rejects a run that exceeds the limits. Call it first in the transaction that inserts or reopens the run.
 * @throws AppError `too_many_runs`, or `unauthorized` if the account has been disabled.
 */
export async function assertRunAllowed(
  tx: Writer,
  userId: UserId,
  { store, access }: Pick<ChatDependencies, 'store' | 'access'>,
): Promise<void> {
  const runsPerUser = runsAtOnce(access, userId)
  if ((await store.runs.lockUnfinished(tx, userId)) >= runsPerUser) throw tooManyRuns(runsPerUser)
  if (!(await store.users.isActive(tx, userId))) throw appError('account_disabled')
}

/** Thrown by the first execution of `newRun` if the run was not inserted. The second execution throws the reason. */
class RunNotInserted extends Error {}

/** How often a run is inserted again in one transaction if the reason why it was refused no longer exists. */
const MAX_INSERTS = 3

/**
 * The write that inserts a new run together with `write`, which stores its messages. Writes nothing if the run is already
 * stored: then the transaction was committed and only its confirmation was lost.
 * @param run its `beside` becomes the stored one: whether it is the second of two active runs.
 * @throws AppError as `assertRunAllowed` does, the database's unique violation or `activeRunError` if the conversation has an
 * active run, and `RunNotInserted` on the first execution: then execute it again.
 */
function newRun(
  run: RunRow,
  write: Write,
  dependencies: Pick<ChatDependencies, 'store' | 'access'>,
): Write {
  const { store, access } = dependencies
  const asked = { ...run }
  let isRepeated = false
  return async (tx) => {
    const insert = async (): Promise<boolean> => {
      const inserted = await store.runs.insert(tx, asked, runsAtOnce(access, run.userId))
      if (inserted !== undefined) run.beside = inserted.beside
      return inserted !== undefined
    }
    // On the first execution, the run cannot be stored already, so there is nothing to wait for: PostgreSQL receives all
    // statements at once.
    if (!isRepeated) {
      isRepeated = true
      const inserted = async (): Promise<void> => {
        if (!(await insert())) throw new RunNotInserted('The run was not inserted.')
      }
      return await inParallel(inserted, () => write(tx))
    }
    for (let inserts = 0; inserts < MAX_INSERTS; inserts += 1) {
      if (await insert()) return await write(tx)
      if ((await store.runs.findIn(tx, run.id)) !== undefined) return
      await assertRunAllowed(tx, run.userId, dependencies)
      const other = await store.runs.findInTheWay(tx, asked)
      if (other !== undefined) throw activeRunError(other)
      // PostgreSQL lets each statement see what others committed meanwhile: what was in the way has just ended.
    }
    throw appError('store_busy', {}, { retryAfter: 1 })
  }
}
