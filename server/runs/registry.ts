// Starts and stops runs and knows those that this process performs; hands out the log of any run, performed here or long ended.
import { LRUCache } from 'lru-cache'
import type { RunRow } from '../db/repositories/runs.ts'
import { AppError } from '../errors.ts'
import type { RunId } from '../protocol/ids.ts'
import { type ActiveRun, createActiveRun, type StopReason } from './active-run.ts'
import { claimRun, endUnperformed } from './claim.ts'
import type { ChatDependencies } from './dependencies.ts'
import { createRunChannel, type RunChannel } from './log.ts'
import { channelHistory } from './replay.ts'

/** A log stays in memory a while after the run's end: those who lost the last events come back soon. */
const ENDED_LOGS = 50
const ENDED_LOG_MS = 20_000
/** Of all of them together; a longer one is told from the store at once. */
const ENDED_LOGS_CHARACTERS = 16_000_000
/** Between two tries to begin a run that the store did not give. */
const STORE_AWAY_MS = 5_000
/** A stop is promised within a second. */
const STOP_MS = 1_000

export interface RunRegistry {
  /** Performs a new run; its rows are stored by `store` first, and nothing begins when that fails. */
  begin(run: RunRow, store: () => Promise<void>): Promise<void>
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
  all(): ActiveRun[]
  /**
   * The log of a run that goes on or has ended only just now; null for one that is told from the store (`replayRun`).
   * It never starts a run. Throws `not_found` for one that is gone.
   */
  channel(run: RunRow): Promise<RunChannel | null>
}

interface Parts
  extends Pick<ChatDependencies, 'store' | 'database' | 'settings' | 'instance' | 'now' | 'log'> {
  isDraining(): boolean
  /** Called when a run was ended that nobody performed. */
  onEnd(run: RunRow): void
}

/** @param perform never rejects. */
export function createRunRegistry(
  parts: Parts,
  perform: (active: ActiveRun, run: RunRow) => Promise<void>,
): RunRegistry {
  const { store, database, log } = parts
  const active = new Map<RunId, { run: ActiveRun; row: RunRow }>()
  const ended = new LRUCache<RunId, RunChannel>({
    max: ENDED_LOGS,
    maxSize: ENDED_LOGS_CHARACTERS,
    maxEntrySize: ENDED_LOGS_CHARACTERS / 4,
    sizeCalculation: charactersOf,
    ttl: ENDED_LOG_MS,
  })
  const turns = new Map<RunId, Promise<unknown>>()

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

  function launch(one: ActiveRun, run: RunRow): void {
    void perform(one, run).then(() => {
      active.delete(run.id)
      if (one.channel.terminal !== null) ended.set(run.id, one.channel)
      one.markEnded()
    })
  }

  const continueRun = (id: RunId): Promise<void> =>
    inTurn(id, async () => {
      if (active.has(id) || parts.isDraining()) return
      const claimed = await claimRun(id, parts)
      if (claimed === null) return
      ended.delete(id)
      const { run, rows } = claimed
      const channel = createRunChannel(channelHistory(run, rows))
      const one = createActiveRun(id, channel)
      active.set(id, { run: one, row: run })
      launch(one, run)
    })

  async function continueWhenPossible(id: RunId): Promise<void> {
    try {
      await continueRun(id)
    } catch (error) {
      log.warn({ err: error, run_id: id }, 'a run could not be begun; it is tried again')
      setTimeout(() => void continueWhenPossible(id), STORE_AWAY_MS).unref()
    }
  }

  return {
    async begin(run, storeRows) {
      const channel = createRunChannel({ entries: [], steps: [], lastId: 0 })
      channel.appendEvent({
        event: 'run',
        run_id: run.id,
        user_message_id: run.userMessageId,
        message_id: run.messageId,
      })
      const one = createActiveRun(run.id, channel)
      // Before its rows: whoever takes its user, project or conversation away finds it here, or it finds them gone.
      active.set(run.id, { run: one, row: run })
      try {
        await storeRows()
      } catch (error) {
        active.delete(run.id)
        one.markEnded()
        throw error
      }
      launch(one, run)
    },
    continue: continueRun,
    continueWhenPossible,
    stop: (id, reason) =>
      inTurn(id, async () => {
        const one = active.get(id)?.run
        if (one !== undefined) await stopAndWait(one, reason)
        if (active.has(id)) await database.write((tx) => store.runs.requestStop(tx, id))
        // Nobody performs it, or it was left for the next start: a server that goes away does not undo a stop.
        else await endUnperformed(id, parts)
      }),
    whileEnded: (id, work) =>
      inTurn(id, async () => {
        const run = await store.runs.find(id)
        if (run !== undefined && run.endedAt !== null) await active.get(id)?.run.ended
        return await work()
      }),
    get: (id) => active.get(id)?.run,
    where: (fits) => [...active.values()].filter(({ row }) => fits(row)).map(({ row }) => row.id),
    all: () => [...active.values()].map((one) => one.run),
    async channel(run) {
      const known = () => active.get(run.id)?.run.channel ?? ended.get(run.id)
      if (known() === undefined) await turns.get(run.id)
      const live = known()
      if (live !== undefined) return live
      const stored = await store.runs.find(run.id)
      if (stored === undefined) throw new AppError('not_found', 'There is no such run.')
      if (stored.endedAt === null) {
        const begun = known()
        if (begun !== undefined) return begun
        throw new AppError(
          parts.isDraining() ? 'shutting_down' : 'store_unavailable',
          'The server is about to go on with this run. Try again shortly.',
          { retryable: true, retryAfter: 2 },
        )
      }
      return null
    },
  }
}

/** About how much text a log holds. */
function charactersOf(channel: RunChannel): number {
  let characters = 1
  for (let index = 0; index < channel.stepCount; index += 1) {
    const step = channel.step(index)
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
