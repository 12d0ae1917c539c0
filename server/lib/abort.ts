// Waiting that ends when a signal is aborted.

/** The reason of an aborted signal as an error. */
export const abortError = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new Error('Aborted')

/** Who waits for which signal. A batch of calls shares one: a listener of each would count as a leak. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `listener` once when the signal is aborted, at once if it is already. Returns what takes the listener away again.
 * However many wait for a signal, it has one listener.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener()
    return () => {}
  }
  let listeners = waiting.get(signal)
  if (listeners === undefined) {
    const all = new Set<() => void>()
    const tell = (): void => {
      for (const each of all) each()
    }
    signal.addEventListener('abort', tell, { once: true })
    waiting.set(signal, all)
    listeners = all
  }
  // Each call its own entry, also when a listener is given twice.
  const own = (): void => listener()
  listeners.add(own)
  return () => void listeners.delete(own)
}

/**
 * The outcome of `work`, or a rejection with the signal's reason as soon as it is aborted. `work` itself continues
 * unobserved; pass it the signal too where it can be stopped.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const release = onAbort(signal, () => reject(abortError(signal)))
    work.then(resolve, reject).finally(release)
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
  return { controller, release: onAbort(parent, () => controller.abort(parent.reason)) }
}
