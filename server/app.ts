// The only file that knows every room: from the configuration to a server that is ready to listen.
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import packageJson from '../package.json' with { type: 'json' }
import { createTools } from './app-tools.ts'
import { type Accounts, createAccounts } from './auth/accounts.ts'
import { createApiKeys } from './auth/api-keys.ts'
import { createSecretBox, loadSecretKey, type SecretBox } from './auth/secret-box.ts'
import type { ChatSettings } from './chat/chat-dependencies.ts'
import { createChatService } from './chat/chat-service.ts'
import type { Config } from './config/schema.ts'
import { connect } from './db/connect.ts'
import type { DatabaseSettings } from './db/database.ts'
import type { ModelRepository } from './db/repositories/models.ts'
import { createStore } from './db/store.ts'
import { newId } from './lib/ids.ts'
import { createModelCatalog } from './llm/catalog.ts'
import type { App } from './plugins/app.ts'
import type { AuthenticationOptions } from './plugins/authentication.ts'
import { createHttpStack } from './plugins/http.ts'
import type { OriginRules } from './plugins/origin-guard.ts'
import type { ModelSettings } from './protocol/catalog.ts'
import { registerRoutes } from './routes/index.ts'
import { modelKeyPurpose } from './routes/models.ts'

/** A server that is put together but does not listen yet. */
export interface Server {
  app: App
  config: Config
  /** Takes no new work and gives what is running `graceMs` to come to an end. */
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

/** Opens the stores and wires every room. Throws `AppError` with a text for the operator when that is impossible. */
export async function createServer({
  config,
  log,
  webRoot,
  secretKey,
}: ServerOptions): Promise<Server> {
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

  const tools = createTools(config, store)
  const chat = createChatService({
    database,
    store,
    settings: chatSettings(config),
    catalog,
    registry: tools.registry,
    cache: tools.cache,
    results: tools.results,
    isToolAllowed: () => true,
    memory: async () => '',
    describeProject: async () => null,
    log,
    now: () => new Date(),
    instance: newId(),
  })

  const { app, issueToken, finish } = await createHttpStack({
    bodyLimit: config.limits.json_body,
    logger: log,
    webRoot,
    version: packageJson.version,
    behindProxy: config.public_url !== undefined,
    origins: originRules(config),
    authentication: await authentication(config, accounts),
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
      endRuns: (_user, conversationId) => chat.stopConversation(conversationId),
    },
    messages: { chat, store, database },
    runs: { chat, store },
    stats: { tokenUsage: store.tokenUsage, now: () => new Date() },
    models: {
      listModels: () => catalog.list(),
      configured: config.models,
      models: store.models,
      box,
    },
  })
  await finish()
  await app.ready()
  await chat.recover()

  return {
    app,
    config,
    drain: (graceMs) => chat.drain(graceMs),
    async close() {
      await chat.drain(0)
      await app.close()
      await tools.close()
      await catalog.close()
      await database.close()
    },
  }
}

const chatSettings = (config: Config): ChatSettings => ({
  maxIterations: config.max_iterations,
  toolMaxWorkers: config.tool_max_workers,
  approvalDefault: config.approval.default,
  titles: config.titles,
  disconnectGrace: config.stream.disconnect_grace,
  messageCharacters: config.limits.message,
  runsPerUser: config.limits.runs_per_user,
  runMinutes: config.limits.run_minutes,
  runTokens: config.limits.run_tokens,
  userTokensPerDay: config.limits.user_tokens_per_day,
  userCostPerMonth: config.limits.user_cost_per_month,
})

async function authentication(config: Config, accounts: Accounts): Promise<AuthenticationOptions> {
  if (config.auth_mode === 'single')
    return { mode: 'single', defaultUser: await accounts.defaultUser() }
  return { mode: 'multi', secret: config.jwt_secret ?? '', credentials: accounts }
}

const originRules = (config: Config): OriginRules => ({
  mode: config.auth_mode,
  trustedHosts: config.trusted_hosts,
  listenHost: config.host,
  frontendPort: config.frontend_port,
  ...(config.public_url === undefined ? {} : { publicUrl: config.public_url }),
  ...(config.cors_origins === undefined ? {} : { corsOrigins: config.cors_origins }),
})

/** The models of the store with their keys opened, for calling them only. */
async function storedModels(models: ModelRepository, box: SecretBox): Promise<ModelSettings[]> {
  return (await models.list()).map(({ settings, sealedApiKey }) => ({
    ...settings,
    ...(sealedApiKey === null
      ? {}
      : { api_key: box.open(sealedApiKey, modelKeyPurpose(settings.id)) }),
  }))
}

/** Where the configuration says that the database is. */
export function databaseSettings(config: Config): DatabaseSettings {
  if (config.db_type === 'sqlite')
    return {
      dialect: 'sqlite',
      file: config.db_sqlite_file ?? join(config.data_dir, 'nanoclaw.db'),
    }
  return {
    dialect: 'postgres',
    connection:
      config.database_url === undefined
        ? {
            host: config.db_host,
            port: config.db_port,
            user: config.db_user ?? 'postgres',
            password: config.db_password ?? '',
            database: config.db_name,
          }
        : { url: config.database_url },
  }
}
