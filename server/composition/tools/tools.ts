// Creates all tools and their dependencies: web access, MCP servers, channels, knowledge, memory, sandbox.
import { join } from 'node:path'
import type { LoweredRisks } from '../../access/lowered-risks.ts'
import type { McpServerCatalog } from '../../access/mcp-servers.ts'
import { postMessage } from '../../chat/post-message.ts'
import { createMcpGrantRepository } from '../../db/repositories/accounts/mcp-grants.ts'
import type { Store } from '../../db/store.ts'
import type { FileService } from '../../files/files.ts'
import { readResultImage } from '../../files/images.ts'
import { createKnowledge, type Knowledge } from '../../knowledge/knowledge.ts'
import { createMemory, type Memory } from '../../knowledge/memory.ts'
import type { WorkClaims } from '../../lib/work-claims.ts'
import type { Channels } from '../../messaging/channels.ts'
import type { Push } from '../../messaging/push.ts'
import type { Webhooks } from '../../messaging/webhooks.ts'
import { createAddressRules } from '../../net/addresses.ts'
import { createGuardedFetch } from '../../net/guarded-fetch.ts'
import { createPageReader } from '../../net/page-reader.ts'
import type { UserId } from '../../protocol/ids.ts'
import { type Budgets, createBudgets } from '../../runs/usage/budgets.ts'
import { createBuiltinTools } from '../../tools/builtin/index.ts'
import type { CommandNetwork } from '../../tools/builtin/programs/exec.ts'
import type { ToolDefinition } from '../../tools/definition.ts'
import { fileOfHandle, type LongResultStore } from '../../tools/long-results.ts'
import { createMcpServers, type McpServers } from '../../tools/mcp/servers.ts'
import { createProjectFileReader } from '../../tools/project-files.ts'
import { createToolRegistry, type ToolRegistry } from '../../tools/registry.ts'
import {
  createResultCache,
  type ResultCache,
  type SharedResults,
} from '../../tools/result-cache.ts'
import type { ToolSafety } from '../../tools/timed-run.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'
import type { Instance } from '../instance.ts'
import { toolSettings } from '../settings.ts'
import { imageGeneration } from './image-generation.ts'
import { clientMetadataUrl, createMcpGrantStore } from './mcp-grants.ts'
import { createMessaging, type MessagingOptions } from './messaging.ts'
import { withMeteredPrograms } from './metered-tools.ts'
import { execSettings, startPython } from './programs.ts'
import { createRunPython, type RunPython } from './run-python.ts'
import { searchableFolder } from './searchable-folder.ts'
import { vectorSearch } from './vector-search.ts'

/** The tools of the server, and the services behind them. */
export interface ToolModule {
  registry: ToolRegistry
  cache: ResultCache
  results: LongResultStore
  safety: ToolSafety
  memory: Memory
  channels: Channels
  webhooks: Webhooks
  push: Push
  knowledge: Knowledge
  mcp: McpServers
  /** The budgets of users for model calls, embeddings included. */
  budgets: Budgets
  /** Runs a program that a person has chosen. */
  runPython: RunPython
  /** Resolves when the isolation of Python programs is determined. */
  isolationKnown: Promise<void>
  /** Starts background work. Resolves when all tools are available. */
  start(): Promise<void>
  /** Whether a conversation may use a tool; false for tools of MCP servers that it disabled. */
  isToolAllowed(
    tool: ToolDefinition,
    conversation: { userId: UserId; disabledMcpServers: readonly string[] },
  ): boolean
  close(): Promise<void>
}

/** What the tools and their services are built from. */
export interface ToolModuleOptions extends MessagingOptions {
  workspace: WorkspaceServices
  /** The network that `exec` commands can use. */
  commandNetwork: CommandNetwork
  files: FileService
  /** The configured MCP servers. */
  mcpServers: Pick<McpServerCatalog, 'active' | 'disabledTools' | 'onChange'>
  loweredRisks: LoweredRisks
  redact(text: string): string
  /** Ensures that one instance reads a document, or refreshes a sign-in to an MCP server. */
  claims: WorkClaims | undefined
  instance: Pick<Instance, 'texts'>
}

/** How instances reuse each other's results; undefined in a single process. */
function sharedResults({
  instance: { texts },
  store,
  redact,
}: Pick<ToolModuleOptions, 'instance' | 'store' | 'redact'>): SharedResults | undefined {
  if (texts === undefined) return undefined
  return {
    stateOf: store.projects.stateOf,
    get: texts.get,
    // Results are usually redacted when they are stored; these leave the process before.
    set: (key, text, lifetimeMs) => texts.set(key, redact(text), lifetimeMs),
  }
}

/** Creates all tools. Call `start` afterwards. */
export function createToolModule(options: ToolModuleOptions): ToolModule {
  const { config, database, store, workspace, files, access, mcpServers, box, claims, log } =
    options
  const { now } = options
  const fetch = createGuardedFetch({
    rules: createAddressRules({
      allowPrivate: config.network.allow_private,
      allowPorts: config.network.allow_ports,
    }),
  })
  const results = createStoredResults(store)
  const memory = createStoredMemory(store, now)
  const { webhooks, push, channels, resourceLimits } = createMessaging(options, fetch)
  const budgets = createBudgets({ store, access, now, notices: webhooks.events })
  const cache = createResultCache({
    ttlSeconds: config.tools.cache_ttl,
    shared: sharedResults(options),
  })
  const knowledge = createKnowledge({
    documents: store.documents,
    folder: join(config.data_dir, 'documents'),
    storage: workspace.workspaces.storage,
    vectors: vectorSearch({ config, database, store, budgets, fetch, log, now }),
    openFolder: (userId, projectId) =>
      searchableFolder(workspace.workspaces.open(userId, projectId), config.limits.file_write),
    onChange: cache.dropProject,
    claims,
    log,
  })
  const pages = createPageReader()
  const python = startPython(config, log)
  const readFiles = createProjectFileReader(workspace)
  const builtin = createBuiltinTools({
    fetch,
    pages,
    results,
    knowledge,
    memory: { memory },
    services: workspace,
    exec: execSettings(config, workspace.bubblewrap, options.commandNetwork, log),
    python: {
      python,
      defaultStrictness: config.code_execution.default_strictness,
      readFiles,
    },
    images: imageGeneration(config, { fetch, files, attachments: store.attachments, readFiles }),
    messages: {
      channels,
      post: (message) => postMessage({ database, store, now }, message),
    },
    prepareImage: readResultImage,
    ...toolSettings(config),
  })
  // Changes that a person makes in the editor invalidate cached results as well.
  workspace.checkpoints.onChange((projectId) => {
    cache.dropProject(projectId)
    knowledge.filesChanged(projectId)
  })
  // Tools that cannot run here are neither offered to models nor listed.
  const metered = withMeteredPrograms(builtin, resourceLimits)
  let offered: readonly ToolDefinition[] = metered
  const isolationKnown = python.ready.then(() => {
    if (!python.state.available) offered = metered.filter(({ name }) => name !== 'execute_python')
  })
  const mcp = createMcpServers({
    servers: mcpServers.active(),
    disabledTools: mcpServers.disabledTools(),
    grants: createMcpGrantStore(createMcpGrantRepository(database), box, now),
    claims,
    clientMetadataUrl: clientMetadataUrl(config.public_url),
    web: fetch,
    prepareImage: readResultImage,
    redact: options.redact,
    identify: (userId) => store.users.find(userId),
    permits: access.allowsMcpServer,
    log: (message, detail) => log.warn(detail, message),
  })
  mcpServers.onChange(() => {
    mcp.switchOff(mcpServers.disabledTools())
    mcp.replace(mcpServers.active())
  })
  const registry = createToolRegistry([() => offered, mcp.tools], {
    disabled: config.tools.disabled,
    risk: config.tools.risk,
    lowered: options.loweredRisks,
    rules: access.tools,
  })
  return {
    registry,
    cache,
    results,
    safety: toolSafety(options),
    memory,
    channels,
    webhooks,
    push,
    knowledge,
    mcp,
    budgets,
    isolationKnown,
    runPython: createRunPython({
      registry,
      python,
      readFiles,
      limits: resourceLimits,
      strictness: config.code_execution.default_strictness,
    }),
    async start() {
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
    isToolAllowed: (tool, { userId, disabledMcpServers }) =>
      disabledMcpServers.length === 0 ||
      !mcp.toolNamesOf(userId, disabledMcpServers).has(tool.name),
    async close() {
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

/** Redacts what tools must not reveal, and logs their faults. */
const toolSafety = ({ redact, log }: ToolModuleOptions): ToolSafety => ({
  redact,
  onFault: (error, { tool, runId, callId }) =>
    log.error({ err: error, tool, run_id: runId, call_id: callId }, 'a tool failed unexpectedly'),
})

const createStoredMemory = ({ settings }: Store, now: () => Date): Memory =>
  createMemory(
    {
      get: (userId) => settings.memory(userId),
      change: (userId, replace) => settings.changeMemory(userId, replace),
    },
    { now },
  )

/** Stores long results per conversation. The texts of its attached files are read in the same way. */
const createStoredResults = ({ files, toolResults }: Store): LongResultStore => ({
  async create({ conversationId, runId }, content) {
    if (conversationId === null) throw new Error('a long result needs a conversation')
    return toolResults.create({ conversationId, runId, content })
  },
  async read({ conversationId }, handle) {
    if (conversationId === null) return undefined
    const file = fileOfHandle(handle)
    return file === null
      ? toolResults.find(conversationId, handle)
      : files.textIn(conversationId, file)
  },
})
