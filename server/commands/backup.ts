// `nanoclaw backup` and `nanoclaw restore`: the whole installation, as a folder with a manifest.

import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { inspectSecrets, RECOVER_KEY } from '../administration/sealed-secrets.ts'
import type { SecretKeySources } from '../auth/secret-keys.ts'
import type { Config } from '../config/schema.ts'
import { blobPlace, databaseSettings, installationSettings } from '../config/settings.ts'
import {
  backupDatabase,
  blobsOfDatabaseBackup,
  checkDatabaseBackup,
  prepareReplaced,
  restoreDatabase,
} from '../db/backup.ts'
import { connect } from '../db/connect.ts'
import type { DatabaseSettings } from '../db/database.ts'
import { inspectBlobs, inspectDatabase, inspectProjects } from '../db/inspect.ts'
import { createStore } from '../db/store.ts'
import { AppError, errorText } from '../errors.ts'
import { backupBlobs, blobsOfBackup, restoreBlobs } from '../files/backup.ts'
import {
  type BackupEntry,
  type CopiedTree,
  copyTree,
  entryOf,
  readManifest,
  restoreTree,
  verifyBackup,
  writeManifest,
} from '../files/backup-folder.ts'
import { blobPath, blobsIn } from '../files/disk-blobs.ts'
import { blobsForCommands } from '../files/open-blobs.ts'
import { BACKUP_SERIES } from '../files/scheduled-backups.ts'
import { newId } from '../lib/ids.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { isMissing, unlessMissing } from '../lib/system-faults.ts'
import { movesOfDatabase } from '../owner/last-folders.ts'
import { forgetMove } from '../owner/moved-away.ts'
import { claimStore } from '../owner/owner.ts'
import {
  elsewhere,
  holdPlaces,
  idOfDatabase,
  isIdName,
  othersPlace,
  settleRestored,
  UNFINISHED_RESTORE,
} from '../owner/places.ts'
import { type AuditDetails, COMMAND_LINE } from '../protocol/admin/audit.ts'
import { assertDatabaseExists, quiet } from './stopped-server.ts'

/** What a backup takes from `data_dir` besides database and attached files. */
const DATA_PARTS = ['secret.key', 'token-keys.json', 'jwt-secret', 'documents'] as const
/** Folders of a backup. */
const PART = { files: 'files', workspaces: 'workspaces', data: 'data' } as const
const NAMED = 3

/** What a backup contains, and what not. */
interface WrittenBackup {
  blobs: number
  /** Files and folders of projects, keys and documents. */
  entries: number
  bytes: number
  /** What could not be copied. */
  missing: string[]
  /** What is meant to be stored elsewhere. */
  elsewhere: string[]
}

/** The lines to print, and whether something is missing. */
export interface BackupResult {
  lines: string[]
  isComplete: boolean
}

const listed = (names: readonly string[]): string =>
  `${names.slice(0, NAMED).join(', ')}${names.length > NAMED ? ', …' : ''}`

const stampNow = (): string => new Date().toISOString().replaceAll(/[:.]/g, '-')

/**
 * Writes a new folder with everything, and an entry of the audit log.
 * @throws AppError with a text for the operator; the target then does not exist.
 */
export async function backUp(
  config: Config,
  target: string,
  keys: SecretKeySources,
): Promise<BackupResult> {
  const folder = resolve(target)
  const { blobs, entries, missing, elsewhere } = await writeBackup(config, folder, keys)
  const isComplete = missing.length === 0
  const unrecorded = await recordAct(config, 'backup_created', { folder, complete: isComplete })
  return {
    isComplete,
    lines: [
      `Wrote ${folder}: database, ${blobs} attached files, ${entries} files and folders of projects, keys and documents, with checksums.`,
      ...[...missing, ...elsewhere].map((line) => `Not in the backup: ${line}`),
      ...unrecorded,
    ],
  }
}

/**
 * Writes a new folder with everything, also while the server runs: attached files before and after the database, so that
 * none that it refers to is missing; then projects, each as it was at one moment.
 * @throws AppError with a text for the operator; the target then does not exist.
 */
export async function writeBackup(
  config: Config,
  folder: string,
  keys: SecretKeySources,
): Promise<WrittenBackup> {
  if (existsSync(folder))
    throw new AppError('conflict', `${folder} already exists. Choose a new name.`)
  await assertDatabaseExists(config)
  // It would be a backup of something else, or of nothing, and nobody would notice before it is needed.
  const fault = await elsewhere(installationSettings(config))
  if (fault !== null) throw new AppError('conflict', `${fault.detail}. ${fault.advice}`)
  const unfinished = `${folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  makeFolder(unfinished)
  try {
    const written = await fillBackup(config, unfinished, keys)
    await rename(unfinished, folder)
    return written
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

/**
 * Adds an entry to the audit log of the configured database. What was done stays done if this fails.
 * @returns a line for the operator if it failed.
 */
async function recordAct(
  config: Config,
  action: 'backup_created' | 'backup_restored',
  details: AuditDetails,
): Promise<string[]> {
  try {
    const database = await connect(databaseSettings(config), { log: quiet })
    try {
      const { audit, settings } = createStore(database)
      await database.write(async (tx) => {
        // What was restored may go on elsewhere, with the same target: its scheduled backups are not those of this one.
        if (action === 'backup_restored') await settings.set(tx, BACKUP_SERIES, newId())
        await audit.record(tx, COMMAND_LINE, { action, at: new Date(), details })
      })
    } finally {
      await database.close()
    }
    return []
  } catch (error) {
    return [`The audit log has no entry of this: ${errorText(error)}`]
  }
}

async function fillBackup(
  config: Config,
  base: string,
  keys: SecretKeySources,
): Promise<WrittenBackup> {
  const settings = databaseSettings(config)
  const files = join(base, PART.files)
  const copyBlobs = async () => backupBlobs(await blobsForCommands(blobPlace(config)), files)
  await copyBlobs()
  const database = settings.dialect === 'sqlite' ? 'database.db' : 'database.jsonl'
  await backupDatabase(settings, join(base, database))
  await copyBlobs()

  const missing: string[] = []
  const separate: string[] = []
  const entries: BackupEntry[] = [await entryOf(base, join(base, database))]
  let blobs = 0
  for await (const sha256 of blobsIn(files)) {
    blobs += 1
    entries.push(await entryOf(base, blobPath(files, sha256)))
  }
  const copied = await copyProjects(config, base)
  entries.push(...copied.entries)
  const unreadable = [...copied.unreadable]
  if (copied.mixed.length > 0)
    missing.push(
      `one moment of ${copied.mixed.length} projects that changed all the time (${listed(copied.mixed)}): their files are of different moments`,
    )
  for (const name of DATA_PARTS) {
    const part = await copyPart(join(config.data_dir, name), join(base, PART.data, name), base)
    entries.push(...part.entries)
    unreadable.push(...part.unreadable)
    const isFromEnvironment = keys.configured !== undefined && keys.configured !== ''
    if (name === 'secret.key' && isFromEnvironment)
      separate.push('the key of stored secrets: it is in NANOCLAW_SECRET_KEY; store it separately')
  }
  if (unreadable.length > 0)
    missing.push(
      `${unreadable.length} files or folders that could not be read (${listed(unreadable)})`,
    )
  const lost = (await inspectBlobs(settings)).filter(
    (sha256) => !existsSync(blobPath(files, sha256)),
  )
  if (lost.length > 0)
    missing.push(`${lost.length} attached files that were not there (${listed(lost)})`)
  const projects = await inspectProjects(settings)
  const without = projects.filter(
    ({ id, user }) => !existsSync(join(base, PART.workspaces, user, id)),
  )
  if (without.length > 0)
    missing.push(
      `the folders of ${without.length} projects that were not there (${listed(without.map(({ id }) => id))})`,
    )
  await writeManifest(
    base,
    {
      nanoclaw: 'backup',
      format: 2,
      version: packageJson.version,
      createdAt: new Date().toISOString(),
      dialect: settings.dialect,
      database,
      missing: [...missing, ...separate],
      complete: missing.length === 0,
    },
    entries,
  )
  const bytes = entries.reduce((sum, entry) => sum + ('size' in entry ? entry.size : 0), 0)
  return { blobs, entries: entries.length - blobs - 1, bytes, missing, elsewhere: separate }
}

/** A file or folder of `data_dir`; no entries if it does not exist. */
async function copyPart(
  source: string,
  target: string,
  base: string,
): Promise<Pick<CopiedTree, 'entries' | 'unreadable'>> {
  const found = await unlessMissing(lstat(source))
  if (found === null) return { entries: [], unreadable: [] }
  if (found.isDirectory()) return await copyTree(source, target, { base })
  const skips = (path: string): boolean => path !== source
  return await copyTree(dirname(source), dirname(target), { base, skips })
}

/** Each project and each history by itself, so that one that changes does not hold up the others. */
async function copyProjects(
  config: Config,
  base: string,
): Promise<{ entries: BackupEntry[]; mixed: string[]; unreadable: string[] }> {
  const root = config.workspace_root
  const target = join(base, PART.workspaces)
  const unreadable: string[] = []
  const folders = async (parent: string): Promise<string[]> => {
    const found = await readdir(join(root, parent), { withFileTypes: true }).catch(
      (error: unknown) => {
        if (!isMissing(error)) unreadable.push(join(PART.workspaces, parent))
        return []
      },
    )
    return found
      .filter((entry) => entry.isDirectory() && isIdName(entry.name))
      .map(({ name }) => join(parent, name))
  }
  const all = await folders(join('.nanoclaw', 'projects'))
  for (const user of await folders('')) all.push(...(await folders(user)))
  const entries: BackupEntry[] = []
  const mixed: string[] = []
  for (const path of all) {
    const copied = await copyTree(join(root, path), join(target, path), { base })
    entries.push({ path: `${PART.workspaces}/${path}`, folder: true }, ...copied.entries)
    await mkdir(join(target, path), { recursive: true, mode: 0o700 })
    if (copied.isMixed) mixed.push(path)
    unreadable.push(...copied.unreadable)
  }
  return { entries, mixed, unreadable }
}

/**
 * Replaces the installation with a backup. Everything is verified before anything is changed; what is replaced stays beside
 * it under a name with `.before-restore`. Without `isPartial`, a backup that lacks something is refused.
 * @throws AppError with a text for the operator.
 */
export async function restore(
  config: Config,
  source: string,
  { keys, isPartial }: { keys: SecretKeySources; isPartial: boolean },
): Promise<BackupResult> {
  const backup = resolve(source)
  const found = await unlessMissing(lstat(backup))
  if (found === null) throw new AppError('not_found', `Backup ${backup} not found.`)
  const settings = databaseSettings(config)
  const owner = await claimStore(settings, { instance: 'restore', log: quiet, onTaken() {} })
  try {
    const hold = () => holdPlaces(installationSettings(config), owner, quiet)
    const lines = found.isDirectory()
      ? await restoreFolder(config, backup, { isPartial, hold })
      : await restoreEarlier(config, backup, { isPartial, hold })
    const { unreadable } = await inspectSecrets(installationSettings(config), keys)
    if (unreadable.length > 0)
      lines.push(`These stored secrets cannot be opened: ${unreadable.join(', ')}. ${RECOVER_KEY}`)
    // In the database that is now in use: the replaced one is set aside.
    lines.push(
      ...(await recordAct(config, 'backup_restored', {
        folder: backup,
        complete: lines.length === 0,
      })),
    )
    return { lines, isComplete: lines.length === 0 }
  } finally {
    await owner.release()
  }
}

const refusePartial = (missing: readonly string[]): never => {
  throw new AppError(
    'conflict',
    `The backup is not complete, and nothing was restored. It lacks ${missing.join('; ')}. To restore the rest nevertheless, add --partial.`,
  )
}

/** `hold` ensures that nobody else uses the places, before anything is changed. */
interface RestoreOptions {
  isPartial: boolean
  hold(): Promise<void>
}

/** Refuses to set the projects and keys of another installation aside. */
async function assertNotOthers(config: Config, database: string): Promise<void> {
  const fault = await othersPlace(installationSettings(config), database)
  if (fault !== null)
    throw new AppError('conflict', `Nothing was restored: ${fault.detail}. ${fault.advice}`)
}

async function restoreFolder(
  config: Config,
  backup: string,
  { isPartial, hold }: RestoreOptions,
): Promise<string[]> {
  const { header, entries } = await readManifest(backup)
  const settings = databaseSettings(config)
  const absent = await verifyBackup(backup, entries)
  if (absent.includes(header.database))
    throw new AppError('bad_request', `The backup lacks its database, ${header.database}.`)
  const missing = [...header.missing]
  if (absent.length > 0) {
    missing.push(`${absent.length} of its files (${listed(absent)})`)
    if (!isPartial) refusePartial([`${absent.length} of its files (${listed(absent)})`])
  }
  await checkDatabaseBackup(join(backup, header.database))
  await assertNotOthers(config, join(backup, header.database))
  await hold()
  await prepareReplaced(settings)
  const notes = missing.map((line) => `Missing in the backup: ${line}`)
  await withUnfinishedMark(config, backup, async (stamp) => {
    await restoreBlobs(join(backup, PART.files), await blobsForCommands(blobPlace(config)))
    await replaceProjects(config, { backup, entries, stamp })
    for (const name of DATA_PARTS) await replaceData(config, { backup, entries, stamp, name })
    notes.push(...(await replaceDatabase(config, join(backup, header.database), stamp)))
  })
  return notes
}

/** A backup of an earlier version: the database, and beside it the folder of its attached files. */
async function restoreEarlier(
  config: Config,
  backup: string,
  { isPartial, hold }: RestoreOptions,
): Promise<string[]> {
  const files = blobsOfBackup(backup)
  const settings = databaseSettings(config)
  await checkDatabaseBackup(backup)
  const lost = (await blobsOfDatabaseBackup(backup)).filter(
    (sha256) => !existsSync(blobPath(files, sha256)),
  )
  const missing =
    lost.length === 0
      ? []
      : existsSync(files)
        ? [`${lost.length} attached files (${listed(lost)})`]
        : [`the folder ${basename(files)} with the attached files`]
  if (missing.length > 0 && !isPartial) refusePartial(missing)
  await assertNotOthers(config, backup)
  await hold()
  await prepareReplaced(settings)
  // Blobs first, because blobs without rows do no harm.
  await restoreBlobs(files, await blobsForCommands(blobPlace(config)))
  const notes = missing.map((line) => `Missing in the backup: ${line}`)
  return [...notes, ...(await replaceDatabase(config, backup, stampNow()))]
}

async function withUnfinishedMark(
  config: Config,
  backup: string,
  work: (stamp: string) => Promise<void>,
): Promise<void> {
  const mark = join(config.data_dir, UNFINISHED_RESTORE)
  makeFolder(config.data_dir)
  await writeFile(mark, `${backup}\n`, { mode: 0o600, flush: true })
  await work(stampNow())
  await rm(mark)
}

/** What the database that is replaced leaves to the one of the backup. */
const replacedBy = async (settings: DatabaseSettings) => ({
  id: await idOfDatabase(settings),
  moves: await movesOfDatabase(settings),
})

/**
 * Replaced rows of PostgreSQL are written to a file first; a SQLite file is renamed.
 * @returns what prevents the next start.
 */
async function replaceDatabase(config: Config, source: string, stamp: string): Promise<string[]> {
  const settings = databaseSettings(config)
  // A damaged SQLite file has no id, and is a reason to restore.
  const replaced = await replacedBy(settings).catch((error: unknown) => {
    if (settings.dialect === 'sqlite') return { id: null, moves: 0 }
    throw error
  })
  if (settings.dialect === 'postgres') {
    const state = await inspectDatabase(settings)
    if (!state.isEmpty)
      await backupDatabase(
        settings,
        join(config.data_dir, `database.before-restore-${stamp}.jsonl`),
      )
  }
  await restoreDatabase(settings, source, config.data_dir)
  await forgetMove(config.data_dir, settings)
  const fault = await settleRestored(installationSettings(config), replaced)
  return fault === null ? [] : [`The next start is refused: ${fault.detail}. ${fault.advice}`]
}

interface Restoring {
  backup: string
  entries: readonly BackupEntry[]
  stamp: string
}

/** Within `workspace_root`, which may be the top of a volume: only folders of NanoClaw are moved, whatever else is there. */
async function replaceProjects(
  config: Config,
  { backup, entries, stamp }: Restoring,
): Promise<void> {
  const root = config.workspace_root
  const staged = join(root, `.restoring-${stamp}`)
  await restoreTree(backup, PART.workspaces, entries, staged)
  const aside = join(root, `.before-restore-${stamp}`)
  const isReplaced = (name: string) => name === '.nanoclaw' || isIdName(name)
  for (const name of (await readdir(root)).filter(isReplaced)) {
    await mkdir(aside, { recursive: true, mode: 0o700 })
    await rename(join(root, name), join(aside, name))
  }
  for (const name of (await readdir(staged)).filter(isReplaced))
    await rename(join(staged, name), join(root, name))
  await rm(staged, { recursive: true })
}

async function replaceData(
  config: Config,
  { backup, entries, stamp, name }: Restoring & { name: string },
): Promise<void> {
  const own = entries.filter(
    ({ path }) => path === `${PART.data}/${name}` || path.startsWith(`${PART.data}/${name}/`),
  )
  if (own.length === 0) return
  const target = join(config.data_dir, name)
  const found = await unlessMissing(lstat(target))
  if (found?.isFile()) {
    const [now, then] = await Promise.all([
      readFile(target),
      readFile(join(backup, PART.data, name)),
    ])
    if (now.equals(then)) return
  }
  if (found !== null) await rename(target, `${target}.before-restore-${stamp}`)
  await restoreTree(backup, PART.data, own, config.data_dir)
}
