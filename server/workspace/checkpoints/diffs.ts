// Differences for people, computed without blocking the event loop: small ones at once, large ones in a worker thread.

import type { WorkerPool } from '../worker/worker-pool.ts'
import { type TextDiff, unifiedDiff } from './unified-diff.ts'

export type { TextDiff } from './unified-diff.ts'

/** The difference of two texts; null stands for a missing file. Never rejects. */
export type MakeDiff = (
  path: string,
  before: string | null,
  after: string | null,
) => Promise<TextDiff>

/** Characters of both texts together up to which the difference is computed at once. */
const SMALL = 20_000
const SMALL_MS = 5
const LARGE_MS = 3_000

export function createDiffs(pool: WorkerPool): MakeDiff {
  return async (path, before, after) => {
    if ((before?.length ?? 0) + (after?.length ?? 0) <= SMALL)
      return unifiedDiff(path, before, after, SMALL_MS)
    try {
      return await pool.run(
        'diff',
        { path, before, after, timeoutMs: LARGE_MS },
        { timeoutMs: 3 * LARGE_MS },
      )
    } catch {
      // Even splitting the lines took too long (a file of tens of megabytes in one line): reported without its lines.
      return {
        diff: `--- a/${path}\n+++ b/${path}\n\\ Too large to compare.\n`,
        added: 0,
        removed: 0,
      }
    }
  }
}
