// Follows a run log as an async iterable, for readers that translate events.
import type { RunLog } from './log.ts'
import { createRunView, type OutgoingEvent } from './view.ts'

/**
 * Yields every event of the run from its beginning, as deltas, and null whenever nothing has happened for `quietMs`. Ends
 * after the terminal event, when the signal aborts, and when the server shuts down. The reader counts as a listener of the
 * run.
 */
export async function* followRun(
  runLog: RunLog,
  { signal, quietMs }: { signal: AbortSignal; quietMs: number },
): AsyncGenerator<OutgoingEvent | null, void> {
  const view = createRunView(runLog, 'delta', 0)
  let isClosed = false
  let wake = (): void => {}
  const notify = (): void => wake()
  const unsubscribe = runLog.subscribe({
    onEntries: notify,
    onClose() {
      isClosed = true
      notify()
    },
  })
  signal.addEventListener('abort', notify)
  try {
    while (!signal.aborted) {
      // Deltas are never joined, so that every reader receives the same events.
      const events = view.take(performance.now(), false)
      yield* events
      if (events.length > 0) continue
      if (runLog.terminal !== null || isClosed) return
      const isQuiet = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), quietMs)
        wake = () => {
          clearTimeout(timer)
          resolve(false)
        }
      })
      if (isQuiet) yield null
    }
  } finally {
    signal.removeEventListener('abort', notify)
    unsubscribe()
  }
}
