// Waiting that ends when a signal is aborted.

/** The reason of an aborted signal as an error. */
export const abortError = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new Error('Aborted')

/**
 * The outcome of `work`, or a rejection with the signal's reason as soon as it is aborted. `work` itself continues
 * unobserved; pass it the signal too where it can be stopped.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(abortError(signal))
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/**
 * A controller that is aborted with its parent. `release` detaches it from the parent and must be called in the end.
 */
export function linkedController(parent: AbortSignal): {
  controller: AbortController
  release(): void
} {
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(parent.reason)
  if (parent.aborted) onAbort()
  else parent.addEventListener('abort', onAbort, { once: true })
  return { controller, release: () => parent.removeEventListener('abort', onAbort) }
}
