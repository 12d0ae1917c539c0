// What ends a run from outside: the time limit, and nobody listening any more.
import type { OnDisconnect } from '../protocol/message.ts'
import type { ActiveRun } from './active-runs.ts'

/** After a restart the listeners of a run that stops with them get this long to come back. */
const RETURN_MS = 30_000

/**
 * Stops the run when it has been without a listener for as long as it may. A run that waits for a person is not stopped:
 * its question may be answered from another device, tomorrow.
 * @returns the call that ends the watch.
 */
export function watchListeners(
  active: ActiveRun,
  options: { onDisconnect: OnDisconnect; graceMs: number; isResumed: boolean },
): () => void {
  if (options.onDisconnect === 'continue') return () => {}
  const delay = options.onDisconnect === 'stop' ? 0 : options.graceMs
  let timer: NodeJS.Timeout | undefined
  const arm = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (active.channel.pendingApprovals.size > 0) arm(Math.max(ms, 1_000))
      else active.stop('stopped')
    }, ms)
    timer.unref()
  }
  active.channel.onListenersChange((count) => {
    if (count === 0) arm(delay)
    else clearTimeout(timer)
  })
  if (options.isResumed && active.channel.listenerCount === 0) arm(Math.max(delay, RETURN_MS))
  return () => clearTimeout(timer)
}

/** Counts the time that a run works; waiting for a person does not count. */
export interface WorkClock {
  pause(): void
  resume(): void
  end(): void
}

export function createWorkClock(limitMs: number, onLimit: () => void): WorkClock {
  let left = limitMs
  let since = performance.now()
  let pauses = 0
  let timer = setTimeout(onLimit, left)
  timer.unref()
  return {
    pause() {
      pauses += 1
      if (pauses > 1) return
      clearTimeout(timer)
      left -= performance.now() - since
    },
    resume() {
      pauses -= 1
      if (pauses > 0) return
      since = performance.now()
      timer = setTimeout(onLimit, Math.max(0, left))
      timer.unref()
    },
    end: () => clearTimeout(timer),
  }
}
