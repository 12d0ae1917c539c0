// Diffs of texts without blocking the event loop, and the lines by which files of two states differ.

import { createHash } from 'node:crypto'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import { binaryKind, decodeText } from '../../files/text.ts'
import { openStored, type StoredProjects } from '../../open-project.ts'
import type { WorkerPool } from '../../worker/worker-pool.ts'
import type { Workspace } from '../../workspace.ts'
import type { ContentStore } from '../capture/content-store.ts'
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

// Counts the lines by which files differ between two states that checkpoints name by hash.

/** A file before and after, as SHA-256 of its bytes; null when there was no file. */
interface FileStates {
  path: string
  before: string | null
  after: string | null
}

/** Lines added and removed; null if they cannot be counted. */
interface LineCount {
  added: number | null
  removed: number | null
}

const UNKNOWN: LineCount = { added: null, removed: null }
/** Larger files are not compared line by line. */
const MAX_BYTES = 512 * 1024
/** Files beyond these are not counted. */
const MAX_FILES = 100
/** Files that are not counted by then have no count: the end of a run waits for this. */
const BUDGET_MS = 2_000

/**
 * Counts file by file. An earlier content is in the content store, and a later one there or still in the project. Never
 * rejects: what is gone, binary or too large has no count, nor has what could not be compared in time.
 */
export async function countLines(
  files: readonly FileStates[],
  {
    workspace,
    contents,
    makeDiff,
    budgetMs = BUDGET_MS,
  }: {
    workspace: Pick<Workspace, 'read'>
    contents: Pick<ContentStore, 'read'>
    makeDiff: MakeDiff
    budgetMs?: number
  },
): Promise<LineCount[]> {
  const counts: LineCount[] = files.map(() => UNKNOWN)
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, budgetMs)
  })
  await Promise.race([over, countAll()])
  clearTimeout(timer)
  isOver = true
  return [...counts]

  async function countAll(): Promise<void> {
    for (const [index, file] of files.slice(0, MAX_FILES).entries()) {
      if (isOver) return
      counts[index] = await countOf(file).catch(() => UNKNOWN)
    }
  }

  async function countOf({ path, before, after }: FileStates): Promise<LineCount> {
    if (before === null && after === null) return UNKNOWN
    const [was, is] = [await textOf(path, before), await textOf(path, after)]
    if (was === undefined || is === undefined) return UNKNOWN
    const { added, removed } = await makeDiff(path, was, is)
    // Two texts that could not be compared differ in no line either.
    const isEqual = (was ?? '') === (is ?? '')
    return added + removed > 0 || isEqual ? { added, removed } : UNKNOWN
  }

  /** The text of a file; null for no file, undefined for what is no text or is gone. */
  async function textOf(path: string, hash: string | null): Promise<string | null | undefined> {
    if (hash === null) return null
    const bytes = (await contents.read(hash, MAX_BYTES)) ?? (await currentOf(path, hash))
    return bytes === undefined || binaryKind(bytes) !== null
      ? undefined
      : decodeText(bytes, path).text
  }

  async function currentOf(path: string, hash: string): Promise<Buffer | undefined> {
    const { bytes } = await workspace.read(path, MAX_BYTES)
    return createHash('sha256').update(bytes).digest('hex') === hash ? bytes : undefined
  }
}

/** Counts the lines of changed files of stored projects. */
export const createLineCounter =
  (
    stored: StoredProjects,
    {
      contentStore,
      makeDiff,
    }: {
      contentStore(projectId: ProjectId): Pick<ContentStore, 'read'>
      makeDiff: MakeDiff
    },
  ) =>
  async (
    { userId, projectId }: { userId: UserId; projectId: ProjectId },
    files: readonly FileStates[],
  ): Promise<LineCount[]> =>
    countLines(files, {
      workspace: await openStored(stored, userId, projectId),
      contents: contentStore(projectId),
      makeDiff,
    })
