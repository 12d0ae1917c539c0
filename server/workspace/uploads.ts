// A folder uploaded file by file becomes a project's folder: staged aside, checked as it comes, moved in place by one rename.
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { AppError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { explainFault, systemCode } from './faults.ts'
import { type ProjectPath, parseInnerPath } from './paths.ts'
import type { Workspaces } from './workspaces.ts'

export interface UploadLimits {
  /** Bytes of all files together. */
  bytes: number
  files: number
}

/** Files on their way to become a project. `discard` is always safe, also after `adopt`. */
export interface Upload {
  /**
   * Takes one file. Its path is relative, as a browser's folder upload sends it. Throws `path_escapes`, `bad_request`,
   * `conflict` (two files of one name), `payload_too_large`, `store_full`.
   */
  add(path: string, content: Readable): Promise<void>
  readonly files: number
  /** Makes what came the folder of a new project. A top folder that all files share is dropped. */
  adopt(userId: UserId, projectId: ProjectId): Promise<void>
  /** Removes everything that came. */
  discard(): Promise<void>
}

/** Files being written at once; reading the next part goes on meanwhile. */
const WRITES_AT_ONCE = 16
/** A file up to this size is gathered and written in one go. */
const SMALL = 256 * 1024

export async function startUpload(workspaces: Workspaces, limits: UploadLimits): Promise<Upload> {
  const staging = await workspaces.makeStaging()
  const made = new Set([''])
  const tops = new Set<string>()
  const writing = new Set<Promise<void>>()
  let fault: unknown
  let bytes = 0
  let files = 0

  const makeFolder = async (path: string): Promise<void> => {
    if (made.has(path)) return
    await mkdir(join(staging, path), { recursive: true, mode: 0o700 })
    for (let above = path; !made.has(above); above = above.includes('/') ? dirname(above) : '')
      made.add(above)
  }
  const create = async (path: ProjectPath): Promise<FileHandle> => {
    const folder = path.segments.slice(0, -1).join('/')
    try {
      await makeFolder(folder)
      return await open(join(staging, path.text), 'wx', 0o600)
    } catch (error) {
      if (['EEXIST', 'ENOTDIR', 'EISDIR'].includes(systemCode(error)))
        throw new AppError('conflict', `The upload holds "${path.text}" twice.`)
      throw explainFault(error, path.text)
    }
  }
  const count = (more: number): void => {
    bytes += more
    if (bytes > Math.min(limits.bytes, workspaces.limits.project))
      throw new AppError(
        'payload_too_large',
        `An upload may have at most ${Math.min(limits.bytes, workspaces.limits.project)} bytes.`,
      )
  }
  const finish = async (handle: FileHandle, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } finally {
      await handle.close()
    }
  }
  /** Writes what was gathered without keeping the next part waiting. */
  const writeSmall = async (path: ProjectPath, pieces: readonly Buffer[]): Promise<void> => {
    const handle = await create(path)
    const write = finish(handle, () => handle.writeFile(Buffer.concat(pieces)))
      .catch((error: unknown) => {
        fault ??= explainFault(error, path.text)
      })
      .finally(() => writing.delete(write))
    writing.add(write)
    if (writing.size >= WRITES_AT_ONCE) await Promise.race(writing)
  }
  const writeLarge = async (
    path: ProjectPath,
    first: readonly Buffer[],
    rest: AsyncIterator<Buffer>,
  ) => {
    const handle = await create(path)
    await finish(handle, async () => {
      for (const piece of first) await handle.write(piece)
      for (let next = await rest.next(); !next.done; next = await rest.next()) {
        count(next.value.length)
        await handle.write(next.value)
      }
    })
  }

  return {
    get files() {
      return files
    },
    async add(input, content) {
      if (fault !== undefined) throw fault
      const path = parseInnerPath(input)
      if (++files > limits.files)
        throw new AppError('payload_too_large', `An upload may have at most ${limits.files} files.`)
      tops.add(path.segments.length > 1 ? (path.segments[0] ?? '') : '')
      const pieces: Buffer[] = []
      let gathered = 0
      const reader: AsyncIterator<Buffer> = content[Symbol.asyncIterator]()
      for (let next = await reader.next(); !next.done; next = await reader.next()) {
        count(next.value.length)
        pieces.push(next.value)
        gathered += next.value.length
        if (gathered > SMALL) return writeLarge(path, pieces, reader)
      }
      await writeSmall(path, pieces)
    },
    async adopt(userId, projectId) {
      await Promise.all(writing)
      if (fault !== undefined) throw fault
      const [top = ''] = tops
      const shared = tops.size === 1 && top !== ''
      await workspaces.adopt(shared ? join(staging, top) : staging, userId, projectId)
      if (shared) await rm(staging, { recursive: true, force: true })
    },
    async discard() {
      await Promise.allSettled(writing)
      // Away from its name first, so that nothing late can be written into it.
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
