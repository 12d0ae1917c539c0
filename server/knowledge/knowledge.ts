// The documents of projects: upload, background reading, search, citation, removal.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { DocumentRepository, DocumentRow } from '../db/repositories/projects/documents.ts'
import { appError } from '../errors.ts'
import { encodingNamed } from '../lib/encodings.ts'
import { SOLE_WORKER, type WorkClaims } from '../lib/work-claims.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { createFileFollower, type FileFollowerOptions } from './follow-files.ts'
import { createIngest } from './ingest.ts'
import { mergeByRank, type PassageHit, searchPassages } from './passage-search.ts'
import type { VectorSearch } from './vector-search.ts'

const MAX_DOCUMENTS = 2_000
const MAX_NAME_CHARACTERS = 255

/** The documents of projects and the search in them. */
export interface Knowledge {
  /**
   * Stores one uploaded file and queues it for reading; resolves while it is still pending. The stream is read to its
   * end. Throws `too_many_requests` when the project has 2,000 documents, `quota_exceeded` when the user's storage is
   * full, and whatever the stream throws.
   */
  add(
    target: { userId: UserId; projectId: ProjectId },
    file: UploadedDocument,
  ): Promise<DocumentRow>
  /**
   * Adds a file that the user already stores as a document; the first document of a file uses no additional quota. Returns the project's
   * document with the same content if there is one.
   * @throws AppError as `add` does.
   */
  addStored(
    target: { userId: UserId; projectId: ProjectId },
    file: {
      name: string
      mime: string
      sha256: string
      /** The encoding of a text; null if it is yet to be found, and for other files. */
      encoding: string | null
      open(): Promise<Readable>
    },
  ): Promise<DocumentRow>
  /**
   * Reads a text again in the encoding that a person has chosen; resolves when the document is pending.
   * @throws AppError `document_not_found`, `encoding_unknown`, `document_encoding_fixed`.
   */
  readAs(projectId: ProjectId, id: string, encoding: string): Promise<DocumentRow>
  /** Does so with all documents that were made from a file of the user. Nothing for those without a choice. */
  readFileAs(userId: UserId, sha256: string, encoding: string): Promise<void>
  /**
   * Makes a file of the project a document, which follows the file from now on and uses no additional quota. Returns the
   * document that it already is, which is read again if that had failed.
   * @throws AppError as `add` does, and if there is no such file.
   */
  addFile(target: { userId: UserId; projectId: ProjectId }, path: string): Promise<DocumentRow>
  /** Call it when files of the project have changed: their documents follow in the background. */
  filesChanged(projectId: ProjectId): void
  /** The documents that are files of the project. */
  ofFiles: DocumentRepository['ofFiles']
  /**
   * Adds a document that another server has read, from its passages. `path`: the file of the project that it is.
   * @throws AppError as `add` does.
   */
  addPassages(
    target: { userId: UserId; projectId: ProjectId },
    document: {
      name: string
      mime: string
      path?: string | undefined
      passages: readonly { heading: string | null; page: number | null; text: string }[]
    },
  ): Promise<void>
  list: DocumentRepository['list']
  find: DocumentRepository['find']
  /** Passages of a document from `position` on, in order. */
  passagesOf: DocumentRepository['passagesOf']
  /** Resolves to false if the project has no such document. */
  remove(projectId: ProjectId, id: string): Promise<boolean>
  /** Stops reading the documents of a project that is being deleted, and removes them a few passages at a time. */
  removeProject(projectId: ProjectId): Promise<void>
  /** The passages that match the query best, best first. */
  search(projectId: ProjectId, question: string, limit: number): Promise<PassageHit[]>
  /**
   * Resolves when word search can find the files that `addStored` queued for the project in this process.
   * @returns the names of those that were still being read when the signal was aborted.
   */
  whenFound(projectId: ProjectId, signal: AbortSignal): Promise<string[]>
  /** Queues the documents that an earlier process left unread, and follows files that changed without this process. */
  start(): Promise<void>
  stop(): Promise<void>
}

interface UploadedDocument {
  name: string
  mime: string
  encoding?: string | null
  content: Readable
  isCut(): boolean
}

/** The dependencies of the knowledge base. */
export interface KnowledgeOptions {
  documents: DocumentRepository
  /** Stores uploads until they are read. Created if missing. */
  folder: string
  /** Each user's storage. A claim throws `quota_exceeded`, and holds until the document's size is stored. */
  storage: {
    claim(userId: UserId, holder: string, bytes: number): Promise<void>
    release(holder: string): void
  }
  /** Without it, search uses only words. */
  vectors?: VectorSearch | undefined
  /** Opens the folder of a project, for documents that are its files. */
  openFolder: FileFollowerOptions['openFolder']
  /** Called when a document of the project was read or removed, because search results change. */
  onChange: (projectId: ProjectId) => void
  /** Decides which instance reads a document; absent in a single process. */
  claims?: WorkClaims | undefined
  log: { warn(details: object, message: string): void }
}

/** The caller has checked that the project belongs to the user. */
export function createKnowledge({
  documents,
  folder,
  storage,
  vectors,
  openFolder,
  onChange,
  claims = SOLE_WORKER,
  log,
}: KnowledgeOptions): Knowledge {
  const ingest = createIngest({ documents, folder, vectors, onChange, claims, log })
  const follower = createFileFollower({ documents, ingest, openFolder, remove, log })

  /** Settles when the unfinished uploads of earlier processes are found. */
  let started: Promise<void> = Promise.resolve()

  /** Files that are becoming documents, by project and content or path. */
  const adding = new Map<string, Promise<DocumentRow>>()

  /** @throws AppError `documents_exhausted`. */
  async function assertRoom(projectId: ProjectId): Promise<void> {
    if ((await documents.count(projectId)) >= MAX_DOCUMENTS)
      throw appError('documents_exhausted', { limit: MAX_DOCUMENTS })
  }

  async function remove(projectId: ProjectId, id: string): Promise<boolean> {
    const found = await documents.find(projectId, id)
    if (found === undefined) return false
    ingest.cancel(found)
    const removed = await documents.remove(projectId, id)
    onChange(projectId)
    return removed
  }

  async function addFile(
    { userId, projectId }: { userId: UserId; projectId: ProjectId },
    path: string,
  ): Promise<DocumentRow> {
    await started.catch(() => undefined)
    const known = (await documents.ofFiles(projectId)).find((one) => one.path === path)
    if (known !== undefined && known.status !== 'failed') return known
    const content = await openFolder(userId, projectId).read(path)
    if (known === undefined) await assertRoom(projectId)
    // Without a version until the content is stored, so that the next start reads the file if this process ends before.
    const document =
      known ??
      (await documents.create(
        { projectId, userId, name: cleanName(path), mime: '', size: 0 },
        { path, version: null },
      ))
    try {
      await follower.read(document, content)
    } catch (error) {
      if (known === undefined) await documents.remove(projectId, document.id)
      throw error
    }
    return (await documents.find(projectId, document.id)) ?? document
  }

  /** Like `Knowledge.add`. `isStored` files are already counted in the quota, and searches wait for them. */
  async function add(
    { userId, projectId }: { userId: UserId; projectId: ProjectId },
    file: UploadedDocument,
    isStored = false,
  ): Promise<DocumentRow> {
    // Waits for `start`, which removes the partial uploads of earlier processes and must not mistake this one for one of
    // them. The caller of `start` reports its failure.
    await started.catch(() => undefined)
    if ((await documents.count(projectId)) >= MAX_DOCUMENTS) {
      file.content.resume()
      throw appError('documents_exhausted', { limit: MAX_DOCUMENTS })
    }
    const name = cleanName(file.name)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const document = await documents.create({
      projectId,
      userId,
      name,
      mime: file.mime.slice(0, 200),
      size: 0,
      encoding: file.encoding ?? null,
    })
    const path = ingest.fileOf(document)
    let size = 0
    let sha256: string | null = null
    const hash = createHash('sha256')
    try {
      file.content.on('data', (chunk: Buffer) => {
        size += chunk.length
        hash.update(chunk)
      })
      // Written under a temporary name, so that a crash never leaves a partial file under the final one.
      await pipeline(file.content, createWriteStream(`${path}.part`, { mode: 0o600 }))
      sha256 = hash.digest('hex')
      // One document counts with the file that it was made from.
      if (!isStored || (await documents.hasContent(userId, sha256)))
        await storage.claim(userId, document.id, size)
      // Stored before the file is complete, so that a crash never leaves bytes that are not counted.
      await documents.resize(document.id, size, sha256)
      await rename(`${path}.part`, path)
    } catch (error) {
      await documents.remove(projectId, document.id)
      for (const left of [`${path}.part`, path]) await rm(left, { force: true })
      throw error
    } finally {
      storage.release(document.id)
    }
    const stored = { ...document, size, sha256 }
    if (!file.isCut()) {
      ingest.add(stored, isStored)
      return stored
    }
    const failure = storedFailure('document_too_large')
    await documents.fail(stored, failure)
    await rm(path, { force: true })
    return { ...stored, status: 'failed', error: failure.message, failure }
  }

  return {
    list: documents.list,
    find: documents.find,
    passagesOf: documents.passagesOf,
    ofFiles: documents.ofFiles,
    add,
    remove,
    filesChanged: follower.filesChanged,
    addFile(target, path) {
      const key = `${target.projectId} ${path}`
      const pending = adding.get(key) ?? addFile(target, path).finally(() => adding.delete(key))
      adding.set(key, pending)
      return pending
    },
    addStored(target, { sha256, open, ...file }) {
      const key = `${target.projectId} ${sha256}`
      const addOnce = async (): Promise<DocumentRow> =>
        (await documents.findSame(target.projectId, sha256)) ??
        add(target, { ...file, content: await open(), isCut: () => false }, true)
      const pending = adding.get(key) ?? addOnce().finally(() => adding.delete(key))
      adding.set(key, pending)
      return pending
    },
    async readAs(projectId, id, label) {
      const encoding = encodingNamed(label)
      if (encoding === null) throw appError('encoding_unknown', { encoding: label.slice(0, 40) })
      const found = await documents.find(projectId, id)
      if (found === undefined) throw appError('document_not_found')
      const isStored = await access(ingest.fileOf(found)).then(
        () => true,
        () => false,
      )
      const document = isStored
        ? await documents.chooseEncoding(projectId, id, encoding)
        : undefined
      if (document === undefined) throw appError('document_encoding_fixed', { name: found.name })
      onChange(projectId)
      await ingest.readAgain(document)
      return document
    },
    async readFileAs(userId, sha256, encoding) {
      for (const { projectId, id } of await documents.ofFile(userId, sha256)) {
        const document = await documents.chooseEncoding(projectId, id, encoding)
        if (document === undefined) continue
        onChange(projectId)
        await ingest.readAgain(document)
      }
    },
    whenFound: ingest.whenFound,
    async search(projectId, question, limit) {
      const [byWords, near] = await Promise.all([
        searchPassages(documents, projectId, question, limit),
        vectors?.nearest(projectId, question, limit) ?? [],
      ])
      return (await mergeByRank(documents, projectId, byWords, near)).slice(0, limit)
    },
    async start() {
      started = ingest.start()
      await started
      void vectors?.catchUp()
      follower.start()
    },
    async stop() {
      vectors?.stop()
      await follower.stop()
      await ingest.stop()
    },

    async addPassages({ userId, projectId }, { name, mime, path, passages }) {
      await assertRoom(projectId)
      const size = passages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
      const document = await documents.create(
        { projectId, userId, name: cleanName(name), mime, size: 0 },
        path === undefined ? null : { path, version: null },
      )
      try {
        await storage.claim(userId, document.id, size)
        await documents.resize(document.id, size)
        await ingest.addPassages(document, passages)
      } catch (error) {
        await documents.remove(projectId, document.id)
        throw error
      } finally {
        storage.release(document.id)
      }
    },

    async removeProject(projectId) {
      for (;;) {
        const { items } = await documents.list(projectId, { limit: 100 })
        for (const document of items) ingest.cancel(document)
        for (const { id } of items) await documents.remove(projectId, id)
        if (items.length === 0) return
      }
    },
  }
}

/** The last part of a path, without control characters. */
function cleanName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? ''
  const clean = last.replace(/\p{Cc}/gu, '').trim()
  return clean === '' ? 'document' : clean.slice(0, MAX_NAME_CHARACTERS)
}
