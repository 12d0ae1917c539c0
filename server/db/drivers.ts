// What the drivers of both databases share: texts and listeners of statements, and the detection of a write inside a write.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from 'drizzle-orm'
import type { StatementListener } from './database.ts'

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

/** PostgreSQL's text cannot contain U+0000. It is replaced on both databases, so that both return the same text. */
export const bindableText = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text

/** drizzle's options for passing every statement to a listener. */
export const toDrizzleLogger = (onStatement: StatementListener | undefined): { logger?: Logger } =>
  onStatement === undefined ? {} : { logger: { logQuery: onStatement } }
