// A pool of warm interpreters: each is used once and then replaced; without recent use, none is kept warm.
import { untilAborted } from '../../lib/abort.ts'
import { residentBytes } from '../resident-memory.ts'
import { type Interpreter, startInterpreter } from './interpreter.ts'
import type { Launcher } from './launch.ts'
import type { PythonSnapshots } from './snapshots.ts'

export interface PythonPool {
  /**
   * Returns an unused interpreter; calls `onStarting` when none is ready at once. Rejects when none can be started or
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
  /** Ends a start in progress. */
  stop(): void
}

/**
 * Keeps `size` interpreters ready for `idleMs` after the last use. A call that finds none ready takes over the one that has
 * been starting for longest, else starts its own.
 */
export function createPythonPool(options: {
  launcher: Launcher
  snapshots: PythonSnapshots
  size: number
  idleMs: number
  log(message: string, details: object): void
}): PythonPool {
  const { launcher, snapshots } = options
  /** Oldest first. */
  let slots: Slot[] = []
  /** Released interpreters whose processes are about to end. */
  const abandoned = new Set<Promise<unknown>>()
  let closed = false
  let idleTimer: NodeJS.Timeout | undefined

  async function startWith(
    from: { library?: number | undefined; image?: number | undefined },
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

  /** Starts from the stored snapshots if possible; without them if they turn out to be broken. */
  async function start(signal: AbortSignal): Promise<Interpreter> {
    const from = await snapshots.take()
    try {
      return await startWith({ library: from.library?.fd, image: from.image?.fd }, signal)
    } catch (error) {
      if (signal.aborted || from.library === null) throw error
      options.log('Python did not start from its memory image; starting plainly', { error })
      await snapshots.discard()
    } finally {
      await from.close()
    }
    return await startWith({}, signal)
  }

  function openPlace(): void {
    const end = new AbortController()
    const interpreter = start(end.signal)
    const slot: Slot = { interpreter, warm: false, stop: () => end.abort() }
    const leave = (): void => {
      slots = slots.filter((each) => each !== slot)
    }
    interpreter.then(
      ({ ended }) => {
        slot.warm = true
        void ended.then(leave)
      },
      (error: unknown) => {
        leave()
        if (!end.signal.aborted) options.log('no warm Python interpreter', { error })
      },
    )
    slots.push(slot)
  }

  /** The oldest warm interpreter, else the one that will be warm first. */
  const takePlace = (): Slot | undefined => {
    const slot = slots.find(({ warm }) => warm) ?? slots[0]
    slots = slots.filter((each) => each !== slot)
    return slot
  }

  /** Takes over a start in progress; returns it to the pool if the call is aborted meanwhile. */
  async function takeOver(slot: Slot, signal: AbortSignal): Promise<Interpreter | null> {
    try {
      return await untilAborted(slot.interpreter, signal)
    } catch (error) {
      if (!signal.aborted) return null
      if (closed) drop(slot)
      else slots.unshift(slot)
      throw error
    }
  }

  const drop = (slot: Slot): void => {
    slot.stop()
    const gone = slot.interpreter.then(
      async (interpreter) => {
        interpreter.kill()
        await interpreter.ended
      },
      () => {},
    )
    abandoned.add(gone)
    void gone.then(() => abandoned.delete(gone))
  }

  function letGo(): void {
    const all = slots
    slots = []
    all.forEach(drop)
  }

  function touch(): void {
    clearTimeout(idleTimer)
    if (closed) return
    idleTimer = setTimeout(letGo, options.idleMs)
    idleTimer.unref()
    while (slots.length < options.size) openPlace()
    // Calls have priority over building images for later.
    void Promise.allSettled(slots.map(({ interpreter }) => interpreter)).then(() =>
      snapshots.fill(),
    )
  }

  return {
    async acquire(signal, onStarting) {
      if (closed) throw new Error('the server is shutting down')
      const slot = takePlace()
      if (slot?.warm !== true) onStarting()
      const started = slot === undefined ? null : takeOver(slot, signal)
      // Starts the next one now, not when this one is ready, so that two concurrent calls both find one.
      if (slot !== undefined) touch()
      try {
        return (await started) ?? (await start(signal))
      } finally {
        if (slot === undefined) touch()
      }
    },
    async close() {
      closed = true
      clearTimeout(idleTimer)
      letGo()
      await snapshots.close()
      await Promise.all(abandoned)
    },
  }
}
