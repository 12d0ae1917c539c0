// Creates the exports and imports from the modules that they read and write.
import { join } from 'node:path'
import type { ChangeLog } from '../../changes/change-log.ts'
import type { Config } from '../../config/schema.ts'
import type { Database, StoreLog } from '../../db/database.ts'
import type { Store } from '../../db/store.ts'
import type { BlobStore } from '../../files/blobs.ts'
import type { FileService } from '../../files/files.ts'
import type { WorkClaims } from '../../lib/work-claims.ts'
import type { ModelCatalog } from '../../llm/catalog.ts'
import { createTransferJobs, type TransferJobs } from '../../transfer/jobs.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'
import { createModelCheck } from '../models.ts'
import type { ToolModule } from '../tools/tools.ts'

/** The folder of exports and imports in progress. */
export const transferFolder = ({ data_dir }: Pick<Config, 'data_dir'>): string =>
  join(data_dir, 'transfers')

/** Reads and writes nothing before its first job. */
export const createTransfers = ({
  config,
  database,
  store,
  catalog,
  files,
  blobs,
  workspace,
  tools,
  changes,
  claims,
  log,
  now,
}: {
  config: Config
  database: Database
  store: Store
  catalog: ModelCatalog
  files: FileService
  blobs: BlobStore
  workspace: WorkspaceServices
  tools: Pick<ToolModule, 'channels' | 'knowledge' | 'memory'>
  changes: ChangeLog
  claims: WorkClaims | undefined
  log: StoreLog
  now(): Date
}): TransferJobs =>
  createTransferJobs({
    transfers: store.transfers,
    folder: transferFolder(config),
    claims,
    bundle: {
      store,
      blobs,
      workspaces: workspace.workspaces,
      listChannels: (userId) => tools.channels.list(userId),
      now,
    },
    imports: {
      database,
      store,
      files,
      storage: workspace.workspaces.storage,
      hasModel: createModelCheck(catalog),
      projects: store.projects,
      workspace,
      knowledge: tools.knowledge,
      memory: tools.memory,
      uploadLimits: { bytes: config.limits.import, files: config.limits.upload_files },
      maxBytes: config.limits.import,
    },
    announce: (userId, id) =>
      changes.publish(userId, { type: 'conversation', id, change: 'created' }),
    log,
    now,
  })
