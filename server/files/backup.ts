// Backup and restore of the blobs, beside the backup of the database: `<backup>.files/<aa>/<sha256>`.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../errors.ts'
import { isMissing, unlessMissing } from '../lib/system-faults.ts'
import type { BlobStore } from './blobs.ts'
import { blobPath, blobsIn } from './disk-blobs.ts'

/** The folder with the blobs of a backup. */
export const blobsOfBackup = (backup: string): string => `${resolve(backup)}.files`

/**
 * Copies the blobs that the target lacks, while a server may be running. Call it before and after the backup of the
 * database: what the server removes in between has been copied by the first call, what it adds is copied by the second.
 * @param source the blob store, or its folder, which may be missing.
 */
export async function backupBlobs(
  source: string | Pick<BlobStore, 'list' | 'open'>,
  target: string,
): Promise<{ bytes: number }> {
  let bytes = 0
  for await (const sha256 of typeof source === 'string' ? blobsIn(source) : hashesIn(source)) {
    const copy = blobPath(target, sha256)
    if ((await unlessMissing(stat(copy))) !== null) continue
    const content = typeof source === 'string' ? blobPath(source, sha256) : source.open(sha256)
    bytes += await copySynced(await content, copy).catch((error: unknown) => {
      // Removed since it was listed.
      if (isMissing(error)) return 0
      throw error
    })
  }
  return { bytes }
}

async function* hashesIn(blobs: Pick<BlobStore, 'list'>): AsyncGenerator<string> {
  for await (const { sha256 } of blobs.list()) yield sha256
}

/**
 * Copies the blobs of a backup into a blob store, checking each; contents already there stay.
 * @throws AppError when a blob of the backup is damaged.
 */
export async function restoreBlobs(
  source: string,
  target: string | Pick<BlobStore, 'store'>,
): Promise<void> {
  for await (const sha256 of blobsIn(source)) {
    const from = blobPath(source, sha256)
    const to = typeof target === 'string' ? blobPath(target, sha256) : null
    if (to !== null && (await unlessMissing(stat(to))) !== null) continue
    const hash = createHash('sha256')
    await pipeline(createReadStream(from), hash)
    if (hash.digest('hex') !== sha256)
      throw new AppError(
        'bad_request',
        `The backup is damaged: the content of ${from} does not match its name.`,
      )
    if (to !== null) await copySynced(from, to)
    else if (typeof target !== 'string') await target.store(createReadStream(from))
  }
}

/** Copies under another name first, so that a copy is complete if it is there. */
async function copySynced(from: string | Readable, to: string): Promise<number> {
  await mkdir(join(to, '..'), { recursive: true, mode: 0o700 })
  const unfinished = `${to}.unfinished`
  try {
    if (typeof from === 'string') await copyFile(from, unfinished)
    else await pipeline(from, createWriteStream(unfinished))
    const handle = await open(unfinished, 'r+')
    try {
      await handle.chmod(0o600)
      await handle.sync()
      const { size } = await handle.stat()
      await rename(unfinished, to)
      return size
    } finally {
      await handle.close()
    }
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
