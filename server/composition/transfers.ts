// Exports and imports, with the modules that they read and write.
import { transferFolder } from '../config/settings.ts'
import type { Services } from '../services.ts'
import { createTransferJobs, type TransferJobs } from '../transfer/jobs.ts'
import type { Base } from './base.ts'

/** Reads and writes nothing before its first job. */
export const createTransfers = (
  { config, database, store, claims, log, now }: Base,
  {
    offeredModels,
    files,
    blobs,
    workspace,
    channels,
    knowledge,
    memory,
    changes,
    receipts,
    schedules,
  }: Pick<
    Services,
    | 'offeredModels'
    | 'files'
    | 'blobs'
    | 'workspace'
    | 'channels'
    | 'knowledge'
    | 'memory'
    | 'changes'
    | 'receipts'
    | 'schedules'
  >,
): TransferJobs =>
  createTransferJobs({
    transfers: store.transfers,
    audit: store.audit,
    folder: transferFolder(config),
    claims,
    bundle: {
      store,
      blobs,
      receipts,
      workspaces: workspace.workspaces,
      listChannels: (userId) => channels.list(userId),
      now,
    },
    imports: {
      database,
      store,
      files,
      storage: workspace.workspaces.storage,
      hasModel: offeredModels.exists,
      projects: store.projects,
      workspace,
      knowledge,
      memory,
      uploadLimits: { bytes: config.limits.import, files: config.limits.upload_files },
      schedules,
      storedSchedules: store.schedules,
      userSkills: store.userSkills,
      now,
      actorOf: (userId) => ({ userId, username: null, address: null, details: { by: 'import' } }),
      maxBytes: config.limits.import,
    },
    announce: (userId, id) =>
      changes.publish(userId, { type: 'conversation', id, change: 'created' }),
    log,
    now,
  })
