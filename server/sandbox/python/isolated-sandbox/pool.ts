// A pool of warm interpreters: each is used once and then replaced; an idle pool keeps none.
import { untilAborted } from '../../../lib/abort.ts'
import { residentBytes } from '../../resident-memory.ts'
import type { CompiledFiles } from '../compiled-files.ts'
import { type Interpreter, startInterpreter } from '../interpreter.ts'
import type { Launcher } from '../launch.ts'

/** Interpreters that are started before they are needed. Each runs one program. */
export interface PythonPool {
  /**
   * Returns an unused interpreter; calls `onStarting` when none is warm. Rejects when none can be started or
   * `signal` is aborted.
   */
  acquire(signal: AbortSignal, onStarting: () => void): Promise<Interpreter>
  /** Kills all idle interpreters. Those in use belong to their callers. */
  close(): Promise<void>
}

/** An interpreter in the pool, warm or starting. */
interface Slot {
  interpreter: Promise<Interpreter>
  warm: boolean
  /** Aborts a start in progress. */
  stop(): void
}

/** What a pool starts, and how many. */
interface PoolOptions {
  launcher: Launcher
  compiled: CompiledFiles
  size: number
  idleMs: number
  log(message: string, details: object): void
}

interface Pool extends PoolOptions {
  /** Oldest first. */
  slots: Slot[]
  /** Killed interpreters whose processes have not ended yet. */
  ending: Set<Promise<unknown>>
  closed: boolean
  idleTimer: NodeJS.Timeout | undefined
}

/**
 * Keeps `size` interpreters warm for `idleMs` after the last use. A call that finds none warm takes over the start that
 * began first, or starts its own.
 */
export function createPythonPool(options: PoolOptions): PythonPool {
  const pool: Pool = {
    ...options,
    slots: [],
    ending: new Set(),
    closed: false,
    idleTimer: undefined,
  }

  return {
    async acquire(signal, onStarting) {
      if (pool.closed) throw new Error('the server is shutting down')
      const slot = removeSlot(pool)
      if (slot?.warm !== true) onStarting()
      const started = slot === undefined ? null : takeOver(pool, slot, signal)
      // Refills now, not when this one is ready, so that a concurrent call finds one too.
      if (slot !== undefined) refill(pool)
      try {
        return (await started) ?? (await start(pool, signal))
      } finally {
        if (slot === undefined) refill(pool)
      }
    },
    async close() {
      pool.closed = true
      clearTimeout(pool.idleTimer)
      dropAll(pool)
      await options.compiled.close()
      await Promise.all(pool.ending)
    },
  }
}

async function startWith(
  { launcher }: Pool,
  from: { library?: number | undefined; image?: number | undefined; code?: number | undefined },
  signal: AbortSignal,
): Promise<Interpreter> {
  const interpreter = startInterpreter({ launcher, mode: 'serve', residentBytes, ...from })
  try {
    await untilAborted(interpreter.ready, signal)
    return interpreter
  } catch (error) {
    interpreter.kill()
    await interpreter.ended
    throw error
  }
}

/** Starts with the compiled files if possible, and without them if they turn out not to work. */
async function start(pool: Pool, signal: AbortSignal): Promise<Interpreter> {
  const { compiled, log } = pool
  const from = await compiled.open()
  try {
    return await startWith(
      pool,
      { library: from.library?.fd, image: from.image?.fd, code: from.code?.fd },
      signal,
    )
  } catch (error) {
    if (signal.aborted || from.library === null) throw error
    log('Python did not start with its compiled files; starting without them', { error })
    await compiled.discard()
  } finally {
    await from.close()
  }
  return await startWith(pool, {}, signal)
}

function addSlot(pool: Pool): void {
  const { log } = pool
  const cancel = new AbortController()
  const interpreter = start(pool, cancel.signal)
  const slot: Slot = { interpreter, warm: false, stop: () => cancel.abort() }
  const remove = (): void => {
    pool.slots = pool.slots.filter((each) => each !== slot)
  }
  interpreter.then(
    ({ ended }) => {
      slot.warm = true
      void ended.then(remove)
    },
    (error: unknown) => {
      remove()
      if (!cancel.signal.aborted) log('a warm Python interpreter could not be started', { error })
    },
  )
  pool.slots.push(slot)
}

/** Removes and returns the oldest warm interpreter, else the one that will be warm first. */
const removeSlot = (pool: Pool): Slot | undefined => {
  const slot = pool.slots.find(({ warm }) => warm) ?? pool.slots[0]
  pool.slots = pool.slots.filter((each) => each !== slot)
  return slot
}

/** Takes over a start in progress; returns it to the pool if the call is aborted meanwhile. */
async function takeOver(pool: Pool, slot: Slot, signal: AbortSignal): Promise<Interpreter | null> {
  try {
    return await untilAborted(slot.interpreter, signal)
  } catch (error) {
    if (!signal.aborted) return null
    if (pool.closed) drop(pool, slot)
    else pool.slots.unshift(slot)
    throw error
  }
}

const drop = ({ ending }: Pool, slot: Slot): void => {
  slot.stop()
  const ended = slot.interpreter.then(
    async (interpreter) => {
      interpreter.kill()
      await interpreter.ended
    },
    () => {},
  )
  ending.add(ended)
  void ended.then(() => ending.delete(ended))
}

function dropAll(pool: Pool): void {
  const all = pool.slots
  pool.slots = []
  for (const slot of all) drop(pool, slot)
}

/** Restarts the idle timer and refills the pool. */
function refill(pool: Pool): void {
  const { compiled, idleMs, size } = pool
  clearTimeout(pool.idleTimer)
  if (pool.closed) return
  pool.idleTimer = setTimeout(() => dropAll(pool), idleMs)
  pool.idleTimer.unref()
  while (pool.slots.length < size) addSlot(pool)
  // Starting interpreters takes precedence over building files for later.
  void Promise.allSettled(pool.slots.map(({ interpreter }) => interpreter)).then(() =>
    compiled.fill(),
  )
}
