// Finds the migrations that a database still needs; each driver applies them itself.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator'
import { AppError } from '../errors.ts'
import type { Dialect } from './database.ts'

/** Where applied migrations are recorded, in drizzle's own format. */
export const MIGRATIONS_TABLE = '__drizzle_migrations'

/** The migrations are at the root of the installation, next to the sources and the build. */
function migrationsFolder(dialect: Dialect): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const found = join(folder, 'migrations', dialect)
    if (existsSync(join(found, 'meta/_journal.json'))) return found
    if (folder === dirname(folder))
      throw new Error('The folder `migrations` is missing: install NanoClaw again.')
  }
}

/**
 * The migrations after the newest applied one, oldest first.
 * @param applied `created_at` of every applied migration.
 * @throws AppError when the database was written by a newer version.
 */
export function pendingMigrations(dialect: Dialect, applied: readonly number[]): MigrationMeta[] {
  const known = readMigrationFiles({ migrationsFolder: migrationsFolder(dialect) })
  const times = new Set(known.map(({ folderMillis }) => folderMillis))
  if (applied.some((time) => !times.has(time)))
    throw new AppError(
      'store_unavailable',
      'The database was created by a newer version of NanoClaw. Start that version, or restore a backup.',
    )
  const newest = Math.max(0, ...applied)
  return known.filter(({ folderMillis }) => folderMillis > newest)
}
