// Uploads of many files: checked and staged as they arrive. A complete upload becomes a project by one rename, or is moved
// into one (checkpoints/place-upload.ts).
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { appError } from '../../errors.ts'
import { sizeText } from '../../lib/size-text.ts'
import { systemCode } from '../../lib/system-faults.ts'
import type { ProjectId, UserId } from '../../protocol/ids.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import { entriesLimit } from '../workspace.ts'
import type { Workspaces } from '../workspaces.ts'
import { countedBytes, ENTRY_BYTES } from './entries.ts'
import { type ProjectPath, parseInnerPath, toFileError } from './paths.ts'

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
  /** What everything in it counts as a new project; see `countedBytes`. */
  readonly countedSize: number
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

/** The names in an upload. */
interface UploadNames {
  readonly files: Set<string>
  readonly folders: Set<string>
  /** The top folders of its files; '' for a file in none. */
  readonly tops: Set<string>
}

/** Refuses duplicate files, and a file where a folder is needed, before anything is written. */
function claimName(names: UploadNames, { text, segments }: ProjectPath, limit: number): void {
  const above = segments.slice(0, -1).map((_name, depth) => segments.slice(0, depth + 1).join('/'))
  const isTaken = names.files.has(text) || names.folders.has(text)
  if (isTaken || above.some((folder) => names.files.has(folder)))
    throw appError('upload_repeats', { path: text })
  names.files.add(text)
  for (const folder of above) names.folders.add(folder)
  if (names.files.size + names.folders.size > limit)
    throw appError('project_entries_full', { limit })
  names.tops.add(segments.length > 1 ? (segments[0] ?? '') : '')
}

/** Writes small files, many at once. */
interface BatchWriter {
  /** Adds a file to the batch, and passes a full one to a worker thread. Waits only if too many batches are pending. */
  add(file: { path: string; bytes: Buffer }): Promise<void>
  /** Throws the first failure of a batch, if there was one. */
  assertWritten(): void
  /** Writes what is left and waits for it. @throws AppError the first failure of a batch. */
  finish(): Promise<void>
  /** Waits for the batches that are pending. */
  settle(): Promise<void>
}

function createBatchWriter(pool: WorkerPool, folder: string, owner: UserId): BatchWriter {
  const pending = new Set<Promise<void>>()
  let batch = { files: [] as { path: string; bytes: Uint8Array }[], bytes: 0 }
  let failure: unknown

  async function flush(): Promise<void> {
    const { files } = batch
    if (files.length === 0) return
    batch = { files: [], bytes: 0 }
    const write = pool
      .run('write_files', { folder, files }, { timeoutMs: BATCH_TIMEOUT_MS, owner })
      .catch((error: unknown) => {
        failure ??= toFileError(error, 'the upload')
      })
      .then(() => {
        pending.delete(write)
      })
    pending.add(write)
    if (pending.size >= MAX_PENDING_BATCHES) await Promise.race(pending)
  }
  function assertWritten(): void {
    if (failure !== undefined) throw failure
  }

  return {
    assertWritten,
    async add(file) {
      batch.files.push(file)
      batch.bytes += file.bytes.length
      if (batch.files.length >= BATCH_FILES || batch.bytes >= BATCH_BYTES) await flush()
    },
    async finish() {
      await flush()
      await Promise.all(pending)
      assertWritten()
    },
    async settle() {
      await Promise.allSettled(pending)
    },
  }
}

/** Writes a file that is too large for a batch: its beginning, then the rest as it arrives. */
async function writeLarge(
  folder: string,
  path: ProjectPath,
  first: readonly Buffer[],
  rest: AsyncIterator<Buffer>,
): Promise<void> {
  const target = join(folder, path.text)
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    const handle = await open(target, 'wx', 0o600)
    try {
      for (const piece of first) await handle.writeFile(piece)
      for (let next = await rest.next(); !next.done; next = await rest.next())
        await handle.writeFile(next.value)
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw toFileError(error, path.text)
  }
}

/** Renames a folder before it is removed, so that no late write can reach it. */
async function removeStaging(staging: string): Promise<void> {
  const trash = `${staging}-gone`
  try {
    await rename(staging, trash)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return
    throw error
  }
  await rm(trash, { recursive: true, force: true, maxRetries: 2 })
}

/** Begins an upload into a staging folder that belongs to no project. Always call `discard` at the end. */
export async function startUpload(
  workspaces: Workspaces,
  pool: WorkerPool,
  limits: UploadLimits,
  owner: UserId,
): Promise<Upload> {
  const staging = await workspaces.createStagingFolder()
  const names: UploadNames = { files: new Set(), folders: new Set(), tops: new Set() }
  const received: StagedFile[] = []
  const writer = createBatchWriter(pool, staging, owner)
  const limit = Math.min(limits.bytes, workspaces.limits.project)
  const counts = { bytes: 0, files: 0 }
  /** The top folder that all files share and that a new project does without. */
  const sharedTop = (): string => {
    const [top = ''] = names.tops
    return names.tops.size === 1 ? top : ''
  }

  /** The pieces of a file, counted as they arrive. Its stream is the caller's to end. */
  async function* counted(content: Readable, file: { size: number }): AsyncGenerator<Buffer> {
    const reader: AsyncIterator<Buffer> = content[Symbol.asyncIterator]()
    for (let next = await reader.next(); !next.done; next = await reader.next()) {
      file.size += next.value.length
      counts.bytes += next.value.length
      if (counts.bytes > limit) throw appError('upload_too_large', { limit: sizeText(limit) })
      yield next.value
    }
  }

  return {
    get files() {
      return counts.files
    },
    get countedSize() {
      const folders = names.folders.size - (sharedTop() === '' ? 0 : 1)
      return received.reduce(
        (sum, { size }) => sum + countedBytes('file', size),
        folders * ENTRY_BYTES,
      )
    },
    async add(input, content) {
      writer.assertWritten()
      const path = parseInnerPath(input)
      if (++counts.files > limits.files)
        throw appError('upload_has_too_many_files', { limit: limits.files })
      claimName(names, path, entriesLimit(workspaces.limits))
      const pieces: Buffer[] = []
      const file: StagedFile = { path, size: 0 }
      const reader = counted(content, file)
      for (let next = await reader.next(); !next.done; next = await reader.next()) {
        pieces.push(next.value)
        if (file.size <= SMALL_FILE_BYTES) continue
        await writeLarge(staging, path, pieces, reader)
        received.push(file)
        return
      }
      received.push(file)
      await writer.add({ path: path.text, bytes: Buffer.concat(pieces) })
    },
    async staged() {
      await writer.finish()
      return { folder: staging, files: received }
    },
    async adopt(userId, projectId) {
      await writer.finish()
      const top = sharedTop()
      await workspaces.adopt(top === '' ? staging : join(staging, top), userId, projectId)
      if (top !== '') await rm(staging, { recursive: true, force: true })
    },
    async discard() {
      await writer.settle()
      await removeStaging(staging)
    },
  }
}
