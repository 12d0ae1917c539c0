// Garbage collection: files that no message uses, and blobs that nothing refers to.
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { FileRepository } from '../db/repositories/projects/files.ts'
import type { UnusedBlobRepository } from '../db/repositories/projects/unused-blobs.ts'
import type { Store } from '../db/store.ts'
import { sweepProcessFolders } from '../lib/process-folder.ts'
import type { BlobStore } from './blobs.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** How long an uploaded file may wait for its message. */
export const UNUSED_FILE_MS = DAY_MS
/** How old a blob without a reference must be. It must exceed the time between storing a blob and its row. */
export const NEW_BLOB_MS = 60 * 60 * 1000
/** How long the collection itself must have seen a blob unused before it moves it to the trash. */
export const UNUSED_BLOB_MS = 7 * DAY_MS
/** How long a blob stays in the trash. */
export const TRASH_MS = 7 * DAY_MS
const COLLECT_EVERY_MS = 6 * 60 * 60 * 1000
const BATCH_SIZE = 200

/** The dependencies of the garbage collection of blobs. */
export interface CollectDependencies {
  files: Pick<FileRepository, 'removeUnused' | 'referenced' | 'any'>
  unused: UnusedBlobRepository
  settings: Pick<Store['settings'], 'get' | 'store'>
  /** `incoming` is the folder of this process for uploads in progress. */
  blobs: BlobStore & { incoming: string }
  log: {
    info(details: object, message: string): void
    warn(details: object, message: string): void
  }
  now(): Date
}

/** What a collection did: rows of files removed; blobs first seen unused, moved to the trash, and removed from it. */
export interface Collected {
  files: number
  seen: number
  discarded: number
  removed: number
}

/**
 * Removes what is unused and old enough. A database without any file removes no blobs: it may be the wrong one. After a
 * crash at any point, only garbage remains, for the next time.
 */
export async function collectGarbage(
  dependencies: CollectDependencies,
  signal?: AbortSignal,
): Promise<Collected> {
  const { files, blobs, log, now } = dependencies
  const collected: Collected = { files: 0, seen: 0, discarded: 0, removed: 0 }
  collected.files = await files.removeUnused(new Date(now().getTime() - UNUSED_FILE_MS))
  await sweepProcessFolders(blobs.incoming, log)
  if (!(await files.any())) return collected
  await beginRun(dependencies)
  await emptyTrash(dependencies, collected, signal)
  await collectUnused(dependencies, collected, signal)
  const { seen, discarded, removed } = collected
  if (seen + discarded + removed > 0)
    log.info(
      {
        seen,
        discarded,
        removed,
        unused_days: UNUSED_BLOB_MS / DAY_MS,
        trash_days: TRASH_MS / DAY_MS,
      },
      'unused contents of files: first seen, moved to the trash, removed from it',
    )
  return collected
}

const RUN_KEY = 'blob_collection'
const Run = z.object({ id: z.string() })
const RUN_NOTE = '.nanoclaw-collected'

/**
 * The database and the blob store both know the last collection. If they do not agree, one of them was exchanged or
 * restored since: what the marks say about unused blobs may no longer be true, so they are forgotten.
 */
async function beginRun({ unused, settings, blobs, log }: CollectDependencies): Promise<void> {
  const [stored, note] = await Promise.all([settings.get(RUN_KEY, Run), blobs.readNote(RUN_NOTE)])
  if (stored?.id !== (note?.trim() || undefined)) {
    const marks = await unused.clear()
    // Nothing to say at the first collection, or when a copy was restored without its marks.
    if (stored !== undefined && note !== undefined && marks > 0)
      log.warn(
        { marks },
        'the files or the database were exchanged or restored: unused contents are counted from now on. If another server uses these files with a copy of this database, give it files of its own, and run `nanoclaw admin adopt copy` there',
      )
  }
  const id = randomUUID()
  await settings.store(RUN_KEY, { id })
  await blobs.writeNote(RUN_NOTE, `${id}\n`)
}

async function collectUnused(
  { files, unused, blobs, now }: CollectDependencies,
  collected: Collected,
  signal: AbortSignal | undefined,
): Promise<void> {
  const time = now()
  const storedBefore = new Date(time.getTime() - NEW_BLOB_MS)
  const seenBefore = new Date(time.getTime() - UNUSED_BLOB_MS)
  let batch: { sha256: string; storedAt: Date }[] = []
  const flush = async (): Promise<void> => {
    const hashes = batch.map(({ sha256 }) => sha256)
    const [used, seen] = [await files.referenced(hashes), await unused.seen(hashes)]
    const fresh: string[] = []
    const settled = hashes.filter((sha256) => used.has(sha256) && seen.has(sha256))
    for (const { sha256, storedAt } of batch) {
      if (used.has(sha256)) continue
      const seenAt = seen.get(sha256)
      // Stored again since then: somebody wanted it, so the days begin anew.
      if (seenAt === undefined || storedAt > seenAt) fresh.push(sha256)
      else if (seenAt < seenBefore && (await blobs.discard(sha256, storedBefore))) {
        settled.push(sha256)
        collected.discarded += 1
      }
    }
    collected.seen += fresh.length
    await unused.change(fresh, settled, time)
    batch = []
  }
  for await (const { sha256, storedAt } of blobs.list()) {
    if (signal?.aborted === true) break
    if (storedAt < storedBefore) batch.push({ sha256, storedAt })
    if (batch.length === BATCH_SIZE) await flush()
  }
  await flush()
}

/** A content that something refers to again leaves the trash. */
async function emptyTrash(
  { files, blobs, now }: CollectDependencies,
  collected: Collected,
  signal: AbortSignal | undefined,
): Promise<void> {
  const discardedBefore = new Date(now().getTime() - TRASH_MS)
  for await (const { sha256, discardedAt } of blobs.trash()) {
    if (signal?.aborted === true) break
    if ((await files.referenced([sha256])).has(sha256)) await blobs.restore(sha256)
    else if (discardedAt < discardedBefore) {
      await blobs.removeDiscarded(sha256)
      collected.removed += 1
    }
  }
}

/** Collects now and every six hours. @returns a function that stops this after the collection in progress. */
export function startCollecting(dependencies: CollectDependencies): () => Promise<void> {
  const stopping = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  const collect = (): void => {
    running = running.then(() =>
      collectGarbage(dependencies, stopping.signal).catch((error: unknown) =>
        dependencies.log.warn({ err: error }, 'unused files could not be removed'),
      ),
    )
  }
  const timer = setInterval(collect, COLLECT_EVERY_MS).unref()
  collect()
  return async () => {
    clearInterval(timer)
    stopping.abort()
    await running
  }
}
