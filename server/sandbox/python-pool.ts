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
  let refilling: Promise<void> | null = null
  let idleTimer: NodeJS.Timeout | undefined

  /** Starts one from an image, or plainly where there is none or it does not work. */
  async function start(signal: AbortSignal): Promise<Interpreter> {
    const image = await snapshots.take()
    if (image !== null) {
      try {
        return await started({ snapshot: image.fd }, signal)
      } catch (error) {
        if (signal.aborted) throw error
        options.log('Python did not start from its memory image; starting plainly', { error })
      } finally {
        await image.close()
      }
    }
    return await started({}, signal)
  }

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

  /** Brings the warm ones up to their number, one after another, then the images. Never rejects. */
  async function refill(signal: AbortSignal): Promise<void> {
    try {
      await snapshots.fill('first')
      while (warm.size < options.size && !signal.aborted) {
        const interpreter = await start(signal)
        warm.add(interpreter)
        void interpreter.ended.then(() => warm.delete(interpreter))
      }
    } catch (error) {
      if (!signal.aborted) options.log('no warm Python interpreter', { error })
      return
    }
    await snapshots.fill('all')
  }

  const letGo = async (): Promise<void> => {
    idle.abort()
    await refilling
    const all = [...warm]
    for (const interpreter of all) interpreter.kill()
    warm.clear()
    await Promise.all(all.map((interpreter) => interpreter.ended))
  }

  function touch(): void {
    clearTimeout(idleTimer)
    if (closed) return
    if (idle.signal.aborted) idle = new AbortController()
    idleTimer = setTimeout(() => void letGo(), options.idleMs)
    idleTimer.unref()
    refilling ??= refill(idle.signal).finally(() => {
      refilling = null
    })
  }

  return {
    async acquire(signal, onStarting) {
      if (closed) throw new Error('the server is shutting down')
      const [ready] = warm
      if (ready !== undefined) warm.delete(ready)
      else onStarting()
      try {
        return ready ?? (await start(signal))
      } finally {
        touch()
      }
    },
    async close() {
      closed = true
      clearTimeout(idleTimer)
      snapshots.close()
      await letGo()
    },
  }
}
