// Files uploaded one by one: staged and checked as they arrive. When complete, they become a project by one rename, or
// are placed into one (checkpoints/place-upload.ts).
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { appError } from '../../errors.ts'
import type { ProjectId, UserId } from '../../protocol/ids.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspaces } from '../workspaces.ts'
import { explainFault, sizeText, systemCode } from './faults.ts'
import { type ProjectPath, parseInnerPath } from './paths.ts'

export interface UploadLimits {
  /** Bytes of all files together. */
  bytes: number
  files: number
}

/** A received file, with its path in the upload's folder. */
export interface StagedFile {
  path: ProjectPath
  /** Bytes. */
  size: number
}

/** An upload in progress. `discard` is always safe, also after `adopt`. */
export interface Upload {
  /**
   * Receives one file. Its path is relative, as a browser's folder upload sends it. Throws `path_escapes`,
   * `bad_request`, `conflict` (two files with one name), `payload_too_large`, `store_full`.
   */
  add(path: string, content: Readable): Promise<void>
  readonly files: number
  /** Waits until everything is written and returns where; `folder` is a host folder, which `discard` removes. */
  staged(): Promise<{ folder: string; files: readonly StagedFile[] }>
  /** Makes the upload the folder of a new project. A top folder that all files share is dropped. */
  adopt(userId: UserId, projectId: ProjectId): Promise<void>
  /** Removes everything that was received. */
  discard(): Promise<void>
}

/** Files up to this size are batched; a worker thread writes a batch in one go. */
const SMALL = 256 * 1024
const BATCH_FILES = 100
const BATCH_BYTES = 2 * 1024 * 1024
const BATCHES_AT_ONCE = 2
const BATCH_MS = 120_000

export async function startUpload(
  workspaces: Workspaces,
  pool: WorkerPool,
  limits: UploadLimits,
): Promise<Upload> {
  const staging = await workspaces.makeStaging()
  const taken = new Set<string>()
  const came: StagedFile[] = []
  const folders = new Set<string>()
  const tops = new Set<string>()
  const writing = new Set<Promise<void>>()
  let batch: { path: string; bytes: Uint8Array }[] = []
  let batchBytes = 0
  let fault: unknown
  let bytes = 0
  let files = 0

  /** Two files with one name, or a file in the place of a folder, are refused before anything is written. */
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
    const most = Math.min(limits.bytes, workspaces.limits.project)
    if (bytes > most) throw appError('upload_too_large', { limit: sizeText(most) })
  }
  /** Passes the batch to a worker thread; waits only while too many are in progress. */
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return
    const write = pool
      .run('write_files', { folder: staging, files: batch }, { timeoutMs: BATCH_MS })
      .catch((error: unknown) => {
        fault ??= explainFault(error, 'the upload')
      })
      .then(() => {
        writing.delete(write)
      })
    writing.add(write)
    batch = []
    batchBytes = 0
    if (writing.size >= BATCHES_AT_ONCE) await Promise.race(writing)
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
      throw explainFault(error, path.text)
    }
  }
  const settle = async (): Promise<void> => {
    await flush()
    await Promise.all(writing)
    if (fault !== undefined) throw fault
  }

  return {
    get files() {
      return files
    },
    async add(input, content) {
      if (fault !== undefined) throw fault
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
        if (gathered > SMALL) {
          const before = bytes - gathered
          await writeLarge(path, pieces, reader)
          came.push({ path, size: bytes - before })
          return
        }
      }
      came.push({ path, size: gathered })
      batch.push({ path: path.text, bytes: Buffer.concat(pieces) })
      batchBytes += gathered
      if (batch.length >= BATCH_FILES || batchBytes >= BATCH_BYTES) await flush()
    },
    async staged() {
      await settle()
      return { folder: staging, files: came }
    },
    async adopt(userId, projectId) {
      await settle()
      const [top = ''] = tops
      const shared = tops.size === 1 && top !== ''
      await workspaces.adopt(shared ? join(staging, top) : staging, userId, projectId)
      if (shared) await rm(staging, { recursive: true, force: true })
    },
    async discard() {
      await Promise.allSettled(writing)
      // Renamed first, so that nothing late can be written into it.
      const grave = `${staging}-gone`
      try {
        await rename(staging, grave)
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return
        throw error
      }
      await rm(grave, { recursive: true, force: true, maxRetries: 2 })
    },
  }
}
