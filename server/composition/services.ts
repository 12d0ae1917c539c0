// Creates the services in order, each from the earlier ones.
import { Registry } from 'prom-client'
import packageJson from '../../package.json' with { type: 'json' }
import { createQuotaReport } from '../access/quota-report.ts'
import { createStorageUse } from '../access/storage-use.ts'
import { changedGroups } from '../administration/groups.ts'
import { createMcpAdministration } from '../administration/mcp-servers.ts'
import { createStorageReport } from '../administration/storage-report.ts'
import { createApps } from '../apps/apps.ts'
import { createComponents } from '../apps/components.ts'
import { createFrozenApps } from '../apps/frozen-apps.ts'
import { createAppLibraries } from '../apps/libraries.ts'
import { createMcpApps } from '../apps/mcp-apps.ts'
import { createAppsOrigin } from '../apps/origin.ts'
import { createOidcSignIn } from '../auth/oidc/sign-in.ts'
import type { PasswordCost } from '../auth/passwords.ts'
import { createAnnouncer, createChangeLog } from '../changes/change-log.ts'
import { createBackground } from '../chat/background.ts'
import { tellApprovers } from '../chat/tell-approvers.ts'
import { createBackups } from '../commands/scheduled-backups.ts'
import {
  appOrigin,
  blobPlace,
  clockSettings,
  measuredFolders,
  oidcSettings,
  requestBounds,
  signInOffer,
  skillFolders,
  tracingSettings,
  transferFolder,
} from '../config/settings.ts'
import { createHealthCheck } from '../doctor/run-doctor.ts'
import { createAttachmentReader } from '../files/attachment-contents.ts'
import { createFileService } from '../files/files.ts'
import { createAttachmentMover } from '../files/move-attachments.ts'
import { openBlobs } from '../files/open-blobs.ts'
import { failedBackups } from '../files/scheduled-backups.ts'
import { createUploadSlots } from '../http/upload-slots.ts'
import { basePathOf } from '../lib/base-path.ts'
import { SOLE_WORKER } from '../lib/work-claims.ts'
import { createModelCatalog } from '../llm/catalog.ts'
import { withEnvironmentKey } from '../llm/environment-keys.ts'
import { createModelProbe } from '../llm/probe.ts'
import { createOfferedModels } from '../models/offered-models.ts'
import { cachedModels, createModelUrls } from '../models/stored-models.ts'
import { addSignInMetrics, countOccurrences } from '../observability/counters.ts'
import { addInstallationMetrics } from '../observability/installation-metrics.ts'
import { createObservers } from '../observability/observers.ts'
import { addRunGauges } from '../observability/run-metrics.ts'
import { INSTALLATION_KEY, InstallationId } from '../owner/installation.ts'
import { createReceipts } from '../receipts/receipts.ts'
import { createRunRecordReader } from '../runs/inspection/read-record.ts'
import { createRunRecords } from '../runs/inspection/run-records.ts'
import { createScheduleClock } from '../schedules/clock.ts'
import { createHooks } from '../schedules/hooks.ts'
import { createIndexProgress } from '../search/progress.ts'
import { createSearch } from '../search/search.ts'
import type { Services } from '../services.ts'
import { createMarkdownRenderer } from '../sharing/markdown.ts'
import { createShares } from '../sharing/shares.ts'
import { builtInSkills } from '../skills/built-in.ts'
import { createConsents } from '../skills/consents.ts'
import { createSkills } from '../skills/skills.ts'
import type { CommandNetwork } from '../tools/builtin/programs/exec.ts'
import { createTransferJobs } from '../transfer/jobs.ts'
import { createFileAnnouncer } from '../workspace/announce-files.ts'
import { createLineCounter } from '../workspace/checkpoints/diff/diffs.ts'
import { createAccountServices } from './accounts.ts'
import type { Base } from './base.ts'
import { createConfiguredChat } from './chat.ts'
import { createConfiguredReceiving } from './receiving.ts'
import { createTools } from './tools.ts'
import { createConfiguredWorkspace } from './workspace.ts'

const { version } = packageJson

interface ServicesOptions {
  passwordCost: PasswordCost | undefined
  commandNetwork: CommandNetwork
  /** Folder of the built page. */
  webRoot: string
}

/** The services, and what starts and ends with the server but no route uses. */
export type ServerServices = Awaited<ReturnType<typeof createServices>>

/** Starts nothing that works in the background. */
export async function createServices(
  base: Base,
  { passwordCost, commandNetwork, webRoot }: ServicesOptions,
) {
  const { config, database, store, access, settings, instance, claims, limits, log, now } = base
  const { box, redact, mcpServers, loweredRisks, environmentKeys } = base
  const { tokenKeys, record, ...account } = createAccountServices(base, passwordCost)
  const { connections, emailLinks, passwords } = account
  // `openBase` has stored one.
  const installationId = (await store.settings.get(INSTALLATION_KEY, InstallationId))?.id ?? ''
  const stored = cachedModels(store.models, box, environmentKeys)
  const catalog = createModelCatalog({
    models: config.models.map((model) => withEnvironmentKey(model, environmentKeys)),
    defaultModel: config.default_model,
    settings,
    stored,
    idleTimeout: config.stream.idle_timeout,
    onSkipped: (skipped) => log.warn(skipped, 'unreadable lines in the stream of a provider'),
  })
  const offeredModels = createOfferedModels({ catalog, access, settings })
  const blobs = await openBlobs(blobPlace(config), claims)
  const workspace = await createConfiguredWorkspace({ config, store, access, instance, log })
  const { workspaces } = workspace
  const { storage } = workspaces
  const files = createFileService({
    database,
    files: store.files,
    searchIndex: store.search.index,
    blobs,
    incoming: blobs.incoming,
    maxBytes: config.limits.attachments,
    storage,
    log,
  })
  const appLibraries = createAppLibraries(webRoot)
  const skills = createSkills({
    store,
    workspaces,
    serverFolders: [...skillFolders(config), builtInSkills()],
    access,
  })
  const consents = createConsents({ store, workspaces, skills, makeDiff: workspace.makeDiff, now })
  const unconfirmed = config.auth_mode === 'multi' ? emailLinks.unconfirmed : undefined
  const changes = instance.shareChanges(createChangeLog())
  const metrics = new Registry()
  const observers = await createObservers(metrics, tracingSettings(config), {
    instance: instance.id,
    version,
    modelUrl: createModelUrls(config.models, stored),
    log,
  })
  const tools = createTools(base, {
    files,
    workspace,
    skills,
    consents,
    commandNetwork,
    unconfirmed,
    observe: observers.observe,
    changes,
    offeredModels,
  })
  const { channels, knowledge, memory, registry, mcp, schedules, webhooks, push } = tools
  const announcer = createAnnouncer(changes.publish, {
    approval: tellApprovers(changes.publish, { store, log }),
  })
  announcer.followRuns({ users: push.users, changed: push.runChanged })
  announcer.followRuns({ users: webhooks.users, changed: webhooks.afterCommit })
  workspace.checkpoints.onChange(createFileAnnouncer({ members: store.members, changes, log }))
  const records = createRunRecords({
    repository: store.runRecords,
    keepDays: config.inspector_days,
    instance: instance.id,
    redact,
    log,
    now,
  })
  const receipts = createReceipts({
    ledger: store.ledger,
    countLines: createLineCounter(
      { projects: store.projects, workspaces },
      { contentStore: workspace.checkpoints.contentStore, makeDiff: workspace.makeDiff },
    ),
  })
  const chat = createConfiguredChat(base, {
    catalog,
    changes,
    announcer,
    files,
    workspace,
    skills,
    consents,
    observers,
    records,
    tools,
    receipts,
  })
  addRunGauges(metrics, chat.runs, instance)
  addInstallationMetrics(metrics, {
    folders: measuredFolders(config),
    failingWebhooks: store.webhooks.countFailing,
    lastBackup: store.audit.lastBackup,
    backupEvery: config.backup?.every ?? 0,
    failedBackups: () => failedBackups(store.settings),
  })
  const countFailedSignIn = addSignInMetrics(metrics)
  const scheduleClock = createScheduleClock({
    ...clockSettings(config),
    database,
    store,
    access,
    schedules,
    chat,
    webhooks,
    push,
    channels,
    registry,
    readPage: tools.readPage,
    workspace,
    makeDiff: workspace.makeDiff,
    receipts,
    offeredModels,
    announce: changes.publish,
    followRuns: announcer.followRuns,
    observe: countOccurrences(metrics),
    isShared: instance.sharing !== undefined,
    claims: claims ?? SOLE_WORKER,
    every: base.clock.every,
    log,
    now,
  })
  const messengers = createConfiguredReceiving(base, {
    chat,
    tools,
    files,
    workspace,
    offeredModels,
    changes,
    announcer,
    metrics,
  })
  const markdown = createMarkdownRenderer()
  const probe = createModelProbe()
  const membership: Services['membership'] = {
    store,
    stopMembers: chat.stopMembers,
    announce: changes.publish,
    maxShared: (userId) => access.quota(userId).projects_shared,
    now,
  }
  const { oidc: issuer, public_url: publicUrl } = config
  const oidc =
    issuer === undefined || publicUrl === undefined
      ? null
      : createOidcSignIn({
          settings: oidcSettings(issuer),
          publicUrl,
          database,
          store,
          connections,
          onGroupsChanged: (userId, groups) =>
            changedGroups(userId, groups, { access, membership }),
          box,
          log,
          now,
        })

  const services: Services = {
    version,
    installationId,
    environmentKeys,
    authMode: config.auth_mode,
    publicUrl: config.public_url,
    basePath: basePathOf(config.public_url),
    isHttps: config.public_url?.startsWith('https:') === true,
    isBehindProxy: config.public_url !== undefined || config.trusted_proxies !== undefined,
    signInOffer: signInOffer(config),
    bounds: requestBounds(config),
    configuredModels: config.models,
    listedMcpTools: config.tools.listed_mcp_tools,
    now,
    database,
    store,
    blobs,
    limits,
    redisState: () => instance.redisState,
    box,
    bodyBox: base.bodyBox,
    ...account,
    oidc,
    async record(entry) {
      if (entry.action === 'sign_in_failed') countFailedSignIn()
      await record(entry)
    },
    access,
    settings,
    reportQuota: createQuotaReport({
      access,
      store,
      defaultApproval: () => settings.current().effective.default_approval,
      speech: tools.speech.offer,
      now,
    }),
    reportStorageUse: createStorageUse({
      storage: store.storage,
      measure: storage.left,
      texts: storage.texts,
      limitOf: access.storageLimit,
    }),
    mcpServers,
    mcpAdministration: createMcpAdministration({
      risk: config.tools.risk,
      mcpServers,
      mcp,
      registry,
      loweredRisks,
      groups: store.groups,
      audit: store.audit,
    }),
    reportStorage: createStorageReport({
      storage: store.storage,
      workspace,
      limitOf: access.storageLimit,
    }),
    checkHealth: createHealthCheck({
      config,
      webRoot,
      secretKeys: base.secretKeys,
      environmentKeys,
      mcp,
    }),
    chat,
    receipts,
    background: createBackground(store, chat),
    search: createSearch(store, createIndexProgress(store)),
    shares: createShares({
      database,
      store,
      box,
      passwords,
      storage,
      frozenApps: createFrozenApps({ store, workspaces, blobs, access }),
      isEnabled: () => settings.current().effective.sharing === 'on',
      limits,
      now,
    }),
    transfers: createTransferJobs({
      transfers: store.transfers,
      audit: store.audit,
      folder: transferFolder(config),
      claims,
      bundle: {
        store,
        blobs,
        receipts,
        workspaces,
        listChannels: (userId) => channels.list(userId),
        now,
      },
      imports: {
        database,
        store,
        files,
        storage,
        hasModel: offeredModels.exists,
        workspace,
        knowledge,
        memory,
        uploadLimits: { bytes: config.limits.import, files: config.limits.upload_files },
        schedules,
        now,
        maxBytes: config.limits.import,
      },
      announce: (userId, id) =>
        changes.publish(userId, { type: 'conversation', id, change: 'created' }),
      log,
      now,
    }),
    markdown,
    changes,
    readRunRecord: createRunRecordReader({ store, records, priceOf: catalog.priceOf }),
    attachments: createAttachmentReader(store.attachments, blobs),
    files,
    uploadSlots: createUploadSlots(limits),
    workspace,
    apps: createApps({
      database,
      store,
      workspaces,
      checkpoints: workspace.checkpoints,
      access,
      now,
    }),
    mcpApps: createMcpApps({ database, store, now }),
    appsOrigin: createAppsOrigin(appOrigin(config)),
    appComponents: createComponents({ pool: workspace.pool, libraries: appLibraries }),
    appLibraries,
    membership,
    skills,
    consents,
    knowledge,
    embeddings: tools.embeddings,
    speech: tools.speech,
    programImages: tools.programImages,
    memory,
    catalog,
    offeredModels,
    probe,
    registry,
    mcp,
    runPython: tools.runPython,
    isolationKnown: tools.isolationKnown,
    channels,
    ...messengers,
    webhooks,
    push,
    schedules,
    scheduleClock,
    hooks: createHooks({
      database,
      store,
      box,
      schedules,
      webhooks,
      limits,
      now,
    }),
  }
  return {
    services,
    tokenKeys,
    blobs,
    mover: createAttachmentMover({ store, database, files, log }),
    backups: await createBackups(base, emailLinks, installationId),
    metrics,
    startTools: tools.start,
    /** Call it when nothing runs any more. */
    async close(): Promise<void> {
      await Promise.all([markdown, tools, catalog, probe, workspace].map((one) => one.close()))
      await records.close()
      await observers.close()
    },
  }
}
