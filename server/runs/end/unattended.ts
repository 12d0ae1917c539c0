// Stops runs that nobody listens to.
import type { OnDisconnect } from '../../protocol/conversations/message.ts'
import type { ActiveRun } from '../active-run.ts'

/** Milliseconds for the first listener to connect after a start or restart, even if `on_disconnect` is `stop`. */
const CONNECT_MS = 30_000

/**
 * Stops the run when it has had no listener for the grace period. A run that waits for a person is not stopped: the
 * decision may come later, from another device.
 * @returns a function that ends the watch.
 */
export function stopWhenUnattended(
  active: ActiveRun,
  options: { onDisconnect: OnDisconnect; graceMs: number },
): () => void {
  if (options.onDisconnect === 'continue') return () => {}
  const delay = options.onDisconnect === 'stop' ? 0 : options.graceMs
  let timer: NodeJS.Timeout | undefined
  const arm = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (active.runLog.isWaiting) arm(Math.max(ms, 1_000))
      else active.stop('stopped')
    }, ms)
    timer.unref()
  }
  const endWatch = active.runLog.onListenersChange((count) => {
    if (count === 0) arm(delay)
    else clearTimeout(timer)
  })
  // The client of a new run may disconnect before it subscribes.
  if (active.runLog.listenerCount === 0) arm(Math.max(delay, CONNECT_MS))
  return () => {
    clearTimeout(timer)
    // The log stays in memory for a while after the end, and must not keep the rest of the run there.
    endWatch()
  }
}
