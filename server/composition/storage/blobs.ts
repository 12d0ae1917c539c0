// Opens the configured blob store: a folder, or a bucket.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Config } from '../../config/schema.ts'
import { appError } from '../../errors.ts'
import type { BlobStore } from '../../files/blobs.ts'
import { blobPath, openDiskBlobs } from '../../files/disk-blobs.ts'
import type { WorkClaims } from '../../lib/work-claims.ts'
import { blobFolder, s3Settings } from '../settings.ts'

/** Opens the store for a server. */
export async function openBlobs(
  config: Config,
  claims: WorkClaims | undefined,
): Promise<BlobStore & { incoming: string }> {
  const s3 = s3Settings(config)
  const folder = blobFolder(config)
  if (s3 === null) return await openDiskBlobs(folder)
  const { openS3Blobs } = await import('../../files/s3-blobs.ts')
  return await openS3Blobs(s3, folder, claims)
}

/** The place that commands copy blobs from and to, while a server may run: a folder, or the store in a bucket. */
export async function blobsForCommands(config: Config): Promise<string | BlobStore> {
  const s3 = s3Settings(config)
  if (s3 === null) return blobFolder(config)
  const { createS3Blobs } = await import('../../files/s3-blobs.ts')
  return createS3Blobs(s3, tmpdir())
}

/** Reads single blobs for commands. */
export async function blobReader(config: Config): Promise<Pick<BlobStore, 'open'>> {
  const blobs = await blobsForCommands(config)
  if (typeof blobs !== 'string') return blobs
  return {
    async open(sha256) {
      const path = blobPath(blobs, sha256)
      if ((await stat(path).catch(() => null)) === null) throw appError('file_content_missing')
      return createReadStream(path)
    },
  }
}
