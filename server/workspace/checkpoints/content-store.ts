// The store of earlier contents of files: one copy per content, named by its SHA-256, outside of the project.
import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../files/faults.ts'

export interface KeptContent {
  /** The host folder of all stored copies. */
  readonly folder: string
  /** Copies what the handle reads from its start; resolves with the hash and the bytes once the copy is on the disk. */
  keep(handle: FileHandle): Promise<{ hash: string; size: number }>
  has(hash: string): Promise<boolean>
  /** The host path of a stored copy, for copying it back. */
  pathOf(hash: string): string
  /** The bytes of a stored copy, or null when there is none or it has more than `maxBytes`. */
  read(hash: string, maxBytes: number): Promise<Buffer | null>
}

const PIECE = 256 * 1024

/** Where a content lies below the store's folder; two letters of the hash keep the folders small. */
export const contentPath = (folder: string, hash: string): string =>
  join(folder, hash.slice(0, 2), hash.slice(2))

/** Reads to the end in pieces, so that hashing never blocks the event loop for long. */
async function eachPiece(
  handle: FileHandle,
  take: (piece: Buffer) => Promise<void> | void,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(PIECE)
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, PIECE, at)
    if (bytesRead === 0) return
    at += bytesRead
    await take(buffer.subarray(0, bytesRead))
  }
}

/** A disk that is almost full may write a piece in parts. */
async function writeAll(handle: FileHandle, piece: Buffer): Promise<void> {
  for (let done = 0; done < piece.length; )
    done += (await handle.write(piece, done, piece.length - done)).bytesWritten
}

/** The SHA-256 of what the handle reads from its start, in hexadecimal. */
export async function hashOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256')
  await eachPiece(handle, (piece) => {
    hash.update(piece)
  })
  return hash.digest('hex')
}

/** `folder` is created when it is first needed. `staging`: on the same file system, for incomplete copies. */
export function createKeptContent(folder: string, staging: string): KeptContent {
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
    async keep(handle) {
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
