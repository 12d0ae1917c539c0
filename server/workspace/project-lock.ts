// One change of a project at a time: work with the same key runs in the order of the calls.
import { appError } from '../errors.ts'
import { onAbort } from '../lib/abort.ts'

export interface Lanes {
  /**
   * Runs `work` when all earlier work of this key has ended. Waiting ends with `store_busy` (503) after `maxWaitMs` or
   * when the signal is aborted; `work` itself is never interrupted, and must not enter its own lane again.
   */
  run<T>(key: string, work: () => Promise<T>, options?: { signal?: AbortSignal }): Promise<T>
}

/** `maxWaitMs`: how long work waits for its turn. */
export function createLanes(maxWaitMs: number): Lanes {
  const tails = new Map<string, Promise<void>>()
  return {
    async run(key, work, options = {}) {
      const before = tails.get(key) ?? Promise.resolve()
      let leave: () => void = () => {}
      const turn = new Promise<void>((resolve) => {
        leave = resolve
      })
      const tail = before.then(() => turn)
      tails.set(key, tail)
      try {
        await waitFor(before, maxWaitMs, options.signal)
        return await work()
      } finally {
        leave()
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
  const given = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(busy('project_busy')), maxWaitMs)
    if (signal !== undefined) release = onAbort(signal, () => reject(busy('request_stopped')))
  })
  try {
    await Promise.race([before, given])
  } finally {
    clearTimeout(timer)
    release()
  }
}
