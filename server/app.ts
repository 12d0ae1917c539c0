// The only file that knows every room: from the configuration to a server that is ready to listen.
import type { FastifyBaseLogger } from 'fastify'
import packageJson from '../package.json' with { type: 'json' }
import { createAgents } from './assembly/agents.ts'
import {
  authenticationOptions,
  chatSettings,
  databaseSettings,
  ignoredSettings,
  originRules,
  storedModels,
} from './assembly/settings.ts'
import { createToolRooms } from './assembly/tools.ts'
import { createProjectDescription, createWorkspaceRooms } from './assembly/workspace.ts'
import { createAccounts } from './auth/accounts.ts'
import { createApiKeys } from './auth/api-keys.ts'
import { createSecretBox, loadSecretKey } from './auth/secret-box.ts'
import { createChatService } from './chat/chat-service.ts'
import type { Config } from './config/schema.ts'
import { connect } from './db/connect.ts'
import { createStore } from './db/store.ts'
import { newId } from './lib/ids.ts'
import { createModelCatalog } from './llm/catalog.ts'
import { listPresets } from './llm/presets.ts'
import { createModelProbe } from './llm/probe.ts'
import type { App } from './plugins/app.ts'
import { createHttpStack } from './plugins/http.ts'
import { registerRoutes } from './routes/index.ts'

/** A server that is put together but does not listen yet. */
export interface Server {
  app: App
  config: Config
  /** Fulfils when every tool is there; those that need a look at the machine come a moment after the rest. */
  toolsReady: Promise<void>
  /** Not ready any more, no new runs; those that are there get `graceMs`. */
  drain(graceMs: number): Promise<void>
  /** Closes every connection and store. Safe after `drain` and without it. */
  close(): Promise<void>
}

export interface ServerOptions {
  config: Config
  log: FastifyBaseLogger
  /** Folder of the built page. */
  webRoot: string
  /** The operator's key for stored secrets; without it one is kept in the data folder. */
  secretKey?: string | undefined
}

/** Tokens of the system prompt that the user's memory may take. */
const MEMORY_TOKENS = 1500

/** Opens the stores and wires every room. Throws `AppError` with a text for the operator when that is impossible. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { config, log, webRoot, secretKey } = options
  const now = (): Date => new Date()
  for (const setting of ignoredSettings(config)) log.warn(`not in force: ${setting}`)
  const database = await connect(databaseSettings(config), { log })
  const store = createStore(database)
  const box = createSecretBox(loadSecretKey(secretKey, config.data_dir))
  const apiKeys = createApiKeys(store.users)
  const accounts = createAccounts({
    users: store.users,
    apiKeys,
    registration: config.registration,
  })
  const catalog = createModelCatalog({
    models: config.models,
    defaultModel: config.default_model,
    stored: () => storedModels(store.models, box),
    idleTimeout: config.stream.idle_timeout,
    onSkipped: (skipped) => log.warn(skipped, 'lines of a provider could not be read'),
  })
  const probe = createModelProbe()
  const workspace = await createWorkspaceRooms(config, store.checkpoints, log)
  const tools = createToolRooms({ config, database, store, workspace, box, log, now })
  const instance = newId<string>()
  const chat = createChatService({
    database,
    store,
    settings: chatSettings(config),
    catalog,
    registry: tools.registry,
    cache: tools.cache,
    results: tools.results,
    isToolAllowed: tools.isToolAllowed,
    memory: (userId, question) => tools.memory.promptSection(userId, question, MEMORY_TOKENS),
    describeProject: createProjectDescription(store.projects, workspace.workspaces),
    log,
    now,
    instance,
  })
  const background = createAgents({ config, store, chat, tools, instance, now })

  const { app, issueToken, finish } = await createHttpStack({
    bodyLimit: config.limits.json_body,
    logger: log,
    webRoot,
    version: packageJson.version,
    behindProxy: config.public_url !== undefined,
    origins: originRules(config),
    authentication: await authenticationOptions(config, accounts),
    gauges: [
      {
        name: 'nanoclaw_active_runs',
        help: 'Runs that this process performs.',
        read: () => chat.runs.all().length,
      },
    ],
  })
  registerRoutes(app, {
    health: { isDraining: () => chat.isDraining, pingStore: () => database.ping() },
    auth: {
      mode: config.auth_mode,
      registration: config.registration,
      accounts,
      apiKeys,
      issueToken,
    },
    adminUsers: { users: store.users },
    conversations: {
      conversations: store.conversations,
      assertModel: async (id) => void (await catalog.resolve(id)),
      thinksByDefault: async (id) => {
        const { model } = await catalog.resolve(id)
        return !model.demo && model.thinking !== false
      },
      stopRuns: (id) => chat.stopConversation(id),
    },
    messages: { chat, store, database },
    runs: { chat, store },
    projects: {
      projects: store.projects,
      room: workspace,
      uploadLimits: { bytes: config.limits.upload, files: config.limits.upload_files },
    },
    models: {
      listModels: () => catalog.list(),
      configured: config.models,
      models: store.models,
      box,
    },
    modelSetup: { probe: probe.probe, listPresets },
    stats: { tokenUsage: store.tokenUsage, now },
    background: { background, store },
    channels: { channels: tools.channels },
    memory: { memory: tools.memory },
    mcp: { mcp: tools.mcp },
    tools: { registry: tools.registry, isolationKnown: tools.isolationKnown },
    documents: {
      knowledge: tools.knowledge,
      projects: store.projects,
      fileLimit: config.limits.file_write,
    },
  })
  await finish()
  await app.ready()
  const toolsReady = tools.start()
  // A run of an earlier process may be in the middle of any tool; without such runs nobody has to wait.
  if ((await store.runs.unfinished()).length > 0) await toolsReady
  await chat.recover()

  return {
    app,
    config,
    toolsReady,
    drain: (graceMs) => chat.drain(graceMs),
    async close() {
      if (!chat.isDraining) await chat.drain(0)
      await app.close()
      await Promise.all([tools.close(), catalog.close(), probe.close(), workspace.close()])
      await database.close()
    },
  }
}
