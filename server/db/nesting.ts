// Notices a write that is asked for inside a write: it would wait for itself for ever.
import { AsyncLocalStorage } from 'node:async_hooks'

export interface NestingGuard {
  /** Throws when called from inside `work` of `enter`, however deep. */
  refuseInside(): void
  enter<T>(work: () => Promise<T>): Promise<T>
}

export function createNestingGuard(): NestingGuard {
  const inside = new AsyncLocalStorage<{ running: boolean }>()
  return {
    refuseInside() {
      if (inside.getStore()?.running)
        throw new Error('A write inside a write: hand the outer transaction on instead.')
    },
    async enter(work) {
      // What the work started but did not await keeps the mark, so the mark itself says when it is over.
      const mark = { running: true }
      try {
        return await inside.run(mark, work)
      } finally {
        mark.running = false
      }
    },
  }
}

/** Where nothing is noticed: the hooks behind the guard slow every promise of the process down. */
export const trusting: NestingGuard = {
  refuseInside() {},
  enter: (work) => work(),
}
