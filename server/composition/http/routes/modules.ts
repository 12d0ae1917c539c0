// The modules that routes use, and the services that several groups of routes share.
import { createQuotaReport } from '../../../access/quota-report.ts'
import type { ChangeLog } from '../../../changes/change-log.ts'
import type { ChatService } from '../../../chat/chat-service.ts'
import type { AttachmentReader } from '../../../files/attachment-contents.ts'
import type { BlobStore } from '../../../files/blobs.ts'
import type { FileService } from '../../../files/files.ts'
import type { IssueToken } from '../../../http/authentication.ts'
import type { ModelCatalog } from '../../../llm/catalog.ts'
import type { ModelProbe } from '../../../llm/probe/probe.ts'
import { createUploadSlots } from '../../../routes/files/upload-slots.ts'
import type { RunRecords } from '../../../runs/inspection/run-records.ts'
import { createIndexProgress } from '../../../search/progress.ts'
import { createSearch } from '../../../search/search.ts'
import type { MarkdownRenderer } from '../../../sharing/markdown.ts'
import type { TransferJobs } from '../../../transfer/jobs.ts'
import type { WorkspaceServices } from '../../../workspace/workspace-services.ts'
import type { AccountServices } from '../../accounts/accounts.ts'
import type { Base } from '../../base.ts'
import { createModelCheck, usersModels } from '../../models.ts'
import type { ToolModule } from '../../tools/tools.ts'

/** Concurrent uploads, of folders and documents together. */
const UPLOAD_SLOTS = { perUser: 4, inAll: 32 }

/** All modules that routes use. */
export interface RouteModules extends Base, Omit<AccountServices, 'tokenKeys'> {
  attachments: AttachmentReader
  blobs: BlobStore
  catalog: ModelCatalog
  changes: ChangeLog
  chat: ChatService
  files: FileService
  issueToken: IssueToken
  markdown: MarkdownRenderer
  probe: ModelProbe
  records: RunRecords
  tools: ToolModule
  transfers: TransferJobs
  version: string
  /** Folder of the built page. */
  webRoot: string
  workspace: WorkspaceServices
}

/** The modules, and the services that several groups of routes share. */
export type SharedRouteModules = RouteModules & ReturnType<typeof createShared>

/** Adds the services that groups of routes share. Call it once: the uploads of all routes count together. */
export const withShared = (modules: RouteModules): SharedRouteModules => ({
  ...modules,
  ...createShared(modules),
})

const createShared = ({ store, limits, catalog, access, settings, now }: RouteModules) => ({
  search: createSearch(store, createIndexProgress(store)),
  uploadSlots: createUploadSlots(UPLOAD_SLOTS, limits),
  hasModel: createModelCheck(catalog),
  ...usersModels({ catalog, access, settings }),
  reportQuota: createQuotaReport({
    access,
    store,
    defaultApproval: () => settings.current().effective.default_approval,
    now,
  }),
})
