// Helpers for abort signals: listeners, promises and linked controllers.

/** The reason of an aborted signal as an error. */
export const abortError = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new Error('Aborted')

/** The listeners of each signal. A batch of calls shares one signal; with a listener for each, Node would report a leak. */
const waiting = new WeakMap<AbortSignal, ListenerGroup>()

interface ListenerGroup {
  listeners: Set<() => void>
  /** Registered on the signal. */
  notify(): void
}

/**
 * Calls `listener` once when the signal is aborted; at once if it already is. Returns a function that removes the listener.
 * The signal has one listener, however many callers wait for it, and none if no caller does.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener()
    return () => {}
  }
  const group = waiting.get(signal) ?? createGroup(signal)
  // A new function per call, so that the same listener can be registered twice.
  const own = (): void => listener()
  group.listeners.add(own)
  return () => {
    if (!group.listeners.delete(own) || group.listeners.size > 0) return
    signal.removeEventListener('abort', group.notify)
    waiting.delete(signal)
  }
}

function createGroup(signal: AbortSignal): ListenerGroup {
  const listeners = new Set<() => void>()
  const group: ListenerGroup = {
    listeners,
    notify: () => {
      for (const each of listeners) each()
    },
  }
  signal.addEventListener('abort', group.notify, { once: true })
  waiting.set(signal, group)
  return group
}

/**
 * The outcome of `work`, or a rejection with the signal's reason as soon as it is aborted. `work` itself continues
 * unobserved; pass it the signal, too, if it can be stopped.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const release = onAbort(signal, () => reject(abortError(signal)))
    work.then(resolve, reject).finally(release)
  })
}

/**
 * A controller that is aborted with its parent. Call `release` when done, to detach it from the parent.
 */
export function linkedController(parent: AbortSignal): {
  controller: AbortController
  release(): void
} {
  const controller = new AbortController()
  return { controller, release: onAbort(parent, () => controller.abort(parent.reason)) }
}

/**
 * A signal that is aborted with any of `signals`, and after `ms` milliseconds with a `TimeoutError`. Use it in place of
 * `AbortSignal.any([…, AbortSignal.timeout(ms)])`: nothing references that inner signal, so Node 20 may garbage-collect it,
 * and the time limit never fires.
 */
export function deadline(ms: number, ...signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController()
  const releases: (() => void)[] = []
  const end = (reason: unknown): void => {
    clearTimeout(timer)
    for (const release of releases) release()
    controller.abort(reason)
  }
  const timer = setTimeout(() => end(new DOMException('Time limit reached', 'TimeoutError')), ms)
  timer.unref()
  for (const signal of signals) {
    if (controller.signal.aborted) break
    releases.push(onAbort(signal, () => end(signal.reason)))
  }
  return controller.signal
}
