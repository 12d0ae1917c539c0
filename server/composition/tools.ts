// Creates all tools and their dependencies: web access, MCP servers, channels, knowledge, memory, sandbox.
import { join } from 'node:path'
import { postMessage } from '../chat/post-message.ts'
import {
  embeddingSettings,
  imageSettings,
  mediaSettings,
  outboundRules,
  pythonSettings,
  rerankSettings,
  toolSettings,
} from '../config/settings.ts'
import { createMcpGrantRepository } from '../db/repositories/accounts/mcp-grants.ts'
import { readResultImage } from '../files/images.ts'
import { imageType } from '../files/sniff.ts'
import { createKnowledge } from '../knowledge/knowledge.ts'
import { createMemory } from '../knowledge/memory.ts'
import { createPaidSearch } from '../knowledge/paid-search.ts'
import { createMedia } from '../media/media.ts'
import { createPaidCalls } from '../media/paid-calls.ts'
import { createAddressRules } from '../net/addresses.ts'
import { createGuardedFetch } from '../net/guarded-fetch.ts'
import { createPageReader } from '../net/page-reader.ts'
import type { Observers } from '../observability/observers.ts'
import { createChatSpeech } from '../receiving/say.ts'
import { createBudgets } from '../runs/usage/budgets.ts'
import { createPythonSandbox } from '../sandbox/python/sandbox.ts'
import { agentSchedules } from '../schedules/agent-schedules.ts'
import { createSchedules } from '../schedules/schedules.ts'
import type { Services } from '../services.ts'
import { createBuiltinTools } from '../tools/builtin/index.ts'
import { type CommandNetwork, execOnThisHost } from '../tools/builtin/programs/exec.ts'
import { createRunPython } from '../tools/builtin/programs/run-python.ts'
import { createPageLoader } from '../tools/builtin/web/fetch-page.ts'
import { createStoredResults } from '../tools/long-results.ts'
import { clientMetadataUrl, createMcpGrantStore } from '../tools/mcp/oauth/stored-grants.ts'
import { createMcpServers } from '../tools/mcp/servers.ts'
import { withMeteredPrograms } from '../tools/metered.ts'
import { createProjectFileReader } from '../tools/project-files.ts'
import { createOwnTools, createToolRegistry } from '../tools/registry.ts'
import { createResultCache, sharedResults } from '../tools/result-cache.ts'
import { searchableFolder } from '../tools/searchable-folder.ts'
import { toolSafety } from '../tools/timed-run.ts'
import type { Base } from './base.ts'
import { createMessaging, type Unconfirmed } from './messaging.ts'

/** The tools of the server, and the services behind them. */
export type Tools = ReturnType<typeof createTools>

/** Creates all tools. Call `start` afterwards. */
export function createTools(
  base: Base,
  {
    files,
    workspace,
    skills,
    consents,
    commandNetwork,
    unconfirmed,
    observe,
    changes,
    offeredModels,
  }: Pick<Services, 'files' | 'workspace' | 'skills' | 'consents' | 'changes' | 'offeredModels'> & {
    /** The network that `exec` commands can use. */
    commandNetwork: CommandNetwork
    unconfirmed: Unconfirmed | undefined
    observe: Observers['observe']
  },
) {
  const { config, settings, database, store, access, instance, mcpServers } = base
  const { box, claims, redact, log, now } = base
  const fetch = createGuardedFetch({ rules: createAddressRules(outboundRules(config)) })
  const results = createStoredResults(store)
  const { memory: get, changeMemory: change } = store.settings
  const memory = createMemory({ get, change }, { now })
  const { webhooks, push, channels, kinds, resourceLimits } = createMessaging(base, {
    fetch,
    unconfirmed,
    offeredModels,
  })
  const budgets = createBudgets({ store, access, now, notices: webhooks.events })
  const cache = createResultCache({
    ttlSeconds: config.tools.cache_ttl,
    shared: sharedResults(instance.texts, { stateOf: store.projects.stateOf, redact }),
  })
  const embeddings = embeddingSettings(config)
  const rerank = rerankSettings(config)
  const search = createPaidSearch(
    {
      embeddings: embeddings && { ...embeddings, price: config.embeddings?.price },
      rerank: rerank && { ...rerank, price: config.rerank?.price },
      onReranked: (outcome, seconds) => observe({ kind: 'rerank', outcome, seconds }),
    },
    { database, store, budgets, fetch, log, now },
  )
  const knowledge = createKnowledge({
    documents: store.documents,
    folder: join(config.data_dir, 'documents'),
    storage: workspace.workspaces.storage,
    vectors: search.vectors,
    reranking: search.reranking,
    openFolder: (userId, projectId) =>
      searchableFolder(workspace.workspaces.open(userId, projectId), config.limits.file_write),
    onChange: cache.dropProject,
    claims,
    log,
  })
  const pages = createPageReader()
  const python = createPythonSandbox({
    ...pythonSettings(config),
    log: (message, details) => log.info(details, message),
  })
  const readFiles = createProjectFileReader(workspace)
  const chatSpeech = createChatSpeech({
    database,
    store,
    now,
    messengerOf: (type) => kinds.get(type)?.messenger ?? null,
    admit: (userId) => channels.admit(userId, 1),
  })
  const schedules = createSchedules({
    database,
    store,
    box,
    access,
    announce: changes.publish,
    webhooks,
    channels,
    offeredModels,
    skills,
    workspace,
    registry: () => registry,
    minIntervalSeconds: config.schedules.min_interval,
    defaultPerUser: config.schedules.max_per_user,
    now,
  })
  const builtin = createBuiltinTools({
    fetch,
    pages,
    results,
    citations: store.citations,
    knowledge,
    memory: { memory },
    services: workspace,
    exec: execOnThisHost(
      { ...config.tools.exec, isMultiUser: config.auth_mode === 'multi' },
      { bubblewrap: workspace.bubblewrap, network: commandNetwork },
      log,
    ),
    python: {
      python,
      defaultStrictness: config.code_execution.default_strictness,
      readFiles,
      skills,
    },
    images: imageSettings(config),
    imageSources: { files, findAttached: store.attachments.findImage, imageType },
    messages: {
      channels,
      post: (message) => postMessage({ database, store, now }, message),
      chats: chatSpeech,
    },
    skills,
    // Consent is of the person whose run reads, not of whoever stores the project.
    isUnaccepted: ({ actorId, projectId }, path, read) =>
      consents.isUnaccepted({ userId: actorId, projectId }, path, read),
    prepareImage: readResultImage,
    schedules: config.schedules.enabled
      ? agentSchedules({ store, now, schedules, access, settings })
      : null,
    ...toolSettings(config),
  })
  // Changes that a person makes in the editor invalidate cached results as well.
  workspace.checkpoints.onChange(cache.dropProject)
  workspace.checkpoints.onChange(knowledge.filesChanged)
  const ownTools = createOwnTools(withMeteredPrograms(builtin, resourceLimits))
  const isolationKnown = python.ready.then(() => {
    if (!python.state.available) ownTools.withdraw('execute_python')
  })
  const mcp = createMcpServers({
    servers: mcpServers.active(),
    disabledTools: mcpServers.disabledTools(),
    grants: createMcpGrantStore(createMcpGrantRepository(database), box, now),
    claims,
    clientMetadataUrl: clientMetadataUrl(config.public_url),
    web: fetch,
    prepareImage: readResultImage,
    redact,
    offersApps: config.apps.enabled && config.apps.port !== 0,
    identify: (userId) => store.users.find(userId),
    permits: access.allowsMcpServer,
    log: (message, detail) => log.warn(detail, message),
  })
  mcpServers.onChange(() => {
    mcp.switchOff(mcpServers.disabledTools())
    mcp.replace(mcpServers.active())
  })
  const registry = createToolRegistry([ownTools.source, mcp.tools], {
    disabled: config.tools.disabled,
    risk: config.tools.risk,
    lowered: base.loweredRisks,
    rules: access.tools,
  })
  return {
    registry,
    cache,
    results,
    safety: toolSafety(redact, log),
    schedules,
    /** Reads a page as the tool `fetch_page` does. */
    readPage: createPageLoader({ fetch, pages }),
    memory,
    channels,
    channelKinds: kinds,
    chatSpeech,
    webhooks,
    push,
    knowledge,
    embeddings: search.programEmbeddings,
    ...createMedia(mediaSettings(config), {
      paid: createPaidCalls({ database, store, budgets, now }),
      fetch,
    }),
    mcp,
    /** The budgets of users for model calls, embeddings and reranking included. */
    budgets,
    /** Resolves when the isolation of Python programs is determined. */
    isolationKnown,
    runPython: createRunPython({
      registry,
      python,
      readFiles,
      skills,
      limits: resourceLimits,
      strictness: config.code_execution.default_strictness,
    }),
    /** Starts background work. Resolves when all tools are available. */
    async start(): Promise<void> {
      channels.start()
      await Promise.all([
        webhooks.start(),
        push.reload(),
        // Creates the key of a new installation, so that a GET which reads it changes nothing.
        push.publicKey(),
        knowledge.start(),
        isolationKnown,
        // What tools say of themselves is compared with what their lowered risk level was given for, before the first run.
        mcp.ready.then(() => void registry.snapshot(null)),
      ]).catch((error: unknown) => log.error({ err: error }, 'a tool could not be started'))
    },
    async close(): Promise<void> {
      await Promise.all([
        channels.stop(),
        webhooks.stop(),
        push.stop(),
        knowledge.stop(),
        mcp.close(),
        python.close(),
      ])
      await Promise.all([pages.close(), fetch.close()])
    },
  }
}
