// Finds passages by meaning: vectors are created when documents are read, and later for those where that failed.
import type { DocumentRepository, DocumentRow } from '../db/repositories/documents.ts'
import type { VectorRepository } from '../db/repositories/vectors.ts'
import { errorText } from '../errors.ts'
import type { ProjectId } from '../protocol/ids.ts'
import type { Embedder, Embedding } from './embeddings.ts'

/** Passages in one request: parsing its response takes some milliseconds. */
const EMBED_AT_ONCE = 24
const QUESTION_MS = 5_000
/** Similarity below this is chance. */
const LEAST_SIMILARITY = 0.2
/** Delay before missing vectors are tried again after the endpoint failed. */
const TRY_AGAIN_MS = 5 * 60_000

export interface VectorSearch {
  /** Creates the vectors of a document's passages. Never throws: without them it is found by its words alone. */
  index(document: Pick<DocumentRow, 'id' | 'projectId'>, signal: AbortSignal): Promise<void>
  /** Ids of the passages nearest to the query, nearest first; none when the endpoint does not respond. */
  nearest(projectId: ProjectId, question: string, limit: number): Promise<number[]>
  /** Creates missing vectors: of another model, from before there was an endpoint, or cut off by a crash. */
  catchUp(): Promise<void>
  stop(): void
}

export function createVectorSearch(parts: {
  documents: Pick<DocumentRepository, 'passagesOf'>
  vectors: VectorRepository
  embedder: Embedder
  log: { warn(details: object, message: string): void }
}): VectorSearch {
  const { documents, vectors, embedder, log } = parts
  const stopped = new AbortController()
  let again: NodeJS.Timeout | undefined

  /** False when the endpoint or the store failed. */
  async function index(
    { id, projectId }: Pick<DocumentRow, 'id' | 'projectId'>,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      for (let from = 0; ; from += EMBED_AT_ONCE) {
        const passages = await documents.passagesOf(projectId, id, from, EMBED_AT_ONCE)
        if (passages.length === 0 || signal.aborted) return true
        const texts = passages.map(({ heading, text }) => `${heading ?? ''}\n${text}`.trim())
        const found = await embedder.embed(texts, signal)
        await vectors.put(
          passages.map((passage, at) => ({
            passageId: passage.id,
            projectId,
            model: embedder.model,
            vector: toBytes(found[at] ?? []),
          })),
        )
      }
    } catch (error) {
      if (signal.aborted) return true
      log.warn({ document: id, cause: errorText(error) }, 'a document is found by words only')
      return false
    }
  }

  function tryAgainLater(): void {
    if (again !== undefined || stopped.signal.aborted) return
    again = setTimeout(() => {
      again = undefined
      void catchUp()
    }, TRY_AGAIN_MS)
    again.unref()
  }

  async function catchUp(): Promise<void> {
    try {
      await vectors.handToPgvector(embedder.model)
      for (const document of await vectors.documentsWithout(embedder.model)) {
        if (stopped.signal.aborted) return
        if (!(await index(document, stopped.signal))) return tryAgainLater()
      }
    } catch (error) {
      if (stopped.signal.aborted) return
      log.warn({ cause: errorText(error) }, 'documents without vectors were not looked up')
      tryAgainLater()
    }
  }

  return {
    async index(document, signal) {
      if (!(await index(document, AbortSignal.any([signal, stopped.signal])))) tryAgainLater()
    },
    catchUp,
    stop() {
      clearTimeout(again)
      stopped.abort()
    },

    async nearest(projectId, question, limit) {
      try {
        const [asked] = await embedder.embed([question], AbortSignal.timeout(QUESTION_MS))
        const wanted = toBytes(asked ?? [])
        if (wanted.every((value) => value === 0)) return []
        const { near, complete } = await vectors.nearest(projectId, embedder.model, wanted, limit)
        if (!complete)
          log.warn(
            { project: projectId },
            'not every passage was compared by meaning in time; install pgvector, which compares them inside the database',
          )
        return near
          .filter(({ similarity }) => similarity >= LEAST_SIMILARITY)
          .map(({ passageId }) => passageId)
      } catch (error) {
        log.warn({ cause: errorText(error) }, 'a question was asked by words only')
        return []
      }
    },
  }
}

/** One signed byte per dimension. */
function toBytes(vector: Embedding): Buffer {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  return Buffer.from(
    Int8Array.from(vector, (value) => (largest === 0 ? 0 : Math.round((value / largest) * 127))),
  )
}
