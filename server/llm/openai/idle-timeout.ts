// One abort signal for one exchange with a provider: set off by the run's own signal or by too long a silence.

export interface SilenceWatch {
  /** To be given to the request. */
  readonly signal: AbortSignal
  /** Whether it was the silence that ended the exchange. */
  readonly silent: boolean
  /** Something arrived: the count begins again. */
  heard(): void
  /** From now on only this much silence is waited for, when it is less. */
  shorten(milliseconds: number): void
  /** Takes the listener and the timer away. */
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
