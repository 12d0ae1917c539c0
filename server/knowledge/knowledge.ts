// The documents of projects: upload, background reading, search, citation, removal.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { DocumentRepository, DocumentRow } from '../db/repositories/projects/documents.ts'
import type { FoundPassage } from '../db/repositories/projects/passage-search.ts'
import { appError } from '../errors.ts'
import { encodingNamed } from '../lib/encodings.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import { queryWords } from '../lib/words.ts'
import { SOLE_WORKER, type WorkClaims } from '../lib/work-claims.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { createFileFollower, type FileFollower, type FileFollowerOptions } from './follow-files.ts'
import { createIngest, type Ingest } from './ingest.ts'
import type { Reranking } from './rerank.ts'
import type { VectorSearch } from './vector-search.ts'

// Finds the passages that match a query: the full-text index proposes candidates, and their share of the query's words ranks
// them.

/** A passage that the search found. */
interface PassageHit {
  id: number
  document: string
  documentId: string
  heading: string | null
  page: number | null
  /** Position in the document, from 0. */
  position: number
  text: string
  /**
   * Only comparable within one search. 0 to 1, or the reranker's, on a scale of its own; null for a passage that a reranker
   * was to rank and did not.
   */
  score: number | null
}

/** A passage with the score of the search itself. */
type RankedHit = PassageHit & { score: number }

/** Minimum number of candidates; bounded, so that the cost does not grow with the project. */
const MIN_CANDIDATES = 40

/** Returns the best passages first: by the share of the query's words in the passage or its heading, and by how rare those are. */
export async function searchPassages(
  documents: DocumentRepository,
  projectId: ProjectId,
  question: string,
  limit: number,
): Promise<RankedHit[]> {
  const words = queryWords(question)
  if (words.length === 0) return []
  const candidates = Math.max(MIN_CANDIDATES, limit)
  const found = await documents.search(projectId, words, candidates)
  const best = found.reduce((most, { score }) => Math.max(most, score), 0)
  return found
    .map((passage) => toHit(passage, coverage(passage, words), best))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
}

function coverage(
  passage: FoundPassage,
  wanted: readonly { word: string; prefix: boolean }[],
): number {
  const contained = new Set(passage.tokens.split(' '))
  const hits = wanted.filter(({ word, prefix }) =>
    prefix ? [...contained].some((token) => token.startsWith(word)) : contained.has(word),
  )
  return hits.length / wanted.length
}

const toHit = (passage: FoundPassage, share: number, best: number): RankedHit => ({
  id: passage.id,
  document: passage.document,
  documentId: passage.documentId,
  heading: passage.heading,
  page: passage.page,
  position: passage.position,
  text: passage.text,
  score: Math.round((0.7 * share + 0.3 * (best > 0 ? passage.score / best : 0)) * 1000) / 1000,
})

/** The usual constant of reciprocal rank fusion: a higher one reduces the advantage of top ranks. */
const RANK_CONSTANT = 60

/**
 * Merges two rankings: by words, and by meaning (`near`: ids, nearest first). Passages that rank high in both come first.
 * Those found by meaning only are fetched.
 */
export async function mergeByRank(
  documents: Pick<DocumentRepository, 'passages'>,
  projectId: ProjectId,
  byWords: readonly RankedHit[],
  near: readonly number[],
): Promise<RankedHit[]> {
  if (near.length === 0) return [...byWords]
  const known = new Map(byWords.map((hit) => [hit.id, hit]))
  const missing = near.filter((id) => !known.has(id))
  for (const passage of await documents.passages(projectId, missing))
    known.set(passage.id, toHit({ ...passage, tokens: '', score: 0 }, 0, 0))
  const points = new Map<number, number>()
  for (const list of [byWords.map(({ id }) => id), near])
    for (const [index, id] of list.entries())
      points.set(id, (points.get(id) ?? 0) + 1 / (RANK_CONSTANT + index))
  const most = 2 / RANK_CONSTANT
  return [...known.values()]
    .map((hit) => ({
      ...hit,
      score: Math.round(((points.get(hit.id) ?? 0) / most) * 1000) / 1000,
    }))
    .sort((a, b) => b.score - a.score)
}

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
  /** The passages that match the query best, best first. @param by.userId who asks, and pays for the query. */
  search(
    by: { userId: UserId; projectId: ProjectId },
    question: string,
    limit: number,
  ): Promise<PassageHit[]>
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
  /** Without it, found passages keep the order of the search. */
  reranking?: Reranking | undefined
  /** Opens the folder of a project, for documents that are its files. */
  openFolder: FileFollowerOptions['openFolder']
  /** Called when a document of the project was read or removed, because search results change. */
  onChange: (projectId: ProjectId) => void
  /** Decides which instance reads a document; absent in a single process. */
  claims?: WorkClaims | undefined
  log: { warn(details: object, message: string): void }
}

/** The options with the parts of the knowledge base. */
type Library = KnowledgeOptions & {
  ingest: Ingest
  follower: FileFollower
  /** Settles when the unfinished uploads of earlier processes are found. */
  started: Promise<void>
}

/** The caller has checked that the project belongs to the user. */
export function createKnowledge(options: KnowledgeOptions): Knowledge {
  const parts = knowledgeParts(options)
  return {
    ...documentsOfProjects(options, parts),
    ...searchAndFollow(options, parts),
  }
}

/** What reads documents, and follows the files of projects. */
function knowledgeParts(options: KnowledgeOptions) {
  const { documents, folder, vectors, openFolder, onChange, log } = options
  const { claims = SOLE_WORKER } = options
  const ingest = createIngest({ documents, folder, vectors, onChange, claims, log })
  const follower = createFileFollower({ documents, ingest, openFolder, remove, log })

  async function remove(projectId: ProjectId, id: string): Promise<boolean> {
    const found = await documents.find(projectId, id)
    if (found === undefined) return false
    ingest.cancel(found)
    const removed = await documents.remove(projectId, id)
    onChange(projectId)
    return removed
  }

  const library: Library = { ...options, ingest, follower, started: Promise.resolve() }

  return { ingest, follower, remove, library }
}

type KnowledgeParts = ReturnType<typeof knowledgeParts>

/** Documents as they come and go. */
function documentsOfProjects(
  options: KnowledgeOptions,
  { ingest, remove, library }: KnowledgeParts,
): Pick<
  Knowledge,
  | 'list'
  | 'find'
  | 'passagesOf'
  | 'ofFiles'
  | 'add'
  | 'remove'
  | 'addFile'
  | 'addStored'
  | 'readAs'
  | 'readFileAs'
  | 'addPassages'
  | 'removeProject'
> {
  const { documents, storage, onChange } = options

  /** Files that are becoming documents, by project and content or path. */
  const adding = new Map<string, Promise<DocumentRow>>()
  return {
    list: documents.list,
    find: documents.find,
    passagesOf: documents.passagesOf,
    ofFiles: documents.ofFiles,
    add: (target, file) => add(library, target, file),
    remove,
    addFile(target, path) {
      const key = `${target.projectId} ${path}`
      const pending =
        adding.get(key) ?? addFile(library, target, path).finally(() => adding.delete(key))
      adding.set(key, pending)
      return pending
    },
    addStored(target, { sha256, open, ...file }) {
      const key = `${target.projectId} ${sha256}`
      const addOnce = async (): Promise<DocumentRow> =>
        (await documents.findSame(target.projectId, sha256)) ??
        add(library, target, { ...file, content: await open(), isCut: () => false }, true)
      const pending = adding.get(key) ?? addOnce().finally(() => adding.delete(key))
      adding.set(key, pending)
      return pending
    },
    async readAs(projectId, id, label) {
      const encoding = encodingNamed(label)
      if (encoding === null) throw appError('encoding_unknown', { encoding: label.slice(0, 40) })
      const found = await documents.find(projectId, id)
      if (found === undefined) throw appError('document_not_found')
      const isStored = (await unlessMissing(access(ingest.fileOf(found)))) !== null
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

    async addPassages({ userId, projectId }, { name, mime, path, passages }) {
      await assertRoom(library, projectId)
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

/** The search in documents, and the work in the background. */
function searchAndFollow(
  options: KnowledgeOptions,
  { ingest, follower, library }: KnowledgeParts,
): Pick<Knowledge, 'filesChanged' | 'whenFound' | 'search' | 'start' | 'stop'> {
  const { documents, vectors, reranking } = options
  return {
    filesChanged: follower.filesChanged,
    whenFound: ingest.whenFound,
    async search({ userId, projectId }, question, limit) {
      const wanted = Math.max(limit, reranking?.candidates ?? 0)
      const [byWords, near] = await Promise.all([
        searchPassages(documents, projectId, question, wanted),
        vectors?.nearest({ userId, projectId }, question, wanted) ?? [],
      ])
      const merged = await mergeByRank(documents, projectId, byWords, near)
      if (reranking === undefined) return merged.slice(0, limit)
      return reranking.order({ userId, question, limit }, merged)
    },
    async start() {
      library.started = ingest.start()
      await library.started
      void vectors?.catchUp()
      follower.start()
    },
    async stop() {
      vectors?.stop()
      await follower.stop()
      await ingest.stop()
    },
  }
}

/** @throws AppError `documents_exhausted`. */
async function assertRoom({ documents }: Library, projectId: ProjectId): Promise<void> {
  if ((await documents.count(projectId)) >= MAX_DOCUMENTS)
    throw appError('documents_exhausted', { limit: MAX_DOCUMENTS })
}

async function addFile(
  library: Library,
  { userId, projectId }: { userId: UserId; projectId: ProjectId },
  path: string,
): Promise<DocumentRow> {
  const { documents, openFolder, follower } = library
  await library.started.catch(() => undefined)
  const known = (await documents.ofFiles(projectId)).find((one) => one.path === path)
  if (known !== undefined && known.status !== 'failed') return known
  const content = await openFolder(userId, projectId).read(path)
  if (known === undefined) await assertRoom(library, projectId)
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
  library: Library,
  { userId, projectId }: { userId: UserId; projectId: ProjectId },
  file: UploadedDocument,
  isStored = false,
): Promise<DocumentRow> {
  const { documents, folder, ingest, storage } = library
  // Waits for `start`, which removes the partial uploads of earlier processes and must not mistake this one for one of
  // them. The caller of `start` reports its failure.
  await library.started.catch(() => undefined)
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

/** The last part of a path, without control characters. */
function cleanName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? ''
  const clean = last.replace(/\p{Cc}/gu, '').trim()
  return clean === '' ? 'document' : clean.slice(0, MAX_NAME_CHARACTERS)
}
