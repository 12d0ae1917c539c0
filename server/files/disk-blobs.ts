// Blobs as files: `<folder>/<first two digits>/<sha256>`, written under another name, synced and renamed.
import { createHash, randomUUID } from 'node:crypto'
import {
  mkdir,
  open,
  opendir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { appError } from '../errors.ts'
import { ensureProcessFolder } from '../lib/process-folder.ts'
import { isMissing, systemCode, unlessMissing } from '../lib/system-faults.ts'
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
  const shards = await unlessMissing(opendir(folder))
  if (shards === null) return
  for await (const shard of shards) {
    if (!shard.isDirectory() || !/^[0-9a-f]{2}$/.test(shard.name)) continue
    for await (const { name } of await opendir(join(folder, shard.name)))
      if (SHA256.test(name)) yield name
  }
}

/** The folder of contents that nothing refers to, until they are removed for good. */
const TRASH = 'trash'
/** The end of the name of a content that is being moved to the trash. */
const MOVING = '.moving'

/** The path of a blob in the trash of the store. */
export const trashPath = (folder: string, sha256: string): string => {
  if (!SHA256.test(sha256)) throw new Error('This is no SHA-256.')
  return join(folder, TRASH, sha256)
}

/** The contents in the trash of a folder, also those that are being moved there; none when it is missing. */
export async function discardedIn(folder: string): Promise<{ sha256: string }[]> {
  const names = (await unlessMissing(readdir(join(folder, TRASH)))) ?? []
  return names
    .map((name) => ({ sha256: name.replace(MOVING, '') }))
    .filter(({ sha256 }) => SHA256.test(sha256))
}

/** The time of a content in the trash is that of its move. */
async function completeMove(moving: string): Promise<void> {
  const now = new Date()
  await utimes(moving, now, now)
  await rename(moving, moving.slice(0, -MOVING.length))
}

/** Opens the store in a folder. Creates it if needed, and removes leftovers of dead processes. */
export async function openDiskBlobs(folder: string): Promise<BlobStore & { incoming: string }> {
  const incoming = await openIncoming(folder)
  /** Storing and removing exclude each other in this process. Across instances, they cannot harm each other. */
  const exclusive = pLimit(1)

  return {
    incoming,

    async store(content) {
      const temporary = join(incoming, randomUUID())
      try {
        await ensureProcessFolder(incoming)
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
        const path = blobPath(folder, sha256)
        const handle = await open(path).catch(async (error: unknown) => {
          if (isMissing(error) && (await restoreFromTrash(sha256))) return await open(path)
          throw error
        })
        // `end` of a stream is inclusive.
        const part = range === undefined ? {} : { start: range.start, end: range.end - 1 }
        return handle.createReadStream(part)
      } catch (error) {
        throw isMissing(error) ? appError('file_content_missing', {}, { cause: error }) : error
      }
    },

    async *list() {
      for await (const sha256 of blobsIn(folder)) {
        const { size, mtime } = await stat(blobPath(folder, sha256))
        yield { sha256, size, storedAt: mtime }
      }
    },

    discard: (sha256, storedBefore) =>
      exclusive(async () => {
        const path = blobPath(folder, sha256)
        const found = await unlessMissing(stat(path))
        if (found === null || found.mtime >= storedBefore) return false
        await mkdir(join(folder, TRASH), { recursive: true, mode: 0o700 })
        // Another instance may have just found it stored and renewed its time.
        const moving = `${trashPath(folder, sha256)}${MOVING}`
        await rename(path, moving)
        if ((await stat(moving)).mtime >= storedBefore) {
          await rename(moving, path)
          return false
        }
        await completeMove(moving)
        return true
      }),

    async *trash() {
      const names = (await unlessMissing(readdir(join(folder, TRASH)))) ?? []
      for (const name of names) {
        const sha256 = name.replace(MOVING, '')
        if (!SHA256.test(sha256)) continue
        // Its process died before it had noted the time.
        if (name.endsWith(MOVING)) await completeMove(join(folder, TRASH, name))
        const found = await unlessMissing(stat(trashPath(folder, sha256)))
        if (found !== null) yield { sha256, discardedAt: found.mtime }
      }
    },

    restore: restoreFromTrash,
    removeDiscarded: (sha256) => rm(trashPath(folder, sha256), { force: true }),
    readNote: (name) => unlessMissing(readFile(join(folder, name), 'utf8')),

    async writeNote(name, text) {
      const draft = join(incoming, randomUUID())
      await ensureProcessFolder(incoming)
      await writeFile(draft, text, { flush: true, mode: 0o600 })
      await rename(draft, join(folder, name))
    },
  }

  async function restoreFromTrash(sha256: string): Promise<boolean> {
    const path = blobPath(folder, sha256)
    if ((await unlessMissing(stat(trashPath(folder, sha256)))) === null) return false
    await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
    try {
      await rename(trashPath(folder, sha256), path)
      return true
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
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
  const stored = await unlessMissing(stat(path))
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
    if (isMissing(error)) return false
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

const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(systemCode(error))
