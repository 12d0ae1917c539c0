// The only file that knows every room: from the configuration to a server that is ready to listen.
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import packageJson from '../package.json' with { type: 'json' }
import type { Config } from './config/schema.ts'
import { connect } from './db/connect.ts'
import type { DatabaseSettings } from './db/database.ts'
import type { App } from './plugins/app.ts'
import { createHttpStack } from './plugins/http.ts'
import { registerHealthRoutes } from './routes/health.ts'

/** A server that is put together but does not listen yet. */
export interface Server {
  app: App
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
}

/** Opens the stores and wires every room. Throws `AppError` with a text for the operator when that is impossible. */
export async function createServer({ config, log, webRoot }: ServerOptions): Promise<Server> {
  const database = await connect(databaseSettings(config), { log })
  let draining = false
  const { app, finish } = await createHttpStack({
    bodyLimit: config.limits.json_body,
    logger: log,
    webRoot,
    version: packageJson.version,
    behindProxy: config.public_url !== undefined,
    origins: {
      mode: config.auth_mode,
      trustedHosts: config.trusted_hosts,
      listenHost: config.host,
      frontendPort: config.frontend_port,
      ...(config.public_url === undefined ? {} : { publicUrl: config.public_url }),
      ...(config.cors_origins === undefined ? {} : { corsOrigins: config.cors_origins }),
    },
    authentication: {
      mode: 'single',
      defaultUser: { id: '' as never, username: '', role: 'admin' },
    },
  })
  registerHealthRoutes(app, { isDraining: () => draining, pingStore: () => database.ping() })
  await finish()
  await app.ready()

  return {
    app,
    async drain() {
      draining = true
    },
    async close() {
      draining = true
      await app.close()
      await database.close()
    },
  }
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
