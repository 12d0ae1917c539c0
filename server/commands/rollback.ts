// `nanoclaw rollback`: the copy of the database that an upgrade made before it changed the tables, with the files it refers to.
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { inspectSecrets } from '../administration/sealed-secrets.ts'
import type { SecretKeySources } from '../auth/secret-keys.ts'
import type { Config } from '../config/schema.ts'
import { blobPlace, databaseSettings, installationSettings } from '../config/settings.ts'
import {
  blobsOfDatabaseBackup,
  checkDatabaseBackup,
  returnToCopy,
  settingOfDatabaseBackup,
} from '../db/backup.ts'
import { inspectProjects } from '../db/inspect.ts'
import { AppError } from '../errors.ts'
import { openDiskBlobs } from '../files/disk-blobs.ts'
import { blobsForCommands } from '../files/open-blobs.ts'
import { newId } from '../lib/ids.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import { LAST_PROGRAM, LastProgram } from '../owner/last-program.ts'
import { claimStore } from '../owner/owner.ts'
import { holdPlaces } from '../owner/places.ts'
import { type AuditAction, COMMAND_LINE } from '../protocol/admin/audit.ts'
import { UNKNOWN_FILES } from './adopt.ts'
import { quiet } from './stopped-server.ts'

const NAMED = 3
const DAY_MS = 24 * 60 * 60 * 1000

/** Later, what was stored since an upgrade is more than what going back is worth, unless somebody says so. */
const RECENT_MS = 7 * DAY_MS

/** What a rollback is told. */
export interface RollbackOptions {
  /** A copy; by default the newest, if it is of the last days. */
  copy: string | undefined
  isPartial: boolean
  keys: SecretKeySources
}

/** The copies that upgrades made of a SQLite database, oldest first. Those of restores are something else. */
async function copiesOf(file: string): Promise<string[]> {
  const start = `${basename(file)}.before-`
  const names = (await unlessMissing(readdir(dirname(file)))) ?? []
  return names
    .filter((name) => name.startsWith(start) && /^\d{4}-[\dTZ-]+$/.test(name.slice(start.length)))
    .sort()
    .map((name) => join(dirname(file), name))
}

/**
 * Puts the copy back in place of the database, which is set aside. Attached files that only the copy refers to are taken out of
 * the trash. The program of the earlier version has to be started next: this one would change the tables again.
 * @returns the lines to print.
 * @throws AppError with a text for the operator; nothing is then changed.
 */
export async function rollBack(
  config: Config,
  { copy: given, isPartial, keys }: RollbackOptions,
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
    const made = madeAt(copy)
    const about = [
      ...(made === null ? [] : [`made at ${made.toISOString()}`]),
      ...(version === undefined ? [] : [`of version ${version.version}`]),
    ].join(', ')
    if (given === undefined && made !== null && made.getTime() < Date.now() - RECENT_MS)
      throw new AppError(
        'conflict',
        `Nothing was changed: the newest copy, ${about}, is not of an upgrade of the last ${RECENT_MS / DAY_MS} days, and everything stored since would be set aside. To go back to it nevertheless, name it: nanoclaw rollback ${copy}`,
      )
    const blobs = await blobsForCommands(blobPlace(config))
    const store = typeof blobs === 'string' ? await openDiskBlobs(blobs) : blobs
    const lacking = new Set(await blobsOfDatabaseBackup(copy))
    const discarded: string[] = []
    for await (const { sha256 } of store.list()) lacking.delete(sha256)
    for await (const { sha256 } of store.trash()) if (lacking.delete(sha256)) discarded.push(sha256)
    const missing = [
      ...named(lacking.size, 'attached files', [...lacking]),
      ...(await missingProjects(config, copy)),
      ...(await closedSecrets(config, copy, keys)),
    ]
    if (missing.length > 0 && !isPartial)
      throw new AppError(
        'conflict',
        `Nothing was changed: the copy ${copy} refers to what is no longer there or cannot be opened: ${missing.join('; ')}. To go back without it, add --partial.`,
      )
    for (const sha256 of discarded) await store.restore(sha256)
    const action: AuditAction = 'backup_restored'
    const aside = await returnToCopy(settings, copy, {
      id: newId<string>(),
      at: Date.now(),
      action,
      user_id: COMMAND_LINE.userId,
      username: COMMAND_LINE.username,
      address: COMMAND_LINE.address,
      details: JSON.stringify({
        folder: copy,
        complete: missing.length === 0,
        ...COMMAND_LINE.details,
      }),
    })
    return [
      `The database is again as in ${copy}${about === '' ? '' : ` (${about})`}.${aside === null ? '' : ` What it contained until now is in ${aside}.`}`,
      ...(discarded.length === 0
        ? []
        : [`${discarded.length} attached files were taken out of the trash.`]),
      ...missing.map((line) => `Missing: ${line}`),
      version === undefined
        ? 'Start the earlier version of NanoClaw now. This version would change the tables again.'
        : `Start version ${version.version} of NanoClaw now, which used this database last. This version (or a later one) would change the tables again.`,
      'Files of projects are as they are now; their checkpoints can bring earlier contents back.',
      UNKNOWN_FILES,
    ]
  } finally {
    await owner.release()
  }
}

/** When the copy was made, according to its name; null if an operator gave it another one. */
function madeAt(copy: string): Date | null {
  const [, day, hour, minute, second, part] =
    /\.before-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/.exec(copy) ?? []
  if (day === undefined) return null
  const made = new Date(`${day}T${hour}:${minute}:${second}.${part}Z`)
  return Number.isNaN(made.getTime()) ? null : made
}

/** Secrets of the copy whose keys were replaced since. */
async function closedSecrets(
  { data_dir: dataFolder }: Config,
  copy: string,
  keys: SecretKeySources,
): Promise<string[]> {
  const database = { dialect: 'sqlite' as const, file: copy }
  const { unreadable } = await inspectSecrets({ database, dataFolder }, keys)
  return unreadable.length === 0
    ? []
    : [
        `the key of stored secrets (${unreadable.join(', ')}); put the earlier key below the present one into secret.key in data_dir`,
      ]
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
