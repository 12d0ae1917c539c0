// Exports and imports as background jobs: what each does, its files, clean-up, and recovery after a restart.
import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Writer } from '../db/database.ts'
import type { AuditRepository } from '../db/repositories/accounts/audit.ts'
import type { TransferRow } from '../db/repositories/conversations/transfers.ts'
import type { Store } from '../db/store.ts'
import { AppError, appError } from '../errors.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import { newId } from '../lib/ids.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import { SOLE_WORKER, type WorkClaims } from '../lib/work-claims.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { ImportFormat } from '../protocol/conversations/transfer.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import type { ConversationId, TransferId, UserId } from '../protocol/ids.ts'
import { type ImportDependencies, performImport } from './import.ts'
import { ImportFault } from './import-items.ts'
import { createReport } from './import-report.ts'
import { type BundleDependencies, writeBundle } from './write-bundle.ts'

// The queue of exports and imports: runs a few at once and stores the outcome of each.

const PROGRESS_EVERY_MS = 500
/** Maximum jobs of a kind at once, of all users. Exports do not wait for imports. */
const MAX_CONCURRENT = 2

/** The columns of a job that change as it proceeds. */
type JobChanges = Parameters<Store['transfers']['update']>[1]

/** An export or import in the queue. */
interface Job {
  /** Performs the job until the queue's `signal` aborts it. Resolves with the changes to store on completion. */
  work(): Promise<JobChanges>
  /** The failure to show to the user for an error that `work` threw. */
  failureOf(error: unknown): DescribedFailure
  /** Further changes to store for a job that failed. */
  changesOnFailure?(): JobChanges
}

/** Performs exports and imports in the background. */
interface JobQueue {
  /** Aborts when `stop` is called. */
  signal: AbortSignal
  /** Queues a job whose row is stored as queued. `end` is called when it has ended, whatever its outcome. */
  add(row: TransferRow, job: Job, end: () => Promise<void>): void
  /**
   * Returns a function that stores the progress of a job: a new total at once, everything else at most every half second.
   */
  progressOf(id: TransferId): (progress: { done: number; total?: number }) => void
  /**
   * Aborts the running jobs and resolves when they have ended. Their rows stay unchanged, so that the next start finds
   * them.
   */
  stop(): Promise<void>
}

/** Limits how many jobs run at once; `now` gives the times of their begin and end. */
export function createJobQueue({
  transfers,
  log,
  now,
}: {
  transfers: Pick<Store['transfers'], 'update'>
  log: { warn(details: object, message: string): void }
  now(): Date
}): JobQueue {
  const fair = () => createFairQueue({ size: MAX_CONCURRENT, perOwner: 1 })
  const queues = { export: fair(), import: fair() }
  const stopping = new AbortController()
  const tasks = new Set<Promise<void>>()

  async function run(
    { id }: TransferRow,
    { work, failureOf, changesOnFailure }: Job,
  ): Promise<void> {
    if (stopping.signal.aborted) return
    try {
      await transfers.update(id, { status: 'running' })
      const result = await work()
      await transfers.update(id, { ...result, status: 'completed', endedAt: now() })
    } catch (error) {
      // The next start reports that it was interrupted.
      if (stopping.signal.aborted) return
      const { message: _message, ...failure } = failureOf(error)
      await transfers.update(id, {
        ...changesOnFailure?.(),
        failure,
        status: 'failed',
        endedAt: now(),
      })
    }
  }

  return {
    signal: stopping.signal,

    add(row, job, end) {
      const task = queues[row.kind]
        .run(row.userId, () => run(row, job))
        .catch((error: unknown) =>
          log.warn({ err: error, id: row.id }, 'a transfer could not be stored'),
        )
        .finally(end)
        .finally(() => tasks.delete(task))
      tasks.add(task)
    },

    progressOf(id) {
      let last = 0
      return (progress) => {
        const time = performance.now()
        if (time - last < PROGRESS_EVERY_MS && progress.total === undefined) return
        last = time
        void transfers
          .update(id, progress)
          .catch((error: unknown) => log.warn({ err: error, id }, 'progress could not be stored'))
      }
    },

    async stop() {
      stopping.abort(new Error('The server is shutting down'))
      await Promise.all(tasks)
    },
  }
}

/** How long the file of an export can be downloaded, and how long the result of an import is shown. */
export const EXPORT_KEPT_MS = 24 * 60 * 60_000
const IMPORT_KEPT_MS = 7 * 24 * 60 * 60_000
const SWEEP_EVERY_MS = 60 * 60_000
/** Minimum time between updates of lists about imported conversations. */
const ANNOUNCE_EVERY_MS = 3_000
const LISTED = 10
/** Imports beyond the listed ones that a new one removes; usually there is one. */
const MAX_OLDER = 100
/** More than a user can have at once. */
const MAX_EXPORTS = 1_000

/** The dependencies of exports and imports. */
export interface TransferDependencies {
  transfers: Store['transfers']
  audit: Pick<AuditRepository, 'record'>
  bundle: BundleDependencies
  imports: ImportDependencies
  /** A folder for this process alone, or for the instances of this store. */
  folder: string
  /** Ensures that one instance performs a job. */
  claims?: WorkClaims | undefined
  /** Called when a conversation was imported, so that the user's tabs read their lists again. */
  announce(userId: UserId, id: ConversationId): void
  log: { warn(details: object, message: string): void }
  now(): Date
}

/** Exports and imports as background jobs. */
export interface TransferJobs {
  /** Removes an older export of the user, and adds the audit entry. @throws AppError `export_running`. */
  createExport(
    userId: UserId,
    conversationIds: readonly ConversationId[] | null,
    actor: Actor,
  ): Promise<TransferRow>
  /**
   * Receives the file of an import and queues it. The stream is read to its end.
   * @throws AppError `import_running`, `import_upload_too_large`.
   */
  createImport(
    userId: UserId,
    file: { name: string; content: Readable; isCut(): boolean },
    format: ImportFormat | null,
  ): Promise<TransferRow>
  find(userId: UserId, kind: TransferRow['kind'], id: TransferId): Promise<TransferRow | undefined>
  /** The newest ten, newest first. */
  list(userId: UserId, kind: TransferRow['kind']): Promise<TransferRow[]>
  /** The file of a completed export. @throws AppError `export_not_found`, `export_not_ready`. */
  openExport(userId: UserId, id: TransferId): Promise<{ row: TransferRow; content: Readable }>
  /** Removes the exports of a user with their files. */
  removeExports(userId: UserId): Promise<void>
  /** Marks jobs that an earlier process left unfinished as failed, and removes their files. */
  start(): Promise<void>
  /** Aborts the running jobs; the next start marks them as failed. */
  stop(): Promise<void>
}

/** Removes the exports of a user with their files, also while no server runs. @param folder the folder of all exports. */
export async function removeExports(
  transfers: Pick<Store['transfers'], 'list' | 'remove'>,
  folder: string,
  userId: UserId,
): Promise<void> {
  for (const { id } of await transfers.list(userId, 'export', MAX_EXPORTS)) {
    // The file first: without it, the row says that it is gone.
    for (const end of ['.zip', '.zip.part']) await rm(join(folder, `${id}${end}`), { force: true })
    await transfers.remove(id)
  }
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof AppError && error.reason === 'blobs_unavailable'

/** What the functions below share. */
type Jobs = TransferDependencies & {
  claims: WorkClaims
  queue: JobQueue
  /** The places of users in this process. */
  places: Set<string>
}

/** `claims` ensures that one instance alone performs a job; without it, this process is the only one. */
export function createTransferJobs(dependencies: TransferDependencies): TransferJobs {
  const { transfers, imports, folder, log, now, claims = SOLE_WORKER } = dependencies

  const queue = createJobQueue({ transfers, log, now })
  const jobs: Jobs = { ...dependencies, claims, queue, places: new Set() }
  let timer: NodeJS.Timeout | undefined

  return {
    find: transfers.find,
    list: (userId, kind) => transfers.list(userId, kind, LISTED),

    async createExport(userId, conversationIds, actor) {
      const leave = await claimPlace(jobs, userId, 'export')
      try {
        // One file per user, because an export is as large as everything that it contains.
        for (const { id } of await transfers.list(userId, 'export', LISTED)) {
          await transfers.remove(id)
          await removeExport(jobs, id)
        }
        const row = newRow(jobs, userId, 'export', null)
        const failureOf = (error: unknown): DescribedFailure => {
          log.warn({ err: error }, 'an export failed')
          return storedFailure(isUnreachable(error) ? 'blobs_unreachable' : 'export_failed')
        }
        const job = { work: () => runExport(jobs, row, conversationIds), failureOf }
        await begin(jobs, row, leave, job, (tx) =>
          dependencies.audit.record(tx, actor, {
            action: 'exported',
            at: row.createdAt,
            details: {
              export: row.id,
              ...(conversationIds === null ? {} : { conversations: conversationIds.length }),
            },
          }),
        )
        return row
      } catch (error) {
        await leave()
        throw error
      }
    },

    async createImport(userId, { name, content, isCut }, format) {
      const leave = await claimPlace(jobs, userId, 'import')
      const row = newRow(jobs, userId, 'import', name)
      const place = importFolder(jobs, row.id)
      try {
        await mkdir(join(place, 'unpacked'), { recursive: true, mode: 0o700 })
        await pipeline(content, createWriteStream(join(place, 'upload'), { mode: 0o600 }))
        if (isCut())
          throw appError('import_upload_too_large', {
            limit: `${Math.round(imports.maxBytes / 1024 / 1024)} MB`,
          })
        await begin(jobs, row, leave, importJob(jobs, row, format))
        // Nobody is shown the earlier ones any more.
        for (const { id } of (await transfers.list(userId, 'import', LISTED + MAX_OLDER)).slice(
          LISTED,
        ))
          await transfers.remove(id)
      } catch (error) {
        await rm(place, { recursive: true, force: true })
        await leave()
        throw error
      }
      return row
    },

    async openExport(userId, id) {
      const row = await transfers.find(userId, 'export', id)
      if (row === undefined) throw appError('export_not_found')
      if (row.status !== 'completed') throw appError('export_not_ready')
      const handle = await unlessMissing(open(exportPath(jobs, id)))
      if (handle === null) throw appError('export_not_found')
      return { row, content: handle.createReadStream() }
    },

    removeExports: (userId) => removeExports(transfers, folder, userId),

    async start() {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      for (const { id, kind } of await transfers.unfinished()) {
        // Another instance performs it.
        if (!(await claims.claim(workOf(id)))) continue
        await rm(importFolder(jobs, id), { recursive: true, force: true })
        await rm(`${exportPath(jobs, id)}.part`, { force: true })
        const reason = kind === 'export' ? 'export_interrupted' : 'import_interrupted'
        await transfers.update(id, { status: 'failed', failure: { reason }, endedAt: now() })
        await claims.finish(workOf(id))
      }
      // Uploads, unpacked files and incomplete exports of an earlier process.
      for (const name of claims.isShared ? [] : await readdir(folder))
        if (!name.endsWith('.zip')) await rm(join(folder, name), { recursive: true, force: true })
      await sweep(jobs)
      timer = setInterval(() => void sweep(jobs), SWEEP_EVERY_MS).unref()
    },

    async stop() {
      clearInterval(timer)
      await queue.stop()
    },
  }
}

const workOf = (id: TransferId): string => `transfer:${id}`

const exportPath = ({ folder }: Jobs, id: TransferId): string => join(folder, `${id}.zip`)

const importFolder = ({ folder }: Jobs, id: TransferId): string => join(folder, id)

const newRow = (
  { now }: Jobs,
  userId: UserId,
  kind: TransferRow['kind'],
  name: string | null,
): TransferRow => ({
  id: newId<TransferId>(),
  userId,
  kind,
  status: 'queued',
  name,
  format: null,
  done: 0,
  total: 0,
  size: null,
  report: null,
  failure: null,
  createdAt: now(),
  endedAt: null,
})

/**
 * Takes the only place that a user has for a job of a kind, at all instances: two requests at once get one.
 * @returns gives it back. @throws AppError `export_running`, `import_running`.
 */
async function claimPlace(
  { transfers, places, claims }: Jobs,
  userId: UserId,
  kind: TransferRow['kind'],
): Promise<() => Promise<void>> {
  const place = `transfer:${kind}:${userId}`
  const refusal = async () => {
    const active = (await transfers.list(userId, kind, LISTED)).find(
      ({ endedAt }) => endedAt === null,
    )
    const details = active === undefined ? {} : { details: { id: active.id } }
    return appError(kind === 'export' ? 'export_running' : 'import_running', {}, details)
  }
  if (places.has(place)) throw await refusal()
  places.add(place)
  try {
    if (!(await claims.claim(place))) throw await refusal()
  } catch (error) {
    places.delete(place)
    throw error
  }
  return async () => {
    await claims.finish(place)
    places.delete(place)
  }
}

/** Stores a job, with `after` in the same transaction, and queues its work. Afterwards, what it has claimed is free; if it fails, all but the user's place. */
async function begin(
  { claims, transfers, queue }: Jobs,
  row: TransferRow,
  leave: () => Promise<void>,
  job: Job,
  after?: (tx: Writer) => Promise<void>,
): Promise<void> {
  await claims.claim(workOf(row.id))
  try {
    await transfers.create(row, after)
  } catch (error) {
    await claims.finish(workOf(row.id))
    throw error
  }
  queue.add(row, job, async () => {
    await claims.finish(workOf(row.id))
    await leave()
  })
}

async function runExport(
  jobs: Jobs,
  row: TransferRow,
  conversationIds: readonly ConversationId[] | null,
): Promise<JobChanges> {
  const { queue, bundle, transfers } = jobs
  const unfinished = `${exportPath(jobs, row.id)}.part`
  try {
    const progress = queue.progressOf(row.id)
    await writeBundle(
      bundle,
      {
        userId: row.userId,
        conversationIds,
        signal: queue.signal,
        onProgress: (done, total) => progress({ done, ...(done === 1 ? { total } : {}) }),
      },
      createWriteStream(unfinished, { mode: 0o600 }),
    )
    const { size } = await stat(unfinished)
    await rename(unfinished, exportPath(jobs, row.id))
    const stored = await transfers.find(row.userId, 'export', row.id)
    // Its account or its row was deleted meanwhile, and nobody else would remove the archive.
    if (stored === undefined) await removeExport(jobs, row.id)
    return { size, done: stored?.total ?? 0 }
  } finally {
    await rm(unfinished, { force: true })
  }
}

async function removeExport(jobs: Jobs, id: TransferId): Promise<void> {
  await rm(exportPath(jobs, id), { force: true })
}

/**
 * Whatever the database knows of it, a file this old can no longer be downloaded, such as one of a deleted account. What
 * else is this old and of no job was being received by an instance that was killed; others cannot tell before.
 */
async function removeExpired({ transfers, folder }: Jobs, before: Date): Promise<void> {
  const unfinished = new Set<string>((await transfers.unfinished()).map(({ id }) => id))
  for (const name of await readdir(folder)) {
    const [id = name] = name.split('.')
    if (unfinished.has(id)) continue
    const path = join(folder, name)
    const found = await unlessMissing(stat(path))
    // The time of a folder is when its upload began.
    const written = (await unlessMissing(stat(join(path, 'upload')))) ?? found
    if (written !== null && written.mtime < before) await rm(path, { recursive: true, force: true })
  }
}

async function sweep(jobs: Jobs): Promise<void> {
  const { now, transfers, log } = jobs
  try {
    const before = (ageMs: number): Date => new Date(now().getTime() - ageMs)
    await removeExpired(jobs, before(EXPORT_KEPT_MS + SWEEP_EVERY_MS))
    for (const { id } of await transfers.removeEnded('export', before(EXPORT_KEPT_MS)))
      await removeExport(jobs, id)
    await transfers.removeEnded('import', before(IMPORT_KEPT_MS))
  } catch (error) {
    log.warn({ err: error }, 'old exports could not be removed')
  }
}

function importJob(jobs: Jobs, row: TransferRow, format: ImportFormat | null): Job {
  const { queue, imports, transfers, announce } = jobs
  const report = createReport()
  const place = importFolder(jobs, row.id)
  const work = async () => {
    const progress = queue.progressOf(row.id)
    let announcedAt = performance.now()
    let lastId: ConversationId | null = null
    try {
      await performImport(imports, {
        userId: row.userId,
        file: join(place, 'upload'),
        folder: join(place, 'unpacked'),
        format,
        signal: queue.signal,
        report,
        onOpened: (detected, total) => {
          void transfers.update(row.id, { format: detected, total })
        },
        onProgress: (done) => progress({ done }),
        onStored(id) {
          lastId = id
          if (performance.now() - announcedAt < ANNOUNCE_EVERY_MS) return
          announcedAt = performance.now()
          announce(row.userId, id)
        },
      })
      const stored = await transfers.find(row.userId, 'import', row.id)
      return { report: report.report(), done: stored?.total ?? 0 }
    } finally {
      await rm(place, { recursive: true, force: true })
      if (lastId !== null) announce(row.userId, lastId)
    }
  }
  return {
    work,
    failureOf: (error) => importFailure(jobs, error),
    changesOnFailure: () => ({ report: report.report() }),
  }
}

function importFailure({ log }: Jobs, error: unknown): DescribedFailure {
  if (error instanceof ImportFault) return error.failure
  log.warn({ err: error }, 'an import failed')
  return storedFailure(isUnreachable(error) ? 'blobs_unreachable' : 'import_failed')
}
