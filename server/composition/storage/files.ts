// Attached files: their store, their contents, and the move of those that earlier versions stored in the database.
import type { Config } from '../../config/schema.ts'
import type { Database } from '../../db/database.ts'
import type { Store } from '../../db/store.ts'
import { type AttachmentReader, createAttachmentReader } from '../../files/attachment-contents.ts'
import type { BlobStore } from '../../files/blobs.ts'
import { createFileService, type FileService } from '../../files/files.ts'
import { type AttachmentMover, createAttachmentMover } from '../../files/move-attachments.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'

/** The services for uploaded files. */
export interface FileModule {
  files: FileService
  attachments: AttachmentReader
  mover: AttachmentMover
}

/** Creates the module. Moves nothing until `mover` runs. */
export function createFileModule({
  config,
  database,
  store,
  blobs,
  workspace,
  log,
}: {
  config: Pick<Config, 'limits'>
  database: Database
  store: Store
  /** `incoming` is the folder for files being received. */
  blobs: BlobStore & { incoming: string }
  workspace: Pick<WorkspaceServices, 'workspaces'>
  log: Parameters<typeof createFileService>[0]['log'] &
    Parameters<typeof createAttachmentMover>[0]['log']
}): FileModule {
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
