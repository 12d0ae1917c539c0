// Opens the databases of a move; only the drivers in use are loaded.
import type { DatabaseSettings } from '../database.ts'
import type { MoveSource, MoveTarget } from './move-end.ts'

/** @throws AppError or the driver's error when the database cannot be reached. It must have all migrations. */
export async function openSource(settings: DatabaseSettings): Promise<MoveSource> {
  if (settings.dialect === 'sqlite')
    return (await import('./sqlite-end.ts')).openSqliteSource(settings)
  return await (await import('./postgres-end.ts')).openPostgresSource(settings)
}

/** @throws AppError or the driver's error when the database cannot be reached. It must have all migrations. */
export async function openTarget(settings: DatabaseSettings): Promise<MoveTarget> {
  if (settings.dialect === 'sqlite')
    return (await import('./sqlite-end.ts')).openSqliteTarget(settings)
  return await (await import('./postgres-end.ts')).openPostgresTarget(settings)
}
