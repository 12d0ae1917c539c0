// Wires all modules together: from the configuration to a server that is ready to listen.
import type { FastifyBaseLogger } from 'fastify'
import { refreshRules } from './access/refresh.ts'
import { purgeDeleted } from './administration/retention.ts'
import { linkPath } from './auth/link-token.ts'
import type { PasswordCost } from './auth/passwords.ts'
import type { SecretKeySources } from './auth/secret-keys.ts'
import { type Base, openBase } from './composition/base.ts'
import { prepareCommandNetwork } from './composition/programs.ts'
import { createServices, type ServerServices } from './composition/services.ts'
import { createConfiguredStack } from './composition/stack.ts'
import type { Config } from './config/schema.ts'
import { copyPlaces, databaseSettings, trustedProxies } from './config/settings.ts'
import { startCollecting } from './files/collect.ts'
import { removeOldCopies } from './files/replaced-copies.ts'
import type { App } from './http/app.ts'
import type { FullDisk } from './http/stack.ts'
import { machineClock, type ProcessClock } from './lib/clocks.ts'
import { newId } from './lib/ids.ts'
import { createRedactor, type Redactor, redactedLog, secretsIn } from './lib/redact.ts'
import type { EnvironmentKeys } from './llm/environment-keys.ts'
import { claimStore, type StoreOwner } from './owner/owner.ts'
import { type AppsServer, createAppsServer } from './routes/apps/apps-server.ts'
import { registerRoutes } from './routes/index.ts'
import { createSearchIndexer } from './search/indexer.ts'
import type { CommandNetwork } from './tools/builtin/programs/exec.ts'
import { endLostAccess } from './workspace/change-members.ts'

/** A server that is fully wired but does not listen yet. */
export interface Server {
  app: App
  /** Serves the files of apps on a port of its own; null if they have none. */
  appsServer: AppsServer | null
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
  /** The providers' own keys, such as OPENAI_API_KEY. Default: none. */
  environmentKeys?: EnvironmentKeys
  /** The cost of hashing a password. Default: the recommended cost against guessing. */
  passwordCost?: PasswordCost
  /** Of the data folder. Without it, nothing is refused. */
  disk?: FullDisk
  /** What time it is, and when to look at the schedules. Default: the clock of this machine. */
  clock?: ProcessClock
  /** Called when another process has taken over the store: this one must exit at once, without writing anything. */
  onStoreTaken?(): void
}

/** Opens the store and wires all modules. @throws AppError with a message for the operator. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { config } = options
  const redactor = options.redactor ?? createRedactor()
  redactor.add(secretsIn(config))
  redactor.add([...(options.environmentKeys?.values() ?? [])].map(({ key }) => key))
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

/** Builds everything from the store upwards: the base, the services, HTTP; then starts the background work. */
async function assemble(
  {
    config,
    log,
    redactor,
    secretKeys = {},
    environmentKeys = new Map(),
    webRoot,
    disk,
    passwordCost,
    commandNetwork,
    clock = machineClock,
  }: ServerOptions & {
    redactor: Redactor
    commandNetwork: CommandNetwork
  },
  owner: StoreOwner,
): Promise<Server> {
  const base = await openBase({ config, log, redactor, secretKeys, environmentKeys, clock }, owner)
  const { database, instance } = base
  const parts = await createServices(base, { passwordCost, commandNetwork, webRoot })
  const { services, tokenKeys, metrics } = parts
  const { accounts, chat, setup } = services
  const { app, finish } = await createConfiguredStack(base, services, {
    tokenKeys,
    metrics,
    webRoot,
    disk,
  })
  registerRoutes(app, services)
  await finish()
  await app.ready()
  const appsServer =
    config.apps.enabled && config.apps.port !== 0
      ? createAppsServer(
          {
            logger: log,
            connectionsPerAddress: config.limits.connections_per_address,
            trustedProxies: trustedProxies(config),
          },
          services,
        )
      : null
  const work = await startWork(base, parts)
  return {
    app,
    appsServer,
    config,
    toolsReady: work.toolsReady,
    setupPath:
      config.auth_mode === 'multi' && !(await accounts.exist()) ? linkPath(setup.token) : null,
    async drain(graceMs) {
      const drained = instance.drain(chat.runs, graceMs)
      app.server.closeIdleConnections()
      await drained
      await chat.appCalls.close()
    },
    async close() {
      await work.stop()
      await appsServer?.close()
      await app.close()
      await parts.close()
      await instance.leave()
      await database.close()
      await owner.release()
    },
  }
}

/** Continues unfinished runs and starts the background work; `stop` ends both. */
async function startWork(
  base: Base,
  parts: ServerServices,
): Promise<{ toolsReady: Promise<void>; stop(): Promise<void> }> {
  const { instance, claims, store, access, settings, mcpServers, loweredRisks, log } = base
  const { oidc, emailLinks, chat, transfers, webhooks, push, scheduleClock, receiving } =
    parts.services
  oidc?.prepare()
  const toolsReady = parts.startTools()
  // An unfinished run may need any tool, so wait for them; without such runs there is nothing to wait for.
  if ((await store.runs.unfinished()).length > 0) await toolsReady
  await instance.start(chat)
  await transfers.start()
  const stopRefreshing = refreshRules({
    instance,
    remembered: [access, settings, mcpServers, loweredRisks, webhooks, push],
    isShared: claims !== undefined,
    log,
  })
  receiving.start()
  leadBackgroundWork(base, parts)
  return {
    toolsReady,
    async stop() {
      stopRefreshing()
      oidc?.close()
      await emailLinks.settled()
      await transfers.stop()
      await scheduleClock.stop()
      await receiving.stop()
      await instance.stopLeading()
      if (!chat.runs.isDraining) await instance.drain(chat.runs, 0)
      await chat.appCalls.close()
    },
  }
}

/** Indexes, moves attachments to files, backs up, and removes expired data for as long as this instance leads. */
function leadBackgroundWork(
  { config, database, store, instance, log, now }: Base,
  {
    services: { chat, membership, workspace, scheduleClock, receiving },
    blobs,
    mover,
    backups,
  }: ServerServices,
): void {
  const searchIndexer = createSearchIndexer(store, database, log)
  const { files, unusedBlobs: unused, settings } = store
  instance.lead(() => {
    void searchIndexer.run()
    return () => searchIndexer.stop()
  })
  instance.lead(() => {
    void mover.run()
    return () => mover.stop()
  })
  instance.lead(() =>
    removeOldCopies({ places: copyPlaces(config), days: config.replaced_days, log, now }),
  )
  if (backups !== null) instance.lead(backups)
  instance.lead(() => scheduleClock.lead())
  instance.lead(() => receiving.lead())
  instance.lead(() => startCollecting({ files, unused, settings, blobs, log, now }))
  instance.lead(() =>
    purgeDeleted({
      store,
      workspaces: workspace.workspaces,
      chat,
      endLostAccess: async () => await endLostAccess(await store.members.sharedIds(), membership),
      isSole: instance.claims === undefined,
      auditDays: config.audit_days,
      inspectorDays: config.inspector_days,
      log,
      now,
    }),
  )
}
