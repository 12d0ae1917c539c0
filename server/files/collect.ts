// Garbage collection: files that no message uses, and blobs that nothing refers to.
import type { FileRepository } from '../db/repositories/projects/files.ts'
import type { BlobStore } from './blobs.ts'
import { removeLeftovers } from './incoming.ts'

/** How long an uploaded file may wait for its message. */
export const UNUSED_FILE_MS = 24 * 60 * 60 * 1000
/** How long a blob stays without a reference. It must exceed the time between storing a blob and its row. */
export const UNUSED_BLOB_MS = 60 * 60 * 1000
const COLLECT_EVERY_MS = 6 * 60 * 60 * 1000
const BATCH_SIZE = 200

/** The dependencies of the garbage collection of blobs. */
export interface CollectDependencies {
  files: Pick<FileRepository, 'removeUnused' | 'referenced'>
  /** `incoming` is the folder for uploads in progress. */
  blobs: Pick<BlobStore, 'list' | 'remove'> & { incoming: string }
  now(): Date
}

/** Removes what is unused and old enough. After a crash at any point, only garbage remains, for the next time. */
export async function collectGarbage(
  { files, blobs, now }: CollectDependencies,
  signal?: AbortSignal,
): Promise<{ files: number; blobs: number }> {
  const removedFiles = await files.removeUnused(new Date(now().getTime() - UNUSED_FILE_MS))
  const putBefore = new Date(now().getTime() - UNUSED_BLOB_MS)
  await removeLeftovers(blobs.incoming, putBefore)
  let removedBlobs = 0
  let batch: string[] = []
  const flush = async (): Promise<void> => {
    const used = await files.referenced(batch)
    for (const sha256 of batch)
      if (!used.has(sha256) && (await blobs.remove(sha256, putBefore))) removedBlobs += 1
    batch = []
  }
  for await (const { sha256, storedAt } of blobs.list()) {
    if (signal?.aborted === true) break
    if (storedAt < putBefore) batch.push(sha256)
    if (batch.length === BATCH_SIZE) await flush()
  }
  await flush()
  return { files: removedFiles, blobs: removedBlobs }
}

/** Collects now and every six hours. @returns a function that stops this after the collection in progress. */
export function startCollecting(
  dependencies: CollectDependencies & { log: { warn(details: object, message: string): void } },
): () => Promise<void> {
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
