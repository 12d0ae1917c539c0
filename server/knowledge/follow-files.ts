// Keeps the documents that are files of projects equal to them: read again when they change, moved and removed with them.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { DocumentRepository, DocumentRow } from '../db/repositories/projects/documents.ts'
import { AppError, errorText } from '../errors.ts'
import { detectEncoding } from '../lib/encodings.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { Ingest } from './ingest.ts'

/** Projects that one query finds at the start. */
const PROJECTS_AT_ONCE = 100

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
  /**
   * Reads the file of a document (again). Resolves with false if the document was deleted meanwhile, or another instance has
   * read its file.
   */
  read(document: DocumentRow, content: { bytes: Uint8Array; version: string }): Promise<boolean>
  /**
   * Follows all projects in the background, one after the other: an earlier process may have ended before it did. Documents
   * whose file is missing are left to the next change.
   */
  start(): void
  /** Resolves when nothing is being followed any more. */
  stop(): Promise<void>
}

/** The dependencies of `createFileFollower`. */
export interface FileFollowerOptions {
  documents: DocumentRepository
  ingest: Ingest
  openFolder(userId: UserId, projectId: ProjectId): ProjectFolder
  remove(projectId: ProjectId, id: string): Promise<boolean>
  log: { warn(details: object, message: string): void }
}

/** The options, and which projects are being followed: each by one task at a time. */
interface Follower extends FileFollowerOptions {
  /** `again`: the files of the project have changed since its task has looked at them. */
  following: Map<ProjectId, { again: boolean; task: Promise<void> }>
  stopped: boolean
}

export function createFileFollower(options: FileFollowerOptions): FileFollower {
  const following: Follower['following'] = new Map()
  let followingAll: Promise<void> = Promise.resolve()
  const follower: Follower = { ...options, following, stopped: false }

  return {
    read: (document, content) => read(follower, document, content),
    filesChanged: (projectId) => filesChanged(follower, projectId),
    start() {
      followingAll = followAll(follower)
    },
    async stop() {
      follower.stopped = true
      await Promise.all([followingAll, ...[...following.values()].map(({ task }) => task)])
    },
  }
}

/** The encoding that a person has chosen for a text: not the one that was found. It stays when the text changes. */
async function chosenEncoding({ ingest }: Follower, document: DocumentRow): Promise<string | null> {
  if (document.encoding === null) return null
  const bytes = await unlessMissing(readFile(ingest.fileOf(document)))
  if (bytes === null || detectEncoding(bytes)?.name === document.encoding) return null
  return document.encoding
}

async function read(
  follower: Follower,
  document: DocumentRow,
  { bytes, version }: { bytes: Uint8Array; version: string },
): Promise<boolean> {
  const { documents, ingest } = follower
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const { id, name, path, status } = document
  if (sha256 === document.sha256 && status === 'ready' && path !== null) {
    await documents.noteFile(id, name, { path, version })
    return true
  }
  await ingest.interrupt(id)
  const encoding = await chosenEncoding(follower, document)
  const content = { size: bytes.length, sha256, version, encoding }
  const next: DocumentRow = { ...document, ...content, status: 'pending' }
  await ingest.store(next, bytes)
  const restarted = await documents.restart(document, content)
  await ingest.discard(restarted ? document : next)
  // Another call may have restarted it for the same version, and its reading was interrupted here.
  const pending = restarted ? next : await documents.find(document.projectId, id)
  if (pending?.status === 'pending') ingest.add(pending, true)
  return restarted
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

/** Whether the document is up to date now. */
async function readChanged(
  follower: Follower,
  folder: ProjectFolder,
  document: DocumentRow,
  path: string,
): Promise<boolean> {
  const { documents } = follower
  try {
    return await read(follower, document, await folder.read(path))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    await documents.fail(document, storedFailure('document_too_large'))
    return true
  }
}

/** Resolves with whether all documents are up to date. */
async function follow(
  follower: Follower,
  projectId: ProjectId,
  isStart: boolean,
): Promise<boolean> {
  const { documents, openFolder, remove } = follower
  const rows = await documents.ofFiles(projectId)
  const [first] = rows
  if (first === undefined) return true
  const folder = openFolder(first.userId, projectId)
  let files: Awaited<ReturnType<ProjectFolder['files']>> | undefined
  let isCurrent = true
  for (const document of rows) {
    if (follower.stopped) break
    const path = document.path ?? ''
    const state = await folder.state(path)
    if (state !== null) {
      if (
        state.version !== document.version &&
        !(await readChanged(follower, folder, document, path))
      )
        isCurrent = false
      continue
    }
    files ??= await folder.files()
    const moved = await findMoved(folder, files, document)
    if (moved !== null) await documents.noteFile(document.id, basename(moved.path), moved)
    // At a start, another instance may just be replacing the file, or the disk with the projects may not be there yet.
    else if (!isStart) await remove(projectId, document.id)
  }
  return isCurrent
}

async function followWhileChanging(
  follower: Follower,
  projectId: ProjectId,
  isStart: boolean,
): Promise<void> {
  const { following, log } = follower
  try {
    for (let round = 0, again = true; again && !follower.stopped; round += 1) {
      const now = following.get(projectId)
      if (now !== undefined) now.again = false
      const isCurrent = await follow(follower, projectId, isStart && round === 0)
      again = now?.again === true || !isCurrent
    }
  } catch (error) {
    log.warn({ projectId, cause: errorText(error) }, 'documents could not follow their files')
  } finally {
    following.delete(projectId)
  }
}

function filesChanged(follower: Follower, projectId: ProjectId, isStart = false): void {
  const { following } = follower
  const now = following.get(projectId)
  if (now !== undefined) {
    now.again = true
    return
  }
  const entry = { again: false, task: Promise.resolve() }
  following.set(projectId, entry)
  entry.task = followWhileChanging(follower, projectId, isStart)
}

async function followAll(follower: Follower): Promise<void> {
  const { documents, following, log } = follower
  try {
    let some: ProjectId[] = []
    do {
      some = await documents.projectsWithFiles(some.at(-1) ?? null, PROJECTS_AT_ONCE)
      for (const projectId of some) {
        if (follower.stopped) return
        filesChanged(follower, projectId, true)
        await following.get(projectId)?.task
      }
    } while (some.length === PROJECTS_AT_ONCE)
  } catch (error) {
    log.warn({ cause: errorText(error) }, 'documents that follow files could not be listed')
  }
}
