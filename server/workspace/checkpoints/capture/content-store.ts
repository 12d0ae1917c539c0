// Stores earlier contents of files outside the project: one copy per content, named by its SHA-256.
import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../../lib/system-faults.ts'

/** Copies of earlier file contents of a project, one per content, named by hash. */
export interface ContentStore {
  /** The host folder of all stored copies. */
  readonly folder: string
  /** Stores a copy of the whole file; resolves with its hash and size in bytes once the copy is on the disk. */
  add(handle: FileHandle): Promise<{ hash: string; size: number }>
  has(hash: string): Promise<boolean>
  /** The host path of a stored copy, for copying it back. */
  pathOf(hash: string): string
  /** The bytes of a stored copy, or null when it does not exist or has more than `maxBytes`. */
  read(hash: string, maxBytes: number): Promise<Buffer | null>
}

const PIECE_BYTES = 256 * 1024

/** The path of a content below the store's folder; two characters of the hash keep the folders small. */
export const contentPath = (folder: string, hash: string): string =>
  join(folder, hash.slice(0, 2), hash.slice(2))

/** Reads a file in pieces, so that hashing never blocks the event loop for long. */
async function eachPiece(
  handle: FileHandle,
  onPiece: (piece: Buffer) => Promise<void> | void,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES)
  for (let position = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, PIECE_BYTES, position)
    if (bytesRead === 0) return
    position += bytesRead
    await onPiece(buffer.subarray(0, bytesRead))
  }
}

/** `write` may write only part of the piece, for example on a disk that is almost full. */
async function writeAll(handle: FileHandle, piece: Buffer): Promise<void> {
  for (let done = 0; done < piece.length; )
    done += (await handle.write(piece, done, piece.length - done)).bytesWritten
}

/** The SHA-256 of the whole file, in hexadecimal. */
export async function hashOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256')
  await eachPiece(handle, (piece) => {
    hash.update(piece)
  })
  return hash.digest('hex')
}

/** Creates `folder` when it is first needed. `staging`: a folder on the same file system for incomplete copies. */
export function createContentStore(folder: string, staging: string): ContentStore {
  const pathOf = (hash: string): string => contentPath(folder, hash)
  const has = (hash: string): Promise<boolean> =>
    stat(pathOf(hash)).then(
      () => true,
      () => false,
    )
  return {
    folder,
    pathOf,
    has,
    async add(handle) {
      const temporary = join(staging, randomUUID())
      const copy = await open(temporary, 'wx', 0o600)
      const hash = createHash('sha256')
      let size = 0
      try {
        await eachPiece(handle, async (piece) => {
          hash.update(piece)
          size += piece.length
          await writeAll(copy, piece)
        })
        await copy.sync()
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      } finally {
        await copy.close()
      }
      const name = hash.digest('hex')
      const target = pathOf(name)
      if (await has(name)) await rm(temporary)
      else {
        await mkdir(join(target, '..'), { recursive: true, mode: 0o700 })
        await rename(temporary, target)
      }
      return { hash: name, size }
    },
    async read(hash, maxBytes) {
      try {
        if ((await stat(pathOf(hash))).size > maxBytes) return null
        return await readFile(pathOf(hash))
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return null
        throw error
      }
    },
  }
}
