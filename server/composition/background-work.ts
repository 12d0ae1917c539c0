// Starts the background work that one instance at a time does.
import type { ChatService } from '../chat/chat-service.ts'
import type { Config } from '../config/schema.ts'
import type { Store } from '../db/store.ts'
import type { BlobStore } from '../files/blobs.ts'
import { startCollecting } from '../files/collect.ts'
import type { AttachmentMover } from '../files/move-attachments.ts'
import { removeOldCopies } from '../files/replaced-copies.ts'
import type { SearchIndexer } from '../search/indexer.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import type { Instance } from './instance.ts'
import { copyPlaces } from './settings.ts'
import { purgeDeleted } from './storage/purge.ts'

interface Dependencies {
  instance: Instance
  searchIndexer: SearchIndexer
  mover: AttachmentMover
  store: Store
  blobs: BlobStore & { incoming: string }
  workspace: Pick<WorkspaceServices, 'workspaces'>
  chat: ChatService
  config: Config
  log: Parameters<typeof startCollecting>[0]['log'] &
    Parameters<typeof purgeDeleted>[0]['log'] &
    Parameters<typeof removeOldCopies>[0]['log']
  now(): Date
}

/** Indexes, moves attachments to files, and removes expired data for as long as this instance leads. */
export function leadBackgroundWork(dependencies: Dependencies): void {
  const { instance, searchIndexer, mover, store, blobs, workspace, chat, config, log, now } =
    dependencies
  instance.lead(() => {
    void searchIndexer.run()
    return () => searchIndexer.stop()
  })
  instance.lead(() => {
    void mover.run()
    return () => mover.stop()
  })
  const { files, unusedBlobs: unused, settings } = store
  instance.lead(() =>
    removeOldCopies({ places: copyPlaces(config), days: config.replaced_days, log, now }),
  )
  instance.lead(() => startCollecting({ files, unused, settings, blobs, log, now }))
  instance.lead(() =>
    purgeDeleted({
      store,
      workspaces: workspace.workspaces,
      chat,
      isSole: instance.claims === undefined,
      auditDays: config.audit_days,
      inspectorDays: config.inspector_days,
      log,
      now,
    }),
  )
}
