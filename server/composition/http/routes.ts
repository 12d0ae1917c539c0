// What each group of routes receives of the wired modules.
import type { Access } from '../../access/access.ts'
import type { McpServerCatalog } from '../../access/mcp-servers.ts'
import { createQuotaReport } from '../../access/quota-report.ts'
import type { ServerSettingsService } from '../../access/server-settings.ts'
import type { AccountLinks } from '../../auth/account-links.ts'
import type { Accounts } from '../../auth/accounts.ts'
import type { ApiKeys } from '../../auth/api-keys.ts'
import type { RecordAudit } from '../../auth/audit-recorder.ts'
import type { EmailLinks } from '../../auth/email-links.ts'
import type { OidcSignIn } from '../../auth/oidc/sign-in.ts'
import type { Passwords } from '../../auth/passwords.ts'
import type { Passkeys } from '../../auth/second-factor/passkeys.ts'
import type { SecondFactors } from '../../auth/second-factor/second-factors.ts'
import type { SecretBox } from '../../auth/secret-box.ts'
import type { Sessions } from '../../auth/sessions.ts'
import type { SetupToken } from '../../auth/setup-token.ts'
import type { ChangeLog } from '../../changes/change-log.ts'
import { createBackground } from '../../chat/background.ts'
import type { ChatService } from '../../chat/chat-service.ts'
import type { Config } from '../../config/schema.ts'
import type { Database } from '../../db/database.ts'
import type { Store } from '../../db/store.ts'
import type { AttachmentReader } from '../../files/attachment-contents.ts'
import type { BlobStore } from '../../files/blobs.ts'
import type { FileService } from '../../files/files.ts'
import type { IssueToken } from '../../http/authentication.ts'
import type { OpenConnections } from '../../http/open-connections.ts'
import type { Limits } from '../../lib/limits.ts'
import type { ModelCatalog } from '../../llm/catalog.ts'
import { listPresets } from '../../llm/probe/presets.ts'
import type { ModelProbe } from '../../llm/probe/probe.ts'
import { createUploadSlots } from '../../routes/files/upload-slots.ts'
import type { RouteDependencies } from '../../routes/index.ts'
import { createIndexProgress } from '../../search/progress.ts'
import { createSearch } from '../../search/search.ts'
import type { MarkdownRenderer } from '../../sharing/markdown.ts'
import { createShares } from '../../sharing/shares.ts'
import type { TransferJobs } from '../../transfer/jobs.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'
import { confirmChannel } from '../accounts/accounts.ts'
import { endAccount } from '../accounts/delete-account.ts'
import { createModelCheck, usersModels } from '../models.ts'
import { clientMetadataUrl } from '../tools/mcp-grants.ts'
import type { ToolModule } from '../tools/tools.ts'
import { administrationOf } from './administration.ts'
import { createMcpServices } from './mcp-server.ts'

/** Uploads that may run at the same time, of folders and of documents together. */
const UPLOAD_SLOTS = { perUser: 4, inAll: 32 }

/** The modules that routes use. */
export interface RouteModules {
  config: Config
  database: Database
  store: Store
  accounts: Accounts
  access: Access
  settings: ServerSettingsService
  mcpServers: McpServerCatalog
  /** Folder of the built page. */
  webRoot: string
  links: AccountLinks
  setup: SetupToken
  oidc: OidcSignIn | null
  secondFactors: SecondFactors
  passkeys: Passkeys
  emailLinks: EmailLinks
  record: RecordAudit
  sessions: Sessions
  apiKeys: ApiKeys
  issueToken: IssueToken
  passwords: Passwords
  box: SecretBox
  catalog: ModelCatalog
  probe: ModelProbe
  files: FileService
  blobs: BlobStore
  attachments: AttachmentReader
  /** Moves stored attachments to the blob store, in the background. */
  moveAttachments(): void
  workspace: WorkspaceServices
  tools: ToolModule
  changes: ChangeLog
  chat: ChatService
  markdown: MarkdownRenderer
  /** Seals what the log need not know as a secret. */
  bodyBox: SecretBox
  version: string
  transfers: TransferJobs
  limits: Limits
  connections: OpenConnections
  now(): Date
}

/** Selects for each group of routes the modules that it uses. */
export function routeDependencies({
  config,
  database,
  store,
  accounts,
  access,
  settings,
  mcpServers,
  webRoot,
  links,
  setup,
  oidc,
  secondFactors,
  passkeys,
  emailLinks,
  record,
  sessions,
  apiKeys,
  issueToken,
  passwords,
  box,
  catalog,
  probe,
  files,
  blobs,
  attachments,
  moveAttachments,
  workspace,
  tools,
  changes,
  chat,
  markdown,
  bodyBox,
  version,
  transfers,
  limits,
  connections,
  now,
}: RouteModules): RouteDependencies {
  const search = createSearch(store, createIndexProgress(store))
  const uploadSlots = createUploadSlots(UPLOAD_SLOTS, limits)
  const hasModel = createModelCheck(catalog)
  const { assertModel, listModels } = usersModels({ catalog, access, settings })
  const reportQuota = createQuotaReport({
    access,
    store,
    defaultApproval: () => settings.current().effective.default_approval,
    now,
  })
  return {
    userEvents: { changes },
    health: { isDraining: () => chat.runs.isDraining, pingStore: () => database.ping() },
    auth: {
      mode: config.auth_mode,
      registration: () => settings.current().effective.registration,
      behindProxy: config.public_url !== undefined,
      accounts,
      links,
      setup,
      oidc,
      secondFactors,
      passkeys,
      emailLinks,
      limits,
      publicUrl: config.public_url,
      offered: {
        ...(oidc === null ? {} : { oidc: oidc.name }),
        ...(config.oidc?.password_login === false ? { password_off: true as const } : {}),
      },
      record,
      sessions,
      apiKeys,
      issueToken,
      connections,
      https: config.public_url?.startsWith('https:') === true,
    },
    adminUsers: {
      users: store.users,
      secondFactors,
      access,
      quotas: store.quotas,
      reportQuota,
      sessions,
      apiKeys,
      audit: store.audit,
      links,
      publicUrl: config.public_url,
      connections,
      async endAccess(id, kept) {
        connections.end(id, { kept })
        await chat.stopUser(id)
      },
      endAccount: (id, end, kept) =>
        endAccount(
          {
            store,
            workspace,
            passwords,
            removeDocuments: tools.knowledge.removeProject,
            stopProject: (projectId) => chat.stopProject(projectId),
            async endAccess() {
              connections.end(id, { kept })
              await chat.stopUser(id)
            },
          },
          id,
          end,
        ),
    },
    ...administrationOf(
      { config, store, catalog, chat, workspace, access, mcp: tools.mcp, mcpServers },
      { settings, webRoot },
    ),
    quota: { report: reportQuota },
    adminGroups: { groups: store.groups, access },
    conversations: {
      conversations: store.conversations,
      trash: store.trash,
      chat,
      announce: changes.publish,
      assertModel,
      assertApprovalMode: access.assertApprovalMode,
      async projectModel(userId, projectId) {
        const model = (await store.projects.find(userId, projectId))?.settings?.model ?? null
        const isUsable = model !== null && access.models(userId)(model) && (await hasModel(model))
        return isUsable ? model : null
      },
      thinksByDefault: async (userId, id) => {
        const { model } = await catalog.resolve(id, access.models(userId))
        return !model.demo && model.thinking !== false
      },
    },
    messages: { chat, store, database, attachments },
    answers: { store, database, maxCharacters: config.limits.message },
    files: { files, uploadSlots, fileLimit: config.limits.attachments },
    exports: { store, database, attachments, markdown, hasModel, moveAttachments },
    transfers: { jobs: transfers, uploadSlots, importLimit: config.limits.import },
    sharing: {
      store,
      blobs,
      database,
      markdown,
      hasModel,
      shares: createShares({
        database,
        store,
        box,
        passwords,
        isEnabled: () => settings.current().effective.sharing === 'on',
        limits,
        now,
      }),
      publicUrl: config.public_url,
      https: config.public_url?.startsWith('https:') === true,
    },
    runs: { chat, store },
    projects: {
      assertModel,
      projects: store.projects,
      services: workspace,
      uploadLimits: { bytes: config.limits.upload, files: config.limits.upload_files },
      uploadSlots,
      knowledge: tools.knowledge,
      stopRuns: (id) => chat.stopProject(id),
    },
    models: {
      listModels,
      configured: config.models,
      models: store.models,
      box,
    },
    modelSetup: { probe: probe.probe, listPresets },
    search: { search },
    stats: { tokenUsage: store.tokenUsage, now },
    mcpServer: {
      services: createMcpServices({ chat, store, search, workspace, box: bodyBox }),
      version,
    },
    programs: { chat, store, listModels },
    background: { background: createBackground(store, chat), store },
    channels: {
      channels: tools.channels,
      askForConfirmation: config.auth_mode === 'multi' ? confirmChannel(emailLinks) : undefined,
    },
    webhooks: { webhooks: tools.webhooks },
    push: { push: tools.push },
    memory: { memory: tools.memory },
    preferences: { settings: store.settings },
    mcp: {
      mcp: tools.mcp,
      files,
      uploadSlots,
      publicUrl: config.public_url,
      clientMetadataUrl: clientMetadataUrl(config.public_url),
    },
    tools: { registry: tools.registry, isolationKnown: tools.isolationKnown },
    documents: {
      knowledge: tools.knowledge,
      projects: store.projects,
      uploadSlots,
      fileLimit: config.limits.file_write,
    },
  }
}
