// A mutex per key: work with the same key runs one at a time, in the order of the calls, and on one instance at a time.
import { setTimeout as pause } from 'node:timers/promises'
import { appError } from '../errors.ts'
import { onAbort } from '../lib/abort.ts'
import { SOLE_WORKER, type WorkClaims } from '../lib/work-claims.ts'

/** A mutex for each key, such as a project. */
export interface KeyedMutex {
  /**
   * Runs `work` once all earlier work of this key has ended. While waiting, throws `store_busy` (503) after `maxWaitMs` or
   * when the signal is aborted. Never interrupts `work`, which must not call `run` with the same key (deadlock).
   */
  run<T>(key: string, work: () => Promise<T>, options?: { signal?: AbortSignal }): Promise<T>
  /** @throws AppError `project_busy` if another instance took over while this process was paused. */
  assertHeld(key: string): Promise<void>
}

/** Milliseconds between two checks whether another instance has ended its work. */
const LOOK_MS = { first: 20, longest: 500 }

/**
 * @param maxWaitMs how long work may wait for the mutex.
 * @param claims prevents other instances from working with the same key.
 */
export function createKeyedMutex(
  maxWaitMs: number,
  claims: Pick<WorkClaims, 'claim' | 'finish' | 'holds' | 'isShared'> = SOLE_WORKER,
): KeyedMutex {
  const claimOf = (key: string): string => `project:${key}`
  async function claim(key: string, until: number, signal?: AbortSignal): Promise<void> {
    for (let wait = LOOK_MS.first; ; wait = Math.min(wait * 2, LOOK_MS.longest)) {
      if (signal?.aborted) throw busy('request_stopped')
      if (await claims.claim(claimOf(key))) return
      if (performance.now() + wait > until) throw busy('project_busy')
      // At random moments, so that instances that wait for each other take turns.
      await pause(wait * (0.5 + Math.random() / 2))
    }
  }
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
      const until = performance.now() + maxWaitMs
      try {
        await waitFor(before, maxWaitMs, options.signal)
        if (!claims.isShared) return await work()
        await claim(key, until, options.signal)
        try {
          return await work()
        } finally {
          await claims.finish(claimOf(key))
        }
      } finally {
        unlock()
        if (tails.get(key) === tail) tails.delete(key)
      }
    },
    async assertHeld(key) {
      if (!(await claims.holds(claimOf(key)))) throw busy('project_busy')
    },
  }
}

const busy = (reason: 'request_stopped' | 'project_busy') =>
  appError(reason, {}, { retryable: true, retryAfter: 5 })

async function waitFor(before: Promise<void>, maxWaitMs: number, signal?: AbortSignal) {
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
