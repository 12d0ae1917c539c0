// Opens the blob store where the operator has it, a folder or a bucket: for a server, and for commands beside one.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { appError } from '../errors.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import type { WorkClaims } from '../lib/work-claims.ts'
import type { BlobStore } from './blobs.ts'
import { blobPath, openDiskBlobs } from './disk-blobs.ts'
import type { S3Settings } from './s3-client.ts'

/** Where blobs are. With a bucket, the folder holds files that are being received. */
export interface BlobPlace {
  folder: string
  s3: S3Settings | null
}

/** A blob store with the folder for files being received. */
export type ReceivingBlobs = BlobStore & { incoming: string }

/** Opens the blob store for a server. */
export async function openBlobs(
  { folder, s3 }: BlobPlace,
  claims: WorkClaims | undefined,
): Promise<ReceivingBlobs> {
  if (s3 === null) return await openDiskBlobs(folder)
  const { openS3Blobs } = await import('./s3-blobs.ts')
  return await openS3Blobs(s3, folder, claims)
}

/** The place that commands copy blobs from and to, while a server may run: a folder, or the store in a bucket. */
export async function blobsForCommands({ folder, s3 }: BlobPlace): Promise<string | BlobStore> {
  if (s3 === null) return folder
  const { createS3Blobs } = await import('./s3-blobs.ts')
  return createS3Blobs(s3, tmpdir())
}

/** Reads single blobs for commands. */
export async function blobReader(place: BlobPlace): Promise<Pick<BlobStore, 'open'>> {
  const blobs = await blobsForCommands(place)
  if (typeof blobs !== 'string') return blobs
  return {
    async open(sha256) {
      const path = blobPath(blobs, sha256)
      if ((await unlessMissing(stat(path))) === null) throw appError('file_content_missing')
      return createReadStream(path)
    },
  }
}
