// Connects to whichever database the configuration names.
import { connectPostgres } from './connect-postgres.ts'
import { connectSqlite } from './connect-sqlite.ts'
import type { ConnectOptions, Database, DatabaseSettings } from './database.ts'

/**
 * Opens the database and brings its tables up to date; several instances may do so at once.
 * @throws AppError within ten seconds, with a text for the operator, where that is impossible.
 */
export const connect = (settings: DatabaseSettings, options: ConnectOptions): Promise<Database> =>
  settings.dialect === 'sqlite'
    ? connectSqlite(settings, options)
    : connectPostgres(settings, options)
