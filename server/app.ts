// Wires all modules together: from the configuration to a server that is ready to listen.
import type { FastifyBaseLogger } from 'fastify'
import { Registry } from 'prom-client'
import packageJson from '../package.json' with { type: 'json' }
import { loadMcpServers } from './access/mcp-servers.ts'
import { linkPath } from './auth/link-token.ts'
import type { PasswordCost } from './auth/passwords.ts'
import { createSecretBox } from './auth/secret-box.ts'
import { loadSecretKeys, type SecretKeySources } from './auth/secret-keys.ts'
import { createChangeLog } from './changes/change-log.ts'
import { createChatService } from './chat/chat-service.ts'
import { loadRules, refreshRules } from './composition/access-rules.ts'
import { createAccountServices } from './composition/accounts/accounts.ts'
import { leadBackgroundWork } from './composition/background-work.ts'
import { routeDependencies } from './composition/http/routes.ts'
import { createConfiguredStack } from './composition/http/stack.ts'
import { openInstance } from './composition/instance.ts'
import { createConfiguredCatalog } from './composition/models.ts'
import { createObservers } from './composition/observers/observers.ts'
import { addRunGauges } from './composition/observers/run-metrics.ts'
import { chatSettings, databaseSettings } from './composition/settings.ts'
import { openBlobs } from './composition/storage/blobs.ts'
import { createFileModule } from './composition/storage/files.ts'
import { createTransfers } from './composition/storage/transfers.ts'
import {
  createConfiguredWorkspace,
  createProjectDescription,
} from './composition/storage/workspace.ts'
import { prepareCommandNetwork } from './composition/tools/command-network.ts'
import { createToolModule, type ToolModuleOptions } from './composition/tools/tools.ts'
import type { Config } from './config/schema.ts'
import { connect } from './db/connect.ts'
import { createStore } from './db/store.ts'
import type { App } from './http/app.ts'
import { memorySection } from './knowledge/memory.ts'
import { newId } from './lib/ids.ts'
import {
  createRedactor,
  type Redactor,
  redactedLog,
  secretsIn,
  storedSecrets,
} from './lib/redact.ts'
import { createModelProbe } from './llm/probe/probe.ts'
import { claimStore, type StoreOwner } from './owner/owner.ts'
import { registerRoutes } from './routes/index.ts'
import { createSearchIndexer } from './search/indexer.ts'
import { createMarkdownRenderer } from './sharing/markdown.ts'

/** A server that is fully wired but does not listen yet. */
export interface Server {
  app: App
  config: Config
  /** Resolves when all tools are available. Tools that depend on the machine's isolation become available last. */
  toolsReady: Promise<void>
  /** The path of the page that creates the first account; null when there is an account, and in single mode. */
  setupPath: string | null
  /** Fails readiness, rejects new runs, and gives active runs `graceMs` to finish. */
  drain(graceMs: number): Promise<void>
  /** Closes all connections and the store. Drains without a grace period if `drain` was not called. */
  close(): Promise<void>
}

export interface ServerOptions {
  config: Config
  log: FastifyBaseLogger
  /** The redactor that `log` already uses. Default: a new one, through which `log` is filtered. */
  redactor?: Redactor
  /** Folder of the built page. */
  webRoot: string
  /** The operator's keys for stored secrets. Default: those in the data folder. */
  secretKeys?: SecretKeySources
  /** What hashing a password costs. Default: what is recommended against guessing. */
  passwordCost?: PasswordCost
  /** Called when another process has taken over the store: this one must exit at once, without writing anything. */
  onStoreTaken?(): void
}

/** Opens the store and wires all modules. @throws AppError with a message for the operator. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { config } = options
  const redactor = options.redactor ?? createRedactor()
  redactor.add(secretsIn(config))
  const log = options.redactor === undefined ? redactedLog(options.log, redactor) : options.log
  const commandNetwork = await prepareCommandNetwork(config)
  const owner = await claimStore(databaseSettings(config), {
    instance: newId<string>(),
    log,
    isShared: config.redis_url !== undefined,
    onTaken:
      options.onStoreTaken ?? (() => log.error({}, 'another process has taken over the store')),
  })
  try {
    return await assemble({ ...options, log, redactor, commandNetwork }, owner)
  } catch (error) {
    await owner.release()
    throw error
  }
}

async function assemble(
  {
    config,
    log,
    webRoot,
    secretKeys = {},
    passwordCost,
    redactor,
    commandNetwork,
  }: ServerOptions & Pick<ToolModuleOptions, 'commandNetwork'> & { redactor: Redactor },
  owner: StoreOwner,
): Promise<Server> {
  const { version } = packageJson
  const now = (): Date => new Date()
  const database = await connect(databaseSettings(config), { log })
  const store = createStore(database)
  const instance = await openInstance({ config, owner, store, log })
  const boxKeys = loadSecretKeys(secretKeys, config.data_dir)
  const bodyBox = createSecretBox(boxKeys)
  const box = createSecretBox(boxKeys, (secret) => redactor.add(storedSecrets(secret)))
  const { limits, shareEndings } = instance
  const { access, settings } = await loadRules(config, store)
  const mcpServers = await loadMcpServers(config.mcp_servers, store.mcpServers, box)
  const { write } = database
  const guarded = { access, box, passwordCost, limits, shareEndings, log, now }
  const accounts = createAccountServices({ config, settings, store, write, ...guarded })
  const models = { config, settings, models: store.models, box, log }
  const catalog = createConfiguredCatalog(models)
  const probe = createModelProbe()
  const blobs = await openBlobs(config, instance.claims)
  const workspace = await createConfiguredWorkspace(config, store, access, instance.claims, log)
  const stored = { config, database, store, blobs, workspace, log }
  const { files, attachments, mover } = createFileModule(stored)
  const tools = createToolModule({
    config,
    database,
    store,
    workspace,
    commandNetwork,
    files,
    access,
    mcpServers,
    unconfirmed: config.auth_mode === 'multi' ? accounts.emailLinks.unconfirmed : undefined,
    box,
    redact: redactor.redact,
    claims: instance.claims,
    limits,
    log,
    now,
  })
  const changes = instance.shareChanges(createChangeLog())
  const metrics = new Registry()
  const observed = { config, store, box, instance: instance.id, version, log }
  const observers = await createObservers(metrics, observed)
  const chat = createChatService({
    observe: observers.observe,
    // The pages of a user may be open at another instance.
    isFollowed: instance.sharing === undefined ? changes.isFollowed : () => true,
    notices: tools.webhooks.events,
    announce: tools.push.sentWith(tools.webhooks.sentWith(changes.publish)),
    database,
    store,
    files,
    documents: tools.knowledge,
    settings: chatSettings(config, settings),
    catalog,
    access,
    registry: tools.registry,
    cache: tools.cache,
    results: tools.results,
    safety: tools.safety,
    isToolAllowed: tools.isToolAllowed,
    prepareTools: tools.mcp.prepare,
    memory: memorySection,
    describeProject: createProjectDescription(store.projects, workspace),
    log,
    redact: redactor.redact,
    now,
    instance: instance.id,
    whenOwner: instance.whenOwner,
    sharing: instance.sharing,
  })
  const markdown = createMarkdownRenderer()
  const searchIndexer = createSearchIndexer(store, database, log)
  const transfers = createTransfers({
    config,
    database,
    store,
    catalog,
    files,
    blobs,
    workspace,
    tools,
    changes,
    claims: instance.claims,
    log,
    now,
  })
  addRunGauges(metrics, chat.runs, instance)
  const { app, issueToken, finish } = await createConfiguredStack({
    config,
    store,
    accounts,
    access,
    bodyBox,
    instance: instance.id,
    changes,
    redact: redactor.redact,
    webRoot,
    version,
    metrics,
    limits,
    log,
    now,
  })
  registerRoutes(
    app,
    routeDependencies({
      config,
      database,
      store,
      ...accounts,
      access,
      settings,
      mcpServers,
      webRoot,
      issueToken,
      box,
      catalog,
      probe,
      files,
      blobs,
      attachments,
      moveAttachments: () => void mover.run(),
      workspace,
      tools,
      changes,
      chat,
      limits,
      markdown,
      bodyBox,
      version,
      transfers,
      now,
    }),
  )
  await finish()
  await app.ready()
  accounts.oidc?.prepare()
  const toolsReady = tools.start()
  // An unfinished run may need any tool, so wait for them; without such runs there is nothing to wait for.
  if ((await store.runs.unfinished()).length > 0) await toolsReady
  await instance.start(chat)
  await transfers.start()
  const isShared = instance.claims !== undefined
  const stopRefreshing = refreshRules({
    access,
    settings,
    mcpServers,
    webhooks: tools.webhooks,
    push: tools.push,
    isShared,
    log,
  })
  leadBackgroundWork({ instance, searchIndexer, mover, store, blobs, chat, config, log, now })

  return {
    app,
    config,
    toolsReady,
    setupPath:
      config.auth_mode === 'multi' && !(await accounts.accounts.exist())
        ? linkPath(accounts.setup.token)
        : null,
    drain: (graceMs) => instance.drain(chat.runs, graceMs),
    async close() {
      stopRefreshing()
      accounts.oidc?.close()
      await accounts.emailLinks.settled()
      await transfers.stop()
      await instance.stopLeading()
      if (!chat.runs.isDraining) await instance.drain(chat.runs, 0)
      await app.close()
      await Promise.all([
        markdown.close(),
        tools.close(),
        catalog.close(),
        probe.close(),
        workspace.close(),
      ])
      await observers.close()
      await instance.leave()
      await database.close()
      await owner.release()
    },
  }
}
