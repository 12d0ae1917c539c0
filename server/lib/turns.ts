// Long work on the event loop, cut into short turns, so that one request never delays all others.
import { setImmediate } from 'node:timers/promises'

/** How long one piece of work may hold the event loop. */
const TURN_MS = 5

/**
 * Returns a function to call between two steps of long work: it waits for the next turn of the event loop if this turn has
 * taken long, and costs nothing otherwise. Each step alone must be short.
 */
export function createTurns(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < TURN_MS) return
    return setImmediate().then(() => {
      since = performance.now()
    })
  }
}
