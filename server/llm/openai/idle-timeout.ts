// One abort signal for one request to a provider: aborted by the run's own signal or by too long a silence.

export interface SilenceWatch {
  /** For the request. */
  readonly signal: AbortSignal
  /** Whether silence ended the request. */
  readonly silent: boolean
  /** Something arrived: the silence starts over. */
  heard(): void
  /** From now on, only this much silence is allowed, if it is less. */
  shorten(milliseconds: number): void
  /** Removes the listener and the timer. */
  close(): void
}

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
  if (outer.aborted) stop()
  else outer.addEventListener('abort', stop, { once: true })
  return {
    signal: controller.signal,
    get silent() {
      return silent
    },
    heard: () => void timer.refresh(),
    shorten(milliseconds) {
      if (milliseconds >= limit) return
      limit = milliseconds
      clearTimeout(timer)
      timer = setTimeout(expire, limit)
    },
    close() {
      clearTimeout(timer)
      outer.removeEventListener('abort', stop)
    },
  }
}
