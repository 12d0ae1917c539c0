// Backups that the server makes by itself: when one is due, whether it fits, which old ones go, and what is stored of the last.
import { createHash } from 'node:crypto'
import { open, readdir, rename, rm, statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import type { AuditRepository } from '../db/repositories/accounts/audit.ts'
import type { Store } from '../db/store.ts'
import { errorText } from '../errors.ts'
import type { ProcessClock } from '../lib/clocks.ts'
import { newId } from '../lib/ids.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { SCHEDULE } from '../protocol/admin/audit.ts'
import { MANIFEST_NAME, parseHeader } from './backup-folder.ts'
import type { S3Settings } from './s3-client.ts'

/** When backups are made, where, and how many stay. */
export interface BackupSchedule {
  everyMs: number
  /** The newest ones that stay. */
  keep: number
  /** Absolute. Where they are written. */
  folder: string
  /** Whether they stay in `folder`, and not only in the bucket. */
  staysInFolder: boolean
  /** The bucket that each backup is copied to; null for none. */
  bucket: Pick<S3Settings, 'bucket' | 'prefix'> | null
  /** Bytes that a backup leaves free on the disk of `folder`. */
  reserve: number
}

/** A bucket and the prefix in it, for people. */
export const bucketAddress = ({ bucket, prefix }: Pick<S3Settings, 'bucket' | 'prefix'>): string =>
  `s3://${bucket}/${prefix}`

/** Where backups are, for people. */
export const backupPlace = ({ folder, staysInFolder, bucket }: BackupSchedule): string =>
  [
    ...(staysInFolder || bucket === null ? [folder] : []),
    ...(bucket === null ? [] : [bucketAddress(bucket)]),
  ].join(' and ')

/**
 * Begins the names of the backups of this installation, which may share their folder with others: also with the one whose backup
 * was restored here, which has the same id and goes on.
 */
export const backupPrefix = (installationId: string, series: string): string =>
  `nanoclaw-${createHash('sha256')
    .update(installationId + series)
    .digest('hex')
    .slice(0, 8)}-`

/** A backup as it was made. */
export interface MadeBackup {
  bytes: number
  /** What could not be copied, for the operator. */
  missing: readonly string[]
}

/** The key of the record among the server's settings. */
export const BACKUPS_KEY = 'scheduled_backups'
/** The setting that tells backups of a restored installation from those of the original. */
export const BACKUP_SERIES = 'backup_series'
/** What the store knows of the newest attempt and of the newest backup. */
export const BackupRecord = z.object({
  /** Of the newest attempt, so that one that was taken for dead cannot write over a later one. */
  attempt: z.string(),
  startedAt: z.iso.datetime(),
  /** Null while it is made, and if the process ended meanwhile. */
  endedAt: z.iso.datetime().nullable(),
  /** Why the newest attempt made none; null if it made one. */
  failure: z.string().nullable(),
  /** Attempts in a row that made none. */
  failures: z.int(),
  /** A backup in `folder` whose copy to the bucket failed: the next attempt copies it, if it is not too old. */
  uncopied: z
    .object({
      folder: z.string(),
      at: z.iso.datetime(),
      bytes: z.number(),
      missing: z.array(z.string()),
    })
    .nullable()
    .default(null),
  /** Null before the first. */
  last: z
    .object({
      folder: z.string(),
      at: z.iso.datetime(),
      bytes: z.number(),
      seconds: z.number(),
      missing: z.array(z.string()),
    })
    .nullable(),
})
export type BackupRecord = z.infer<typeof BackupRecord>

/** How many attempts have failed since the last backup. */
export const failedBackups = async (settings: Pick<Store['settings'], 'get'>): Promise<number> =>
  (await settings.get(BACKUPS_KEY, BackupRecord))?.failures ?? 0

/** How often it is checked whether a backup is due. The first check is that long after the start, which it does not slow down. */
const LOOK_MS = 30_000
/** How soon an attempt is repeated that made no backup, unless backups are more frequent. */
const RETRY_MS = 3_600_000
/** How often the free space is checked while a backup is written. */
const WATCH_MS = 250
/** Lines of a record about what is missing. */
const MISSING_KEPT = 10
const MB = 1024 ** 2

/** When the next backup is due. */
export function nextBackup(record: BackupRecord | undefined, everyMs: number, now: Date): Date {
  if (record === undefined) return now
  const started = Date.parse(record.startedAt)
  const isMade = record.endedAt !== null && record.failure === null
  const due = started + (isMade ? everyMs : Math.min(everyMs, RETRY_MS))
  // The clock was set back: waiting for the stored time could take years.
  return started > now.getTime() + everyMs ? now : new Date(due)
}

/** What scheduled backups need. */
export interface BackupDependencies {
  schedule: BackupSchedule
  /** Begins the names of the backups of this installation: several installations may share a folder. */
  prefix: string
  store: {
    settings: Pick<Store['settings'], 'get' | 'update'>
    audit: Pick<AuditRepository, 'record'>
  }
  /** Writes a backup to a new folder. Aborted, it stops writing; what it wrote need not be removed. */
  makeBackup(folder: string, signal: AbortSignal): Promise<MadeBackup>
  /**
   * Copies a backup to the bucket, under the name of its folder, and removes there all but the newest `keep` whose names begin with
   * `prefix`. What an interrupted call has copied is not copied again.
   */
  copyToBucket(folder: string, signal: AbortSignal): Promise<void>
  /** The least that a backup needs: the database cannot be stopped while it is copied. */
  databaseBytes(): Promise<number>
  /** The free space on the disk of a folder. Default: what the system says. */
  freeBytes?(folder: string): Promise<number>
  /** Tells the administrators that backups have begun to fail. Never fails. */
  tellFailure(reason: string): Promise<void>
  clock: ProcessClock
  log: Record<'info' | 'warn' | 'error', (details: object, message: string) => void>
}

/**
 * Makes backups while this instance leads. Another one that believes the same makes none at the same time: an attempt begins by
 * changing the record that both have read.
 * @returns a function that ends it; a backup in progress is given up and made again after the next start.
 */
export function scheduleBackups(dependencies: BackupDependencies): () => Promise<void> {
  const { schedule, store, clock, log } = dependencies
  const ending = new AbortController()
  const look = async (): Promise<void> => {
    try {
      const record = await store.settings.get(BACKUPS_KEY, BackupRecord)
      if (clock.now() < nextBackup(record, schedule.everyMs, clock.now())) return
      await attemptBackup(dependencies, record, ending.signal)
    } catch (error) {
      // The database does not answer: the next look tries again.
      if (!ending.signal.aborted) log.warn({ err: error }, 'no backup was made: the store failed')
    }
  }
  let current: Promise<void> | null = null
  const stopLooking = clock.every(LOOK_MS, async () => {
    // One at a time, however long it takes.
    if (current !== null) return
    current = look().finally(() => {
      current = null
    })
    await current
  })
  return async () => {
    stopLooking()
    ending.abort()
    await current
  }
}

/** Makes one backup unless another instance has begun it, and stores what came of it. @throws the store's error. */
async function attemptBackup(
  dependencies: BackupDependencies,
  seen: BackupRecord | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { schedule, store, clock, log, prefix } = dependencies
  const attempt = newId<string>()
  const startedAt = clock.now().toISOString()
  const begun = await store.settings.update(BACKUPS_KEY, BackupRecord, (record) =>
    record !== undefined && record.attempt !== seen?.attempt
      ? record
      : {
          attempt,
          startedAt,
          endedAt: null,
          failure: null,
          failures: record?.failures ?? 0,
          uncopied: record?.uncopied ?? null,
          last: record?.last ?? null,
        },
  )
  if (begun.attempt !== attempt) return
  const begin = performance.now()
  const waiting = await uncopiedOf(seen, schedule, clock.now())
  const folder =
    waiting?.folder ??
    join(schedule.folder, `${prefix}${startedAt.slice(0, 19).replaceAll(':', '-')}Z`)
  const place =
    schedule.bucket === null || schedule.staysInFolder
      ? folder
      : `${bucketAddress(schedule.bucket)}${basename(folder)}`
  let failure: string | null = null
  let made: MadeBackup | null = waiting
  let isCopied = schedule.bucket === null
  try {
    made ??= await makeThatFits(dependencies, { folder, last: seen?.last ?? null }, signal)
    if (schedule.bucket !== null) {
      await dependencies.copyToBucket(folder, signal)
      isCopied = true
    }
    if (schedule.staysInFolder) await removeOld(dependencies, schedule.keep)
    else await rm(folder, { recursive: true, force: true })
  } catch (error) {
    // The server ends: the attempt stays without an end, and is repeated.
    if (signal.aborted) return
    failure = errorText(error)
    log.error({ err: error, folder: schedule.folder }, `the scheduled backup failed: ${failure}`)
  }
  const seconds = Math.round((performance.now() - begin) / 100) / 10
  const at = clock.now()
  const madeAt = waiting?.at ?? at.toISOString()
  const missing = made?.missing.slice(0, MISSING_KEPT) ?? []
  const isThere = made !== null && (isCopied || schedule.staysInFolder)
  const ended: BackupRecord = {
    ...begun,
    endedAt: at.toISOString(),
    failure,
    failures: failure === null ? 0 : begun.failures + 1,
    uncopied: made === null || isCopied ? null : { folder, at: madeAt, bytes: made.bytes, missing },
    last:
      made !== null && isThere
        ? { folder: place, at: madeAt, bytes: made.bytes, seconds, missing }
        : begun.last,
  }
  const complete = made?.missing.length === 0
  await store.settings.update(
    BACKUPS_KEY,
    BackupRecord,
    (record) => (record !== undefined && record.attempt !== attempt ? record : ended),
    async (tx) => {
      // One that was only copied was recorded when it was made.
      if (!isThere || (waiting !== null && schedule.staysInFolder)) return
      const details = { folder: place, complete }
      await store.audit.record(tx, SCHEDULE, { action: 'backup_created', at, details })
    },
  )
  if (failure === null) log.info({ folder: place, ...made, seconds }, 'made a scheduled backup')
  else if (begun.failures === 0) await dependencies.tellFailure(failure)
}

/** The backup that only has to be copied; null if a new one is due. */
async function uncopiedOf(
  record: BackupRecord | undefined,
  { bucket, everyMs }: BackupSchedule,
  now: Date,
): Promise<BackupRecord['uncopied']> {
  const uncopied = record?.uncopied ?? null
  if (uncopied === null || bucket === null) return null
  if (Date.parse(uncopied.at) + everyMs <= now.getTime()) return null
  return (await headerOf(uncopied.folder)) === null ? null : uncopied
}

/** @throws Error with a text for the operator; nothing of the backup is there then. */
async function makeThatFits(
  dependencies: BackupDependencies,
  { folder, last }: { folder: string; last: BackupRecord['last'] },
  signal: AbortSignal,
): Promise<MadeBackup> {
  const { schedule, freeBytes = freeBytesOf } = dependencies
  makeFolder(schedule.folder)
  await removeUnfinished(dependencies)
  const needed = Math.max(last?.bytes ?? 0, await dependencies.databaseBytes())
  const isAmple = async () => (await freeBytes(schedule.folder)) >= needed + schedule.reserve
  // What this backup replaces goes first if it does not fit beside it, but never the only one.
  if (!(await isAmple()) && schedule.keep > 1) await removeOld(dependencies, schedule.keep - 1)
  if (!(await isAmple()))
    throw new Error(
      `${schedule.folder} has ${inMb(await freeBytes(schedule.folder))} of free space. A backup needs about ${inMb(needed)}, and ${inMb(schedule.reserve)} stay free (backup.reserve)`,
    )
  const full = new AbortController()
  let isWatching = false
  const watch = setInterval(() => {
    if (isWatching) return
    isWatching = true
    freeBytes(schedule.folder)
      .then((free) => {
        if (free < schedule.reserve) full.abort()
      })
      // The folder is gone: writing to it fails, which says why.
      .catch(() => undefined)
      .finally(() => {
        isWatching = false
      })
  }, WATCH_MS)
  try {
    return await dependencies.makeBackup(folder, AbortSignal.any([signal, full.signal]))
  } catch (error) {
    await removeUnfinished(dependencies)
    if (!full.signal.aborted) throw error
    throw new Error(
      `${schedule.folder} had less than ${inMb(schedule.reserve)} of free space while the backup was written, which stay free (backup.reserve)`,
      { cause: error },
    )
  } finally {
    clearInterval(watch)
  }
}

const inMb = (bytes: number): string => `${Math.ceil(bytes / MB).toLocaleString('en')} MB`

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Ends the name of a backup that is being removed: half of one must not look like one. */
const REMOVING = '.removing'

/** What an interrupted backup, or an interrupted removal, left; also whole ones that were to be copied, and are too old now. */
async function removeUnfinished({ schedule, prefix }: BackupDependencies): Promise<void> {
  const isLeft = (name: string) =>
    !schedule.staysInFolder || name.endsWith('.unfinished') || name.endsWith(REMOVING)
  for (const name of await readdir(schedule.folder))
    if (name.startsWith(prefix) && isLeft(name))
      await rm(join(schedule.folder, name), { recursive: true, force: true })
}

/** Removes all but the newest ones; the newest complete one stays, however many incomplete ones follow it. */
async function removeOld(
  { schedule, prefix, log }: BackupDependencies,
  keep: number,
): Promise<void> {
  const backups = await scheduledBackups(schedule.folder, prefix)
  const complete = backups.findIndex(({ isComplete }) => isComplete)
  for (const [position, { path }] of backups.entries()) {
    if (position < keep || position === complete) continue
    await rename(path, `${path}${REMOVING}`)
    await rm(`${path}${REMOVING}`, { recursive: true, force: true })
    log.info({ backup: path }, `removed a scheduled backup: the newest ${keep} stay`)
  }
}

/** The backups of an installation in a folder, newest first. Folders without a manifest are none. */
export async function scheduledBackups(
  folder: string,
  prefix: string,
): Promise<{ path: string; isComplete: boolean }[]> {
  const names = (await readdir(folder)).filter(
    (name) => name.startsWith(prefix) && STAMP.test(name.slice(prefix.length)),
  )
  const found: { path: string; isComplete: boolean }[] = []
  for (const name of names.sort().reverse()) {
    const path = join(folder, name)
    const header = await headerOf(path)
    if (header !== null)
      found.push({ path, isComplete: header.complete ?? header.missing.length === 0 })
  }
  return found
}

const STAMP = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/
/** Longer than the first line of any manifest: what is missing is named briefly. */
const HEADER_BYTES = 64 * 1024

/** What the manifest of a backup begins with; null if there is none. */
async function headerOf(backup: string): Promise<ReturnType<typeof parseHeader>> {
  try {
    const handle = await open(join(backup, MANIFEST_NAME))
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0)
      return parseHeader(buffer.toString('utf8', 0, bytesRead))
    } finally {
      await handle.close()
    }
  } catch {
    return null
  }
}
