// Reads uploaded documents in the background, a few at a time; unfinished ones are read after the next start.
import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type {
  DocumentRepository,
  DocumentRow,
  NewPassage,
} from '../db/repositories/projects/documents.ts'
import { passageTokens } from '../db/repositories/search/passage-words.ts'
import { errorText } from '../errors.ts'
import { untilAborted } from '../lib/abort.ts'
import { createFairQueue, type FairQueue } from '../lib/fair-queue.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import { SOLE_WORKER, type WorkClaims } from '../lib/work-claims.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { ProjectId } from '../protocol/ids.ts'
import { extractPassages } from './extract.ts'
import type { Passage } from './passage.ts'
import type { VectorSearch } from './vector-search.ts'

/** Documents that are read at once, of all users and of one: a user with many never delays the first of another. */
const MAX_CONCURRENT_DOCUMENTS = 3
const MAX_OF_ONE_USER = 2
/** How often an instance looks for documents that instances that have ended left unread. */
const LOOK_EVERY_MS = 30_000
/** Age at which a partial upload that nothing was written to is not another instance's upload in progress any more. */
const ABANDONED_MS = 24 * 60 * 60_000
/** How often a document is read whose upload or whose place in the database cannot be reached, and the time between. */
const MAX_ATTEMPTS = 5
const RETRY_AFTER_MS = 15_000
/** Passages indexed before yielding to the event loop: about 2 ms. */
const PASSAGES_PER_SLICE = 10

/** What names the stored bytes of a document. */
type Content = Pick<DocumentRow, 'id' | 'path' | 'sha256'>

/** Reads documents in the background, a few at a time. */
export interface Ingest {
  /** Queues a stored document; returns at once. `isAwaited`: `whenFound` waits for it. */
  add(document: DocumentRow, isAwaited?: boolean): void
  /** Like `add`, for a document that is ready or failed: ends what is still being done for it. */
  readAgain(document: DocumentRow): Promise<void>
  /**
   * Resolves when word search can find the awaited documents of a project. Returns the names of those that were left when
   * the signal was aborted.
   */
  whenFound(projectId: ProjectId, signal: AbortSignal): Promise<string[]>
  /** Indexes the passages of a document that does not have to be read. */
  addPassages(document: DocumentRow, passages: readonly Passage[]): Promise<void>
  /** Stops reading a deleted document and removes its upload. */
  cancel(document: Content): void
  /** Stops reading a document here whose content is being replaced. Resolves when nothing more of the old one is stored. */
  interrupt(id: string): Promise<void>
  /** Stores the bytes of a document that is a file of its project. */
  store(document: Content, bytes: Uint8Array): Promise<void>
  /** Removes the stored bytes, unless the document still has this content and it may be read again. */
  discard(document: Content & Pick<DocumentRow, 'projectId'>): Promise<void>
  /** Queues the documents that an earlier process left unfinished. */
  start(): Promise<void>
  /** Aborts reading; documents that are not finished stay pending. */
  stop(): Promise<void>
  /** Path of the uploaded bytes until the document is read; of a text that may be read in another encoding, also later. */
  fileOf(document: Content): string
}

/** The dependencies of the ingestion of documents. */
export interface IngestOptions {
  documents: DocumentRepository
  /** An existing folder that no other server uses. */
  folder: string
  vectors: VectorSearch | undefined
  /** Called when search can find new passages. */
  onChange: (projectId: ProjectId) => void
  /** Decides which instance reads a document; absent in a single process. */
  claims?: WorkClaims
  /** Milliseconds until a document is read again that could not be reached. */
  retryAfterMs?: number
  log: { warn(details: object, message: string): void }
}

/** What is being read, and what searches wait for. */
interface Ingestion extends IngestOptions {
  claims: WorkClaims
  queue: FairQueue
  /** By document. */
  running: Map<string, { controller: AbortController; task: Promise<void> }>
  /** Documents that searches wait for, by id. */
  awaited: Map<string, { document: DocumentRow; found: Promise<void>; onFound: () => void }>
  stopped: boolean
}

/** Call `start` once. Documents that `stop` leaves unfinished are read after the next start. */
export function createIngest(options: IngestOptions): Ingest {
  const { documents, folder, vectors, onChange, claims = SOLE_WORKER, log } = options
  const running: Ingestion['running'] = new Map()
  const awaited: Ingestion['awaited'] = new Map()
  let timer: NodeJS.Timeout | undefined
  /** Partial files that are being written. */
  const writing = new Set<string>()

  const ingest: Ingestion = {
    ...options,
    claims,
    queue: createFairQueue({ size: MAX_CONCURRENT_DOCUMENTS, perOwner: MAX_OF_ONE_USER }),
    running,
    awaited,
    stopped: false,
  }

  return {
    add: (document, isAwaited) => add(ingest, document, isAwaited),
    async readAgain(document) {
      await interrupt(ingest, document.id)
      add(ingest, document)
    },
    fileOf: (document) => fileOf(ingest, document),
    async whenFound(projectId, signal) {
      const ofProject = () =>
        [...awaited.values()].filter(({ document }) => document.projectId === projectId)
      const all = Promise.all(ofProject().map(({ found }) => found))
      // An abort is not a failure: the remaining names are returned.
      await untilAborted(all, signal).catch(() => undefined)
      return ofProject().map(({ document }) => document.name)
    },
    async addPassages(document, passages) {
      const { signal } = new AbortController()
      if (!(await documents.index(document, await withWords(document.name, passages, signal))))
        return
      onChange(document.projectId)
      await vectors?.index(document, signal)
    },
    cancel(document) {
      running.get(document.id)?.controller.abort()
      void rm(fileOf(ingest, document), { force: true }).catch(() => undefined)
    },
    interrupt: (id) => interrupt(ingest, id),
    async store(document, bytes) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // Written under a temporary name, so that a crash never leaves a partial file under the final one.
      const partial = `${fileOf(ingest, document)}.${randomUUID()}.part`
      writing.add(partial)
      try {
        await writeFile(partial, bytes, { mode: 0o600 })
        await rename(partial, fileOf(ingest, document))
      } catch (error) {
        await rm(partial, { force: true })
        throw error
      } finally {
        writing.delete(partial)
      }
    },
    discard: (document) => discard(ingest, document),
    async start() {
      // Removes partial uploads of a process that died. Without other instances, only the owner of the store uses this
      // folder, and `knowledge.ts` adds no upload until this loop has ended, so only files of projects can be in progress.
      for (const name of (await unlessMissing(readdir(folder))) ?? []) {
        if (!name.endsWith('.part')) continue
        const path = join(folder, name)
        if (writing.has(path)) continue
        if (!claims.isShared || (await isAbandoned(path))) await rm(path, { force: true })
      }
      for (const document of await documents.pending()) add(ingest, document)
      if (!claims.isShared || ingest.stopped) return
      // Other instances may end before they have read their documents.
      timer = setInterval(() => {
        documents
          .pending()
          .then((pending) => {
            for (const document of pending) add(ingest, document)
          })
          .catch((error: unknown) =>
            log.warn({ cause: errorText(error) }, 'waiting documents could not be listed'),
          )
      }, LOOK_EVERY_MS).unref()
    },
    async stop() {
      ingest.stopped = true
      clearInterval(timer)
      for (const { controller } of running.values()) controller.abort()
      await Promise.all([...running.values()].map(({ task }) => task))
    },
  }
}

// Each content of a file of a project has its own name: an instance that still reads the last one never removes the next one.
const fileOf = ({ folder }: Ingestion, { id, path, sha256 }: Content): string =>
  join(folder, path === null || sha256 === null ? id : `${id}.${sha256}`)

const settle = ({ awaited }: Ingestion, id: string): void => {
  const one = awaited.get(id)
  awaited.delete(id)
  one?.onFound()
}

const discard = async (
  ingest: Ingestion,
  document: Content & Pick<DocumentRow, 'projectId'>,
): Promise<void> => {
  const { documents } = ingest
  const now = await documents.find(document.projectId, document.id)
  const isNeeded =
    now !== undefined &&
    fileOf(ingest, now) === fileOf(ingest, document) &&
    (now.status === 'pending' || now.encoding !== null)
  if (!isNeeded) await rm(fileOf(ingest, document), { force: true })
}

const read = async (
  ingest: Ingestion,
  document: DocumentRow,
  signal: AbortSignal,
): Promise<void> => {
  const { documents, onChange, vectors, log } = ingest
  const bytes = await unlessMissing(readFile(fileOf(ingest, document)))
  if (bytes === null) {
    await documents.fail(document, storedFailure('document_lost'))
    return
  }
  const { encoding: chosen } = document
  const extraction = await extractPassages(document.name, bytes, { signal, encoding: chosen })
  if (signal.aborted) return
  // The file is kept while another encoding can be chosen for it.
  let encoding = chosen
  if (extraction.ok) {
    encoding = isCertain(extraction.encoding, bytes) ? null : extraction.encoding
    const stored = await documents.index(
      document,
      await withWords(document.name, extraction.passages, signal),
      { failure: extraction.failure, encoding },
    )
    if (!stored) {
      // Deleted or replaced while it was being read.
      await discard(ingest, document)
      return
    }
    onChange(document.projectId)
    settle(ingest, document.id)
    if (vectors !== undefined) {
      await vectors.index(document, signal)
      onChange(document.projectId)
    }
  } else {
    await documents.fail(document, extraction.failure)
    if (extraction.internal !== undefined)
      log.warn(
        { document: document.id, cause: extraction.internal },
        'a document could not be read',
      )
  }
  if (!signal.aborted && encoding === null) await rm(fileOf(ingest, document), { force: true })
}

/**
 * Resolves to false if the document should be read again later: what fails here is not the document, but its storage or the
 * database. It stays pending until the last attempt, so that the next start reads it, and its upload stays also afterwards.
 */
const perform = async (
  ingest: Ingestion,
  document: DocumentRow,
  { signal }: AbortController,
  isLast: boolean,
): Promise<boolean> => {
  const { claims, log, documents } = ingest
  const work = `document:${document.id}`
  try {
    if (signal.aborted || !(await claims.claim(work))) return true
    await read(ingest, document, signal)
    await claims.finish(work)
    return true
  } catch (error) {
    if (signal.aborted) return true
    log.warn({ document: document.id, cause: errorText(error) }, 'a document could not be indexed')
    if (isLast)
      await documents
        .fail(document, storedFailure('document_not_indexed'))
        .catch((cause: unknown) =>
          log.warn(
            { document: document.id, cause: errorText(cause) },
            'the failure of a document could not be stored; the next start reads it',
          ),
        )
    await claims.finish(work)
    return isLast
  }
}

const add = (ingest: Ingestion, document: DocumentRow, isAwaited = false): void => {
  const { running, awaited, queue, retryAfterMs = RETRY_AFTER_MS } = ingest
  if (ingest.stopped || running.has(document.id)) return
  if (isAwaited) {
    let onFound = (): void => {}
    const found = new Promise<void>((resolve) => {
      onFound = resolve
    })
    awaited.set(document.id, { document, found, onFound })
  }
  const controller = new AbortController()
  const work = async (): Promise<void> => {
    for (let attempt = 1; !controller.signal.aborted; attempt += 1) {
      const isLast = attempt >= MAX_ATTEMPTS
      const isDone = await queue.run(document.userId, () =>
        perform(ingest, document, controller, isLast),
      )
      if (isDone) return
      // Ends early when the document is removed or the server stops.
      await delay(retryAfterMs, undefined, { signal: controller.signal, ref: false }).catch(
        () => undefined,
      )
    }
  }
  const task = work().finally(() => {
    running.delete(document.id)
    settle(ingest, document.id)
  })
  running.set(document.id, { controller, task })
}

const interrupt = async ({ running }: Ingestion, id: string): Promise<void> => {
  const reading = running.get(id)
  reading?.controller.abort()
  await reading?.task
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await unlessMissing(stat(path))
  return found !== null && Date.now() - found.mtimeMs > ABANDONED_MS
}

/** Whether the bytes can be read in no other encoding; null is the encoding of what is no plain text. */
const isCertain = (encoding: string | null, bytes: Uint8Array): boolean =>
  encoding === null || (encoding === 'utf-8' && isUtf8(bytes))

/**
 * Adds the index words to each passage and yields to the event loop in between. The first passage also gets the words of
 * the name.
 */
async function withWords(
  name: string,
  passages: readonly Passage[],
  signal: AbortSignal,
): Promise<NewPassage[]> {
  const indexed: NewPassage[] = []
  for (const [index, passage] of passages.entries()) {
    if (index % PASSAGES_PER_SLICE === 0) await new Promise((resolve) => setImmediate(resolve))
    signal.throwIfAborted()
    // A PDF may contain NUL characters, which PostgreSQL cannot store.
    const text = passage.text.replaceAll('\0', '')
    const heading = passage.heading?.replaceAll('\0', '') ?? null
    const tokens = passageTokens({ name, position: index, heading, text })
    indexed.push({ ...passage, text, heading, tokens })
  }
  return indexed
}
