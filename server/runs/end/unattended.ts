// What ends a run from outside: nobody listening any more.
import type { OnDisconnect } from '../../protocol/message.ts'
import type { ActiveRun } from '../active-run.ts'

/** At the start, and after a restart, the listeners of a run that stops with them get this long to come. */
const RETURN_MS = 30_000

/**
 * Stops the run when it has been without a listener for as long as it may. A run that waits for a person is not stopped:
 * its approval request may be decided on another device, tomorrow.
 * @returns the call that ends the watch.
 */
export function watchListeners(
  active: ActiveRun,
  options: { onDisconnect: OnDisconnect; graceMs: number },
): () => void {
  if (options.onDisconnect === 'continue') return () => {}
  const delay = options.onDisconnect === 'stop' ? 0 : options.graceMs
  let timer: NodeJS.Timeout | undefined
  const arm = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (active.runLog.pendingApprovals.size > 0) arm(Math.max(ms, 1_000))
      else active.stop('stopped')
    }, ms)
    timer.unref()
  }
  active.runLog.onListenersChange((count) => {
    if (count === 0) arm(delay)
    else clearTimeout(timer)
  })
  // Also a new run can be without anybody: its client may be gone before it listens.
  if (active.runLog.listenerCount === 0) arm(Math.max(delay, RETURN_MS))
  return () => clearTimeout(timer)
}
