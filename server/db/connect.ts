// Connects to the database that the configuration names.
import type { ConnectOptions, Database, DatabaseSettings } from './database.ts'

/**
 * Opens the database and migrates it; several processes may do so at once.
 * @throws AppError within ten seconds, with a text for the operator, if this fails.
 */
export async function connect(
  settings: DatabaseSettings,
  options: ConnectOptions,
): Promise<Database> {
  // Only the driver in use is loaded, because the other one would cost every start time and memory.
  if (settings.dialect === 'sqlite') {
    const { connectSqlite } = await import('./sqlite/connect.ts')
    return await connectSqlite(settings, options)
  }
  const { connectPostgres } = await import('./postgres/connect.ts')
  return await connectPostgres(settings, options)
}
