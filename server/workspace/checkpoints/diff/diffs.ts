// Diffs of texts without blocking the event loop: small ones are computed in place, large ones in a worker thread.

import type { WorkerPool } from '../../worker/worker-pool.ts'
import { type TextDiff, unifiedDiff } from './unified-diff.ts'

export type { TextDiff } from './unified-diff.ts'

/** Diffs two texts; null stands for a missing file. Never rejects. */
export type MakeDiff = (
  path: string,
  before: string | null,
  after: string | null,
) => Promise<TextDiff>

/** Up to this many characters in both texts, the diff is computed in place. */
const SMALL_CHARACTERS = 20_000
const SMALL_TIMEOUT_MS = 5
const LARGE_TIMEOUT_MS = 3_000

/** Short texts are compared in place, longer ones in a worker thread of `pool`. */
export function createDiffs(pool: WorkerPool): MakeDiff {
  return async (path, before, after) => {
    if ((before?.length ?? 0) + (after?.length ?? 0) <= SMALL_CHARACTERS)
      return unifiedDiff(path, before, after, SMALL_TIMEOUT_MS)
    try {
      return await pool.run(
        'diff',
        { path, before, after, timeoutMs: LARGE_TIMEOUT_MS },
        { timeoutMs: 3 * LARGE_TIMEOUT_MS, owner: null },
      )
    } catch {
      // Even splitting the lines took too long (tens of megabytes in one line).
      return {
        diff: `--- a/${path}\n+++ b/${path}\n\\ Too large to compare.\n`,
        added: 0,
        removed: 0,
      }
    }
  }
}
