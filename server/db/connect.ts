// Connects to whichever database the configuration names.
import type { ConnectOptions, Database, DatabaseSettings } from './database.ts'

/**
 * Opens the database and brings its tables up to date; several instances may do so at once.
 * @throws AppError within ten seconds, with a text for the operator, where that is impossible.
 */
export async function connect(
  settings: DatabaseSettings,
  options: ConnectOptions,
): Promise<Database> {
  // Only the driver that is needed is loaded: the other one would cost every start its time and memory.
  if (settings.dialect === 'sqlite') {
    const { connectSqlite } = await import('./sqlite/connect.ts')
    return await connectSqlite(settings, options)
  }
  const { connectPostgres } = await import('./postgres/connect.ts')
  return await connectPostgres(settings, options)
}
