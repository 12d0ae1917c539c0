// Warm interpreters: each is handed out once, a new one takes its place, and none is kept when nobody asks for long.
import { untilAborted } from '../lib/abort.ts'
import { type Interpreter, startInterpreter } from './python-interpreter.ts'
import type { Launcher } from './python-launch.ts'
import type { PythonSnapshots } from './python-snapshots.ts'
import { residentBytes } from './resident-memory.ts'

export interface PythonPool {
  /**
   * An interpreter that nobody used before; `onStarting` is called when none is ready at once.
   * Rejects when none can be started or `signal` is aborted.
   */
  acquire(signal: AbortSignal, onStarting: () => void): Promise<Interpreter>
  /** Kills all that are waiting. Those handed out belong to their takers. */
  close(): Promise<void>
}

/** Without a call for this long, nobody is in a hurry and used images are replaced. */
const QUIET_MS = 3_000

/**
 * `size` interpreters are kept ready while somebody uses them, for `idleMs` after the last use. A call that finds none
 * waits for a start, from a memory image where there is one.
 */
export function createPythonPool(options: {
  launcher: Launcher
  snapshots: PythonSnapshots
  size: number
  idleMs: number
  log(message: string, details: object): void
}): PythonPool {
  const { launcher, snapshots } = options
  const warm = new Set<Interpreter>()
  let closed = false
  let idle = new AbortController()
  let warming: Promise<void> | null = null
  let idleTimer: NodeJS.Timeout | undefined
  let quietTimer: NodeJS.Timeout | undefined

  async function started(from: { snapshot?: number }, signal: AbortSignal): Promise<Interpreter> {
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

  /** Started from an image; null when there is none or it does not work. */
  async function startFromImage(signal: AbortSignal): Promise<Interpreter | null> {
    const image = await snapshots.take()
    if (image === null) return null
    try {
      return await started({ snapshot: image.fd }, signal)
    } catch (error) {
      if (signal.aborted) throw error
      options.log('Python did not start from its memory image; starting plainly', { error })
      return null
    } finally {
      await image.close()
    }
  }

  const takeWarm = (): Interpreter | null => {
    const [interpreter] = warm
    if (interpreter === undefined) return null
    warm.delete(interpreter)
    return interpreter
  }

  /** For a call that found no warm one. A plain start is the last resort: it takes longest. */
  async function startForCall(signal: AbortSignal): Promise<Interpreter> {
    const quick = await startFromImage(signal)
    if (quick !== null) return quick
    if (warming !== null) await untilAborted(warming, signal)
    return takeWarm() ?? (await startFromImage(signal)) ?? (await started({}, signal))
  }

  /** Brings the warm ones up to their number, one after another. Never rejects. */
  async function warmUp(signal: AbortSignal): Promise<void> {
    try {
      await snapshots.fill('first')
      while (warm.size < options.size && !signal.aborted) {
        const interpreter = (await startFromImage(signal)) ?? (await started({}, signal))
        warm.add(interpreter)
        void interpreter.ended.then(() => warm.delete(interpreter))
      }
    } catch (error) {
      if (!signal.aborted) options.log('no warm Python interpreter', { error })
    }
  }

  const letGo = async (): Promise<void> => {
    idle.abort()
    await warming
    const all = [...warm]
    for (const interpreter of all) interpreter.kill()
    warm.clear()
    await Promise.all(all.map((interpreter) => interpreter.ended))
  }

  function touch(): void {
    clearTimeout(idleTimer)
    clearTimeout(quietTimer)
    if (closed) return
    if (idle.signal.aborted) idle = new AbortController()
    idleTimer = setTimeout(() => void letGo(), options.idleMs)
    idleTimer.unref()
    quietTimer = setTimeout(() => void snapshots.fill('renew'), QUIET_MS)
    quietTimer.unref()
    warming ??= warmUp(idle.signal).finally(() => {
      warming = null
      if (!closed) void snapshots.fill('all')
    })
  }

  return {
    async acquire(signal, onStarting) {
      if (closed) throw new Error('the server is shutting down')
      const ready = takeWarm()
      if (ready === null) onStarting()
      try {
        return ready ?? (await startForCall(signal))
      } finally {
        touch()
      }
    },
    async close() {
      closed = true
      clearTimeout(idleTimer)
      clearTimeout(quietTimer)
      await snapshots.close()
      await letGo()
    },
  }
}
