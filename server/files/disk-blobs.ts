// Blobs as files: `<folder>/<first two digits>/<sha256>`, written under another name, synced and renamed.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, opendir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { appError } from '../errors.ts'
import type { BlobStore } from './blobs.ts'
import { openIncoming } from './incoming.ts'

const SHA256 = /^[0-9a-f]{64}$/

/** The path of a blob below the folder of the store. */
export const blobPath = (folder: string, sha256: string): string => {
  if (!SHA256.test(sha256)) throw new Error('This is no SHA-256.')
  return join(folder, sha256.slice(0, 2), sha256)
}

/** The hashes of the blobs in a folder; none when it is missing. */
export async function* blobsIn(folder: string): AsyncGenerator<string> {
  const shards = await opendir(folder).catch(() => null)
  if (shards === null) return
  for await (const shard of shards) {
    if (!shard.isDirectory() || !/^[0-9a-f]{2}$/.test(shard.name)) continue
    for await (const { name } of await opendir(join(folder, shard.name)))
      if (SHA256.test(name)) yield name
  }
}

/**
 * Opens the store in a folder. Creates it if needed; removes leftovers of a dead process unless other instances share the folder.
 */
export async function openDiskBlobs(
  folder: string,
  { isShared }: { isShared: boolean } = { isShared: false },
): Promise<BlobStore & { incoming: string }> {
  const incoming = await openIncoming(folder, isShared)
  /** Storing and removing exclude each other in this process. Across instances, they cannot harm each other. */
  const exclusive = pLimit(1)

  return {
    incoming,

    async put(content) {
      const temporary = join(incoming, randomUUID())
      try {
        const { sha256, size } = await writeSynced(temporary, content)
        await exclusive(() => place(temporary, blobPath(folder, sha256), size))
        return { sha256, size }
      } catch (error) {
        await rm(temporary, { force: true })
        throw isFull(error) ? appError('disk_full', {}, { cause: error }) : error
      }
    },

    async open(sha256, range) {
      try {
        const handle = await open(blobPath(folder, sha256))
        // `end` of a stream is inclusive.
        const part = range === undefined ? {} : { start: range.start, end: range.end - 1 }
        return handle.createReadStream(part)
      } catch (error) {
        throw appError('file_content_missing', {}, { cause: error })
      }
    },

    async *list() {
      for await (const sha256 of blobsIn(folder)) {
        const { size, mtime } = await stat(blobPath(folder, sha256))
        yield { sha256, size, storedAt: mtime }
      }
    },

    remove: (sha256, putBefore) =>
      exclusive(async () => {
        const path = blobPath(folder, sha256)
        const found = await stat(path).catch(() => null)
        if (found === null || found.mtime >= putBefore) return false
        // Another instance may have just found it stored and renewed its time.
        const aside = join(incoming, randomUUID())
        await rename(path, aside)
        if ((await stat(aside)).mtime >= putBefore) {
          await rename(aside, path)
          return false
        }
        await rm(aside)
        return true
      }),
  }
}

/** Writes a new file and waits until it is on the disk. */
async function writeSynced(
  path: string,
  content: AsyncIterable<Uint8Array>,
): Promise<{ sha256: string; size: number }> {
  const handle = await open(path, 'wx', 0o600)
  try {
    const hash = createHash('sha256')
    let size = 0
    for await (const chunk of content) {
      hash.update(chunk)
      size += chunk.length
      await handle.writeFile(chunk)
    }
    await handle.sync()
    return { sha256: hash.digest('hex'), size }
  } finally {
    await handle.close()
  }
}

async function place(temporary: string, path: string, size: number): Promise<void> {
  const shard = join(path, '..')
  const stored = await stat(path).catch(() => null)
  // A file of another size is damaged and is replaced.
  if (stored?.size === size && (await renewTime(path))) {
    await rm(temporary)
    return
  }
  const created = await mkdir(shard, { recursive: true, mode: 0o700 })
  await rename(temporary, path)
  await syncFolder(shard)
  if (created !== undefined) await syncFolder(join(shard, '..'))
}

/** Resolves to false if another instance has removed the file in the meantime. */
async function renewTime(path: string): Promise<boolean> {
  const now = new Date()
  try {
    await utimes(path, now, now)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders.
  if (process.platform === 'win32') return
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
