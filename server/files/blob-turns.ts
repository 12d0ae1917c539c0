// Prevents storing and removing the same content at the same time, also across instances of a store.
import { setTimeout as pause } from 'node:timers/promises'
import pLimit, { type LimitFunction } from 'p-limit'
import { appError } from '../errors.ts'
import type { WorkClaims } from '../lib/work-claims.ts'

/** Storing and removing one content never overlap. */
export interface BlobTurns {
  /**
   * Runs `work` while nobody else stores or removes this content. Before each step that must not overlap with another turn,
   * `work` checks `hasTurn`: after a long pause of this process, another turn may have begun.
   * @throws AppError `server_busy` if another instance does not end its turn in time.
   */
  run<T>(sha256: string, work: (hasTurn: () => Promise<boolean>) => Promise<T>): Promise<T>
}

/** Longer than any request to the service may take. */
const MAX_WAIT_MS = 150_000
/** Between two checks whether another instance has ended its turn. */
const LOOK_MS = { first: 20, longest: 500 }

/** @param claims the claims of this instance, if there are several. */
export function createBlobTurns(
  claims: Pick<WorkClaims, 'claim' | 'finish' | 'holds' | 'isShared'>,
): BlobTurns {
  const here = new Map<string, LimitFunction>()

  async function claim(name: string): Promise<void> {
    const until = performance.now() + MAX_WAIT_MS
    for (let wait = LOOK_MS.first; ; wait = Math.min(wait * 2, LOOK_MS.longest)) {
      if (await claims.claim(name)) return
      if (performance.now() > until) throw appError('uploads_busy', {}, { retryable: true })
      await pause(wait * (0.5 + Math.random() / 2))
    }
  }

  return {
    async run(sha256, work) {
      const turns = here.get(sha256) ?? pLimit(1)
      here.set(sha256, turns)
      try {
        return await turns(async () => {
          if (!claims.isShared) return await work(async () => true)
          const name = `blob:${sha256}`
          await claim(name)
          try {
            return await work(() => claims.holds(name))
          } finally {
            await claims.finish(name)
          }
        })
      } finally {
        if (turns.activeCount + turns.pendingCount === 0) here.delete(sha256)
      }
    },
  }
}
