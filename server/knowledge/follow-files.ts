// Keeps the documents that are files of projects equal to them: read again when they change, moved and removed with them.
import { createHash, randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { DocumentRepository, DocumentRow } from '../db/repositories/projects/documents.ts'
import { AppError, errorText } from '../errors.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { Ingest } from './ingest.ts'

/** The folder of a project, as far as its documents need it. */
export interface ProjectFolder {
  /** Null if there is no regular file. */
  state(path: string): Promise<{ size: number; version: string } | null>
  /** @throws AppError if the file is gone or too large for a document. */
  read(path: string): Promise<{ bytes: Uint8Array; version: string }>
  /** All files. */
  files(): Promise<{ path: string; size: number }[]>
  /** Whether two versions are of the same file, which may have been renamed. */
  isSameContent(version: string, other: string): boolean
}

/** Follows the files of projects. */
export interface FileFollower {
  /** Call it when files of the project have changed. Returns at once; never throws. */
  filesChanged(projectId: ProjectId): void
  /** Reads the file of a document (again). Resolves with false if the document was deleted meanwhile. */
  read(document: DocumentRow, content: { bytes: Uint8Array; version: string }): Promise<boolean>
  /** Resolves when nothing is being followed. */
  settled(): Promise<void>
}

/** The dependencies of `createFileFollower`. */
export interface FileFollowerOptions {
  documents: DocumentRepository
  ingest: Ingest
  openFolder(userId: UserId, projectId: ProjectId): ProjectFolder
  remove(projectId: ProjectId, id: string): Promise<boolean>
  log: { warn(details: object, message: string): void }
}

/** Each project is followed by one task at a time. */
export function createFileFollower({
  documents,
  ingest,
  openFolder,
  remove,
  log,
}: FileFollowerOptions): FileFollower {
  const following = new Map<ProjectId, { again: boolean; task: Promise<void> }>()

  async function read(
    document: DocumentRow,
    { bytes, version }: { bytes: Uint8Array; version: string },
  ): Promise<boolean> {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const { id, name, path, status } = document
    if (sha256 === document.sha256 && status === 'ready' && path !== null) {
      await documents.noteFile(id, name, { path, version })
      return true
    }
    await ingest.interrupt(id)
    const content = { size: bytes.length, sha256, version }
    // Written under a temporary name, so that a crash never leaves a partial file under the final one.
    const partial = `${ingest.fileOf(id)}.${randomUUID()}.part`
    await writeFile(partial, bytes, { mode: 0o600 })
    await rename(partial, ingest.fileOf(id))
    if (!(await documents.restart(id, content))) {
      ingest.cancel(id)
      return false
    }
    ingest.add({ ...document, ...content, status: 'pending', encoding: null }, true)
    return true
  }

  /** Where the file of a document is now; null if it is gone. */
  async function findMoved(
    folder: ProjectFolder,
    files: readonly { path: string; size: number }[],
    { size, version }: DocumentRow,
  ): Promise<{ path: string; version: string } | null> {
    for (const file of files) {
      if (version === null || file.size !== size) continue
      const state = await folder.state(file.path)
      if (state !== null && folder.isSameContent(version, state.version))
        return { path: file.path, version: state.version }
    }
    return null
  }

  async function readChanged(folder: ProjectFolder, document: DocumentRow, path: string) {
    try {
      await read(document, await folder.read(path))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      await documents.fail(document.id, storedFailure('document_too_large'))
    }
  }

  async function follow(projectId: ProjectId): Promise<void> {
    const rows = await documents.ofFiles(projectId)
    const [first] = rows
    if (first === undefined) return
    const folder = openFolder(first.userId, projectId)
    let files: Awaited<ReturnType<ProjectFolder['files']>> | undefined
    for (const document of rows) {
      const path = document.path ?? ''
      const state = await folder.state(path)
      if (state !== null) {
        if (state.version !== document.version) await readChanged(folder, document, path)
        continue
      }
      files ??= await folder.files()
      const moved = await findMoved(folder, files, document)
      if (moved === null) await remove(projectId, document.id)
      else await documents.noteFile(document.id, basename(moved.path), moved)
    }
  }

  async function followWhileChanging(projectId: ProjectId): Promise<void> {
    try {
      for (let again = true; again; ) {
        const now = following.get(projectId)
        if (now !== undefined) now.again = false
        await follow(projectId)
        again = now?.again === true
      }
    } catch (error) {
      log.warn({ projectId, cause: errorText(error) }, 'documents could not follow their files')
    } finally {
      following.delete(projectId)
    }
  }

  return {
    read,
    filesChanged(projectId) {
      const now = following.get(projectId)
      if (now !== undefined) {
        now.again = true
        return
      }
      const entry = { again: false, task: Promise.resolve() }
      following.set(projectId, entry)
      entry.task = followWhileChanging(projectId)
    },
    async settled() {
      await Promise.all([...following.values()].map(({ task }) => task))
    },
  }
}
