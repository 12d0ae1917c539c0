// Wires all modules together: from the configuration to a server that is ready to listen.
import type { FastifyBaseLogger } from 'fastify'
import { Registry } from 'prom-client'
import packageJson from '../package.json' with { type: 'json' }
import { linkPath } from './auth/link-token.ts'
import type { PasswordCost } from './auth/passwords.ts'
import type { SecretKeySources } from './auth/secret-keys.ts'
import { createChangeLog } from './changes/change-log.ts'
import { announceChanges, refreshRules } from './composition/access-rules.ts'
import { createAccountServices } from './composition/accounts/accounts.ts'
import { leadBackgroundWork } from './composition/background-work.ts'
import { type Base, openBase } from './composition/base.ts'
import { createConfiguredChat } from './composition/chat.ts'
import { routeDependencies } from './composition/http/routes/routes.ts'
import { createConfiguredStack } from './composition/http/stack.ts'
import { createConfiguredCatalog } from './composition/models.ts'
import { createObservers } from './composition/observers/observers.ts'
import { addRunGauges } from './composition/observers/run-metrics.ts'
import { databaseSettings } from './composition/settings.ts'
import { openBlobs } from './composition/storage/blobs.ts'
import { createFileModule } from './composition/storage/files.ts'
import { createTransfers } from './composition/storage/transfers.ts'
import { createConfiguredWorkspace } from './composition/storage/workspace.ts'
import { prepareCommandNetwork } from './composition/tools/command-network.ts'
import { createToolModule } from './composition/tools/tools.ts'
import type { Config } from './config/schema.ts'
import type { App } from './http/app.ts'
import { refuseWritesOnFullDisk } from './http/full-disk.ts'
import { newId } from './lib/ids.ts'
import { createRedactor, type Redactor, redactedLog, secretsIn } from './lib/redact.ts'
import { createModelProbe } from './llm/probe/probe.ts'
import { claimStore, type StoreOwner } from './owner/owner.ts'
import { registerRoutes } from './routes/index.ts'
import { createRunRecords } from './runs/inspection/run-records.ts'
import { createSearchIndexer } from './search/indexer.ts'
import { createMarkdownRenderer } from './sharing/markdown.ts'
import type { CommandNetwork } from './tools/builtin/programs/exec.ts'

const { version } = packageJson

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

/** Options of the server. Absent fields have the defaults of a production server. */
export interface ServerOptions {
  config: Config
  log: FastifyBaseLogger
  /** The redactor that `log` already uses. Default: a new one, through which `log` is filtered. */
  redactor?: Redactor
  /** Folder of the built page. */
  webRoot: string
  /** The operator's keys for stored secrets. Default: those in the data folder. */
  secretKeys?: SecretKeySources
  /** The cost of hashing a password. Default: the recommended cost against guessing. */
  passwordCost?: PasswordCost
  /** Whether only requests that delete something may write. Default: never. */
  isDiskFull?(): boolean
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

type AssembleOptions = ServerOptions & { redactor: Redactor; commandNetwork: CommandNetwork }

/** Builds everything from the store upwards: the base, the modules, HTTP; then starts the background work. */
async function assemble(options: AssembleOptions, owner: StoreOwner): Promise<Server> {
  const { config, log, redactor, secretKeys = {} } = options
  const base = await openBase({ config, log, redactor, secretKeys }, owner)
  const modules = await createModules(base, options)
  const app = await createRoutedApp(base, modules, options)
  const work = await startWork(base, modules)
  const { accounts, chat } = modules
  return {
    app,
    config,
    toolsReady: work.toolsReady,
    setupPath:
      config.auth_mode === 'multi' && !(await accounts.accounts.exist())
        ? linkPath(accounts.setup.token)
        : null,
    async drain(graceMs) {
      const drained = base.instance.drain(chat.runs, graceMs)
      app.server.closeIdleConnections()
      await drained
    },
    async close() {
      await work.stop()
      await app.close()
      await closeModules(modules)
      await base.instance.leave()
      await base.database.close()
      await owner.release()
    },
  }
}

type Modules = Awaited<ReturnType<typeof createModules>>

/** Creates the modules, each with its dependencies among the earlier ones. */
async function createModules(
  base: Base,
  { passwordCost, commandNetwork }: Pick<AssembleOptions, 'passwordCost' | 'commandNetwork'>,
) {
  const { config, database, store, access, instance, claims, log } = base
  const { shareEndings } = instance
  const accounts = createAccountServices({
    ...base,
    write: database.write,
    passwordCost,
    shareEndings,
  })
  const catalog = createConfiguredCatalog({ ...base, models: store.models })
  const blobs = await openBlobs(config, claims)
  const workspace = await createConfiguredWorkspace(config, store, access, instance, log)
  const fileModule = createFileModule({ ...base, blobs, workspace })
  const { files } = fileModule
  const unconfirmed = config.auth_mode === 'multi' ? accounts.emailLinks.unconfirmed : undefined
  const tools = createToolModule({ ...base, workspace, commandNetwork, files, unconfirmed })
  const changes = instance.shareChanges(createChangeLog())
  const metrics = new Registry()
  const observers = await createObservers(metrics, { ...base, instance: instance.id, version })
  const records = createRunRecords({
    ...base,
    repository: store.runRecords,
    keepDays: config.inspector_days,
    instance: instance.id,
  })
  const parts = { catalog, changes, files, observers, records, tools, workspace }
  const chat = createConfiguredChat(base, parts)
  addRunGauges(metrics, chat.runs, instance)
  return {
    ...fileModule,
    accounts,
    blobs,
    catalog,
    changes,
    chat,
    markdown: createMarkdownRenderer(),
    metrics,
    observers,
    records,
    probe: createModelProbe(),
    searchIndexer: createSearchIndexer(store, database, log),
    tools,
    transfers: createTransfers({ ...base, catalog, files, blobs, workspace, tools, changes }),
    workspace,
  }
}

/** The app with its routes and the page. */
async function createRoutedApp(
  base: Base,
  modules: Modules,
  { webRoot, isDiskFull = () => false }: Pick<ServerOptions, 'webRoot' | 'isDiskFull'>,
): Promise<App> {
  const stack = { ...base, ...modules, instance: base.instance.id, webRoot, version }
  const { app, issueToken, finish } = await createConfiguredStack(stack)
  // Their clients come back through another connection, behind which another instance may be.
  app.addHook('onRequest', async (_request, reply) => {
    if (modules.chat.runs.isDraining) void reply.header('connection', 'close')
  })
  refuseWritesOnFullDisk(app, isDiskFull)
  announceChanges(app, base.instance)
  registerRoutes(
    app,
    routeDependencies({
      ...base,
      ...modules,
      ...modules.accounts,
      webRoot,
      issueToken,
      version,
    }),
  )
  await finish()
  await app.ready()
  return app
}

/** Continues unfinished runs and starts the background work; `stop` ends both. */
async function startWork(
  base: Base,
  modules: Modules,
): Promise<{ toolsReady: Promise<void>; stop(): Promise<void> }> {
  const { instance, claims, store } = base
  const { accounts, chat, tools, transfers } = modules
  accounts.oidc?.prepare()
  const toolsReady = tools.start()
  // An unfinished run may need any tool, so wait for them; without such runs there is nothing to wait for.
  if ((await store.runs.unfinished()).length > 0) await toolsReady
  await instance.start(chat)
  await transfers.start()
  const { webhooks, push } = tools
  const stopRefreshing = refreshRules({ ...base, webhooks, push, isShared: claims !== undefined })
  leadBackgroundWork({ ...base, ...modules })
  return {
    toolsReady,
    async stop() {
      stopRefreshing()
      accounts.oidc?.close()
      await accounts.emailLinks.settled()
      await transfers.stop()
      await instance.stopLeading()
      if (!chat.runs.isDraining) await instance.drain(chat.runs, 0)
    },
  }
}

async function closeModules(modules: Modules): Promise<void> {
  const { markdown, tools, catalog, probe, workspace, observers, records } = modules
  await Promise.all([markdown, tools, catalog, probe, workspace].map((module) => module.close()))
  await records.close()
  await observers.close()
}
