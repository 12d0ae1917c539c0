// Detects a write inside a write, which would wait for itself forever.
import { AsyncLocalStorage } from 'node:async_hooks'

/** Detects a transaction that is begun inside another one, which would wait for itself forever. */
export interface NestingGuard {
  /** Throws when called from inside `work` of `enter`, at any depth. */
  assertOutside(): void
  enter<T>(work: () => Promise<T>): Promise<T>
}

/** Slows down every promise of the process; where that matters, use `noNestingGuard`. */
export function createNestingGuard(): NestingGuard {
  const inside = new AsyncLocalStorage<{ running: boolean }>()
  return {
    assertOutside() {
      if (inside.getStore()?.running)
        throw new Error('A write inside a write: pass the outer transaction on instead.')
    },
    async enter(work) {
      // Promises that the work started but did not await keep the mark, so the mark itself records when it is over.
      const mark = { running: true }
      try {
        return await inside.run(mark, work)
      } finally {
        mark.running = false
      }
    },
  }
}

/** Detects nothing: the hooks that detection needs slow down every promise of the process. */
export const noNestingGuard: NestingGuard = {
  assertOutside() {},
  enter: (work) => work(),
}
