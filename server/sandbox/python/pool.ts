// A pool of warm interpreters: each is used once and then replaced; an idle pool keeps none.
import { untilAborted } from '../../lib/abort.ts'
import { residentBytes } from '../resident-memory.ts'
import type { CompiledFiles } from './compiled-files.ts'
import { type Interpreter, startInterpreter } from './interpreter.ts'
import type { Launcher } from './launch.ts'

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

/**
 * Keeps `size` interpreters warm for `idleMs` after the last use. A call that finds none warm takes over the start that
 * began first, or starts its own.
 */
export function createPythonPool(options: {
  launcher: Launcher
  compiled: CompiledFiles
  size: number
  idleMs: number
  log(message: string, details: object): void
}): PythonPool {
  const { launcher, compiled } = options
  /** Oldest first. */
  let slots: Slot[] = []
  /** Killed interpreters whose processes have not ended yet. */
  const ending = new Set<Promise<unknown>>()
  let closed = false
  let idleTimer: NodeJS.Timeout | undefined

  async function startWith(
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
  async function start(signal: AbortSignal): Promise<Interpreter> {
    const from = await compiled.open()
    try {
      return await startWith(
        { library: from.library?.fd, image: from.image?.fd, code: from.code?.fd },
        signal,
      )
    } catch (error) {
      if (signal.aborted || from.library === null) throw error
      options.log('Python did not start with its compiled files; starting without them', { error })
      await compiled.discard()
    } finally {
      await from.close()
    }
    return await startWith({}, signal)
  }

  function addSlot(): void {
    const cancel = new AbortController()
    const interpreter = start(cancel.signal)
    const slot: Slot = { interpreter, warm: false, stop: () => cancel.abort() }
    const remove = (): void => {
      slots = slots.filter((each) => each !== slot)
    }
    interpreter.then(
      ({ ended }) => {
        slot.warm = true
        void ended.then(remove)
      },
      (error: unknown) => {
        remove()
        if (!cancel.signal.aborted)
          options.log('a warm Python interpreter could not be started', { error })
      },
    )
    slots.push(slot)
  }

  /** The oldest warm interpreter, else the one that will be warm first. */
  const takeSlot = (): Slot | undefined => {
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

  function dropAll(): void {
    const all = slots
    slots = []
    all.forEach(drop)
  }

  /** Restarts the idle timer and refills the pool. */
  function refill(): void {
    clearTimeout(idleTimer)
    if (closed) return
    idleTimer = setTimeout(dropAll, options.idleMs)
    idleTimer.unref()
    while (slots.length < options.size) addSlot()
    // Starting interpreters takes precedence over building files for later.
    void Promise.allSettled(slots.map(({ interpreter }) => interpreter)).then(() => compiled.fill())
  }

  return {
    async acquire(signal, onStarting) {
      if (closed) throw new Error('the server is shutting down')
      const slot = takeSlot()
      if (slot?.warm !== true) onStarting()
      const started = slot === undefined ? null : takeOver(slot, signal)
      // Refills now, not when this one is ready, so that a concurrent call finds one too.
      if (slot !== undefined) refill()
      try {
        return (await started) ?? (await start(signal))
      } finally {
        if (slot === undefined) refill()
      }
    },
    async close() {
      closed = true
      clearTimeout(idleTimer)
      dropAll()
      await compiled.close()
      await Promise.all(ending)
    },
  }
}
