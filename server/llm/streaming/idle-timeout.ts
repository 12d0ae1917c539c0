// The abort signal for a request to a provider: aborts with the run's signal, or after too long a silence.

import { onAbort } from '../../lib/abort.ts'

/** Aborts a request if nothing arrives for too long. */
export interface SilenceWatch {
  /** Pass this to the request. */
  readonly signal: AbortSignal
  /** Whether silence ended the request. */
  readonly silent: boolean
  /** Call it when data has arrived. Restarts the timeout. */
  dataArrived(): void
  /** Reduces the timeout to this value if it is longer. */
  shorten(milliseconds: number): void
  /** Removes the listener and the timer. */
  close(): void
}

/** @param idleMs milliseconds of silence after which the signal aborts. */
export function watchSilence(outer: AbortSignal, idleMs: number): SilenceWatch {
  const controller = new AbortController()
  let silent = false
  const stop = () => controller.abort(outer.reason)
  const expire = () => {
    silent = true
    controller.abort(new Error('silence'))
  }
  let limit = idleMs
  let timer = setTimeout(expire, limit)
  const stopListening = onAbort(outer, stop)
  return {
    signal: controller.signal,
    get silent() {
      return silent
    },
    dataArrived: () => void timer.refresh(),
    shorten(milliseconds) {
      if (milliseconds >= limit) return
      limit = milliseconds
      clearTimeout(timer)
      timer = setTimeout(expire, limit)
    },
    close() {
      clearTimeout(timer)
      stopListening()
    },
  }
}
