// A mutex per key: work with the same key runs one at a time, in the order of the calls.
import { appError } from '../errors.ts'
import { onAbort } from '../lib/abort.ts'

export interface KeyedMutex {
  /**
   * Runs `work` once all earlier work of this key has ended. While waiting, throws `store_busy` (503) after `maxWaitMs` or
   * when the signal is aborted. Never interrupts `work`, which must not call `run` with the same key (deadlock).
   */
  run<T>(key: string, work: () => Promise<T>, options?: { signal?: AbortSignal }): Promise<T>
}

/** `maxWaitMs`: how long work may wait for the mutex. */
export function createKeyedMutex(maxWaitMs: number): KeyedMutex {
  const tails = new Map<string, Promise<void>>()
  return {
    async run(key, work, options = {}) {
      const before = tails.get(key) ?? Promise.resolve()
      let unlock: () => void = () => {}
      const done = new Promise<void>((resolve) => {
        unlock = resolve
      })
      const tail = before.then(() => done)
      tails.set(key, tail)
      try {
        await waitFor(before, maxWaitMs, options.signal)
        return await work()
      } finally {
        unlock()
        if (tails.get(key) === tail) tails.delete(key)
      }
    },
  }
}

async function waitFor(before: Promise<void>, maxWaitMs: number, signal?: AbortSignal) {
  const busy = (reason: 'request_stopped' | 'project_busy') =>
    appError(reason, {}, { retryable: true, retryAfter: 5 })
  if (signal?.aborted) throw busy('request_stopped')
  let timer: NodeJS.Timeout | undefined
  let release: () => void = () => {}
  const givenUp = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(busy('project_busy')), maxWaitMs)
    if (signal !== undefined) release = onAbort(signal, () => reject(busy('request_stopped')))
  })
  try {
    await Promise.race([before, givenUp])
  } finally {
    clearTimeout(timer)
    release()
  }
}
