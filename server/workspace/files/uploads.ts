// Uploads of many files: checked and staged as they arrive. A complete upload becomes a project by one rename, or is moved
// into one (checkpoints/place-upload.ts).
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { appError } from '../../errors.ts'
import type { ProjectId, UserId } from '../../protocol/ids.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspaces } from '../workspaces.ts'
import { sizeText, systemCode, toFileError } from './faults.ts'
import { type ProjectPath, parseInnerPath } from './paths.ts'

/** The limits of one upload. */
export interface UploadLimits {
  /** Bytes of all files together. */
  bytes: number
  files: number
}

/** A received file and its path in the upload's folder. */
export interface StagedFile {
  path: ProjectPath
  /** Bytes. */
  size: number
}

/** An upload in progress. Calling `discard` is always safe, even after `adopt`. */
export interface Upload {
  /**
   * Receives one file. Its path is relative, as a browser's folder upload sends it. Throws `path_escapes`,
   * `bad_request`, `conflict` (two files with one name), `payload_too_large`, `store_full`.
   */
  add(path: string, content: Readable): Promise<void>
  readonly files: number
  /** Waits until everything is written. `folder` is a host folder, which `discard` removes. */
  staged(): Promise<{ folder: string; files: readonly StagedFile[] }>
  /** Turns the upload into the folder of a new project, without a top folder that all files share. */
  adopt(userId: UserId, projectId: ProjectId): Promise<void>
  /** Removes everything that was received. */
  discard(): Promise<void>
}

/** Files up to this size are batched; a worker thread writes a whole batch. */
const SMALL_FILE_BYTES = 256 * 1024
const BATCH_FILES = 100
const BATCH_BYTES = 2 * 1024 * 1024
const MAX_PENDING_BATCHES = 2
const BATCH_TIMEOUT_MS = 120_000

/** Begins an upload into a staging folder that belongs to no project. Always call `discard` at the end. */
export async function startUpload(
  workspaces: Workspaces,
  pool: WorkerPool,
  limits: UploadLimits,
  owner: UserId,
): Promise<Upload> {
  const staging = await workspaces.createStagingFolder()
  const taken = new Set<string>()
  const received: StagedFile[] = []
  const folders = new Set<string>()
  const tops = new Set<string>()
  const writing = new Set<Promise<void>>()
  let batch: { path: string; bytes: Uint8Array }[] = []
  let batchBytes = 0
  let failure: unknown
  let bytes = 0
  let files = 0

  /** Refuses duplicate files, and a file where a folder is needed, before anything is written. */
  const claim = ({ text, segments }: ProjectPath): void => {
    const above = segments
      .slice(0, -1)
      .map((_name, depth) => segments.slice(0, depth + 1).join('/'))
    if (taken.has(text) || folders.has(text) || above.some((folder) => taken.has(folder)))
      throw appError('upload_repeats', { path: text })
    taken.add(text)
    for (const folder of above) folders.add(folder)
  }
  const count = (more: number): void => {
    bytes += more
    const limit = Math.min(limits.bytes, workspaces.limits.project)
    if (bytes > limit) throw appError('upload_too_large', { limit: sizeText(limit) })
  }
  /** Passes the batch to a worker thread; waits only if too many batches are pending. */
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return
    const write = pool
      .run('write_files', { folder: staging, files: batch }, { timeoutMs: BATCH_TIMEOUT_MS, owner })
      .catch((error: unknown) => {
        failure ??= toFileError(error, 'the upload')
      })
      .then(() => {
        writing.delete(write)
      })
    writing.add(write)
    batch = []
    batchBytes = 0
    if (writing.size >= MAX_PENDING_BATCHES) await Promise.race(writing)
  }
  const writeLarge = async (
    path: ProjectPath,
    first: readonly Buffer[],
    rest: AsyncIterator<Buffer>,
  ): Promise<void> => {
    const target = join(staging, path.text)
    try {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      const handle = await open(target, 'wx', 0o600)
      try {
        for (const piece of first) await handle.writeFile(piece)
        for (let next = await rest.next(); !next.done; next = await rest.next()) {
          count(next.value.length)
          await handle.writeFile(next.value)
        }
      } finally {
        await handle.close()
      }
    } catch (error) {
      throw toFileError(error, path.text)
    }
  }
  const finishWrites = async (): Promise<void> => {
    await flush()
    await Promise.all(writing)
    if (failure !== undefined) throw failure
  }

  return {
    get files() {
      return files
    },
    async add(input, content) {
      if (failure !== undefined) throw failure
      const path = parseInnerPath(input)
      if (++files > limits.files)
        throw appError('upload_has_too_many_files', { limit: limits.files })
      claim(path)
      tops.add(path.segments.length > 1 ? (path.segments[0] ?? '') : '')
      const pieces: Buffer[] = []
      let gathered = 0
      const reader: AsyncIterator<Buffer> = content[Symbol.asyncIterator]()
      for (let next = await reader.next(); !next.done; next = await reader.next()) {
        count(next.value.length)
        pieces.push(next.value)
        gathered += next.value.length
        if (gathered > SMALL_FILE_BYTES) {
          const before = bytes - gathered
          await writeLarge(path, pieces, reader)
          received.push({ path, size: bytes - before })
          return
        }
      }
      received.push({ path, size: gathered })
      batch.push({ path: path.text, bytes: Buffer.concat(pieces) })
      batchBytes += gathered
      if (batch.length >= BATCH_FILES || batchBytes >= BATCH_BYTES) await flush()
    },
    async staged() {
      await finishWrites()
      return { folder: staging, files: received }
    },
    async adopt(userId, projectId) {
      await finishWrites()
      const [top = ''] = tops
      const shared = tops.size === 1 && top !== ''
      await workspaces.adopt(shared ? join(staging, top) : staging, userId, projectId)
      if (shared) await rm(staging, { recursive: true, force: true })
    },
    async discard() {
      await Promise.allSettled(writing)
      // Renamed first, so that no late write can reach it.
      const trash = `${staging}-gone`
      try {
        await rename(staging, trash)
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return
        throw error
      }
      await rm(trash, { recursive: true, force: true, maxRetries: 2 })
    },
  }
}
