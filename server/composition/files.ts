// Attached files as configured: their blob store, their contents, and the move of those that earlier versions stored in the
// database.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Config } from '../config/schema.ts'
import { appError } from '../errors.ts'
import { createAttachmentReader } from '../files/attachment-contents.ts'
import type { BlobStore } from '../files/blobs.ts'
import { blobPath, openDiskBlobs } from '../files/disk-blobs.ts'
import { createFileService } from '../files/files.ts'
import { createAttachmentMover } from '../files/move-attachments.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import type { WorkClaims } from '../lib/work-claims.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import type { Base } from './base.ts'
import { blobFolder, s3Settings } from './settings.ts'

/** A blob store with the folder for files being received. */
export type ReceivingBlobs = BlobStore & { incoming: string }

/** Opens the blob store, a folder or a bucket, for a server. */
export async function openBlobs(
  config: Config,
  claims: WorkClaims | undefined,
): Promise<ReceivingBlobs> {
  const s3 = s3Settings(config)
  const folder = blobFolder(config)
  if (s3 === null) return await openDiskBlobs(folder)
  const { openS3Blobs } = await import('../files/s3-blobs.ts')
  return await openS3Blobs(s3, folder, claims)
}

/** The place that commands copy blobs from and to, while a server may run: a folder, or the store in a bucket. */
export async function blobsForCommands(config: Config): Promise<string | BlobStore> {
  const s3 = s3Settings(config)
  if (s3 === null) return blobFolder(config)
  const { createS3Blobs } = await import('../files/s3-blobs.ts')
  return createS3Blobs(s3, tmpdir())
}

/** Reads single blobs for commands. */
export async function blobReader(config: Config): Promise<Pick<BlobStore, 'open'>> {
  const blobs = await blobsForCommands(config)
  if (typeof blobs !== 'string') return blobs
  return {
    async open(sha256) {
      const path = blobPath(blobs, sha256)
      if ((await unlessMissing(stat(path))) === null) throw appError('file_content_missing')
      return createReadStream(path)
    },
  }
}

/** The services for uploaded files. Moves nothing until `mover` runs. */
export function createFiles(
  { config, database, store, log }: Base,
  { blobs, workspace }: { blobs: ReceivingBlobs; workspace: Pick<WorkspaceServices, 'workspaces'> },
) {
  const files = createFileService({
    database,
    files: store.files,
    searchIndex: store.search.index,
    blobs,
    incoming: blobs.incoming,
    maxBytes: config.limits.attachments,
    storage: workspace.workspaces.storage,
    log,
  })
  return {
    files,
    attachments: createAttachmentReader(store.attachments, blobs),
    mover: createAttachmentMover({ store, database, files, log }),
  }
}
