// `nanoclaw rollback`: the copy of the database that an upgrade made before it changed the tables, with the files it refers to.
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { blobsForCommands } from '../composition/files.ts'
import { databaseSettings, installationSettings } from '../composition/settings.ts'
import type { Config } from '../config/schema.ts'
import {
  blobsOfDatabaseBackup,
  checkDatabaseBackup,
  restoreDatabase,
  settingOfDatabaseBackup,
} from '../db/backup.ts'
import { inspectProjects } from '../db/inspect.ts'
import { AppError } from '../errors.ts'
import { openDiskBlobs } from '../files/disk-blobs.ts'
import { LAST_PROGRAM, LastProgram } from '../owner/last-program.ts'
import { claimStore } from '../owner/owner.ts'
import { holdPlaces } from '../owner/places.ts'
import { quiet } from './stopped-server.ts'

const NAMED = 3

/** The copies that upgrades made of a SQLite database, oldest first. Those of restores are something else. */
async function copiesOf(file: string): Promise<string[]> {
  const start = `${basename(file)}.before-`
  const names = await readdir(dirname(file)).catch(() => [])
  return names
    .filter((name) => name.startsWith(start) && /^\d{4}-[\dTZ-]+$/.test(name.slice(start.length)))
    .sort()
    .map((name) => join(dirname(file), name))
}

/**
 * Puts the copy back in place of the database, which is set aside. Attached files that only the copy refers to are taken out of
 * the trash. The program of the earlier version has to be started next: this one would change the tables again.
 * @param given a copy; by default the newest.
 * @returns the lines to print.
 * @throws AppError with a text for the operator; nothing is then changed.
 */
export async function rollBack(
  config: Config,
  given: string | undefined,
  isPartial: boolean,
): Promise<string[]> {
  const settings = databaseSettings(config)
  if (settings.dialect === 'postgres')
    throw new AppError(
      'conflict',
      'Upgrades make no copy of a PostgreSQL database. Restore the one that you made before, with pg_restore, or `nanoclaw restore` of the version that made it; then start that version.',
    )
  const copy =
    given === undefined ? (await copiesOf(resolve(settings.file))).at(-1) : resolve(given)
  if (copy === undefined)
    throw new AppError(
      'not_found',
      `There is no copy beside ${settings.file} that an upgrade made before it changed the tables. They are removed after replaced_days (${config.replaced_days ?? 'never'}).`,
    )
  if (!existsSync(copy)) throw new AppError('not_found', `The copy ${copy} does not exist.`)
  const owner = await claimStore(settings, { instance: 'rollback', log: quiet, onTaken() {} })
  try {
    await holdPlaces(installationSettings(config), owner, quiet)
    await checkDatabaseBackup(copy)
    const version = LastProgram.safeParse(await settingOfDatabaseBackup(copy, LAST_PROGRAM)).data
    const blobs = await blobsForCommands(config)
    const store = typeof blobs === 'string' ? await openDiskBlobs(blobs) : blobs
    const lacking = new Set(await blobsOfDatabaseBackup(copy))
    const discarded: string[] = []
    for await (const { sha256 } of store.list()) lacking.delete(sha256)
    for await (const { sha256 } of store.trash()) if (lacking.delete(sha256)) discarded.push(sha256)
    const missing = [
      ...named(lacking.size, 'attached files', [...lacking]),
      ...(await missingProjects(config, copy)),
    ]
    if (missing.length > 0 && !isPartial)
      throw new AppError(
        'conflict',
        `Nothing was changed: the copy ${copy} refers to what is no longer there: ${missing.join('; ')}. To go back without it, add --partial.`,
      )
    for (const sha256 of discarded) await store.restore(sha256)
    const aside = await restoreDatabase(settings, copy)
    return [
      `The database is again as in ${copy}.${aside === null ? '' : ` What it contained until now is in ${aside}.`}`,
      ...(discarded.length === 0
        ? []
        : [`${discarded.length} attached files were taken out of the trash.`]),
      ...missing.map((line) => `Missing: ${line}`),
      version === undefined
        ? 'Start the earlier version of NanoClaw now. This version would change the tables again.'
        : `Start version ${version.version} of NanoClaw now, which used this database last. This version (or a later one) would change the tables again.`,
      'Files of projects are as they are now; their checkpoints can bring earlier contents back.',
    ]
  } finally {
    await owner.release()
  }
}

const named = (count: number, what: string, names: readonly string[]): string[] =>
  count === 0
    ? []
    : [`${count} ${what} (${names.slice(0, NAMED).join(', ')}${count > NAMED ? ', …' : ''})`]

/** Projects of the copy whose folders were removed since. */
async function missingProjects(config: Config, copy: string): Promise<string[]> {
  const found = await inspectProjects({ dialect: 'sqlite', file: copy })
  const lost = found.filter(({ id, user }) => !existsSync(join(config.workspace_root, user, id)))
  return named(
    lost.length,
    'folders of projects',
    lost.map(({ id }) => id),
  )
}
