// Finds passages by meaning: vectors are created when documents are read, and later for those where that failed.
import type { DocumentRepository, DocumentRow } from '../db/repositories/projects/documents.ts'
import type { VectorRepository } from '../db/repositories/projects/vectors.ts'
import { errorText } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { estimateTokens } from '../protocol/models/token-estimate.ts'
import type { Embedder, Embedding } from './embeddings.ts'
import type { Payer, SearchUsage } from './search-usage.ts'

/** Passages per request: parsing its response takes a few milliseconds. */
const EMBED_BATCH_SIZE = 24
const QUERY_TIMEOUT_MS = 5_000
/** A lower similarity is coincidence. */
const MIN_SIMILARITY = 0.2
/** Delay before missing vectors are requested again after a failure. */
const RETRY_DELAY_MS = 5 * 60_000

/** Finds passages by meaning. */
export interface VectorSearch {
  /** Creates the vectors of a document's passages. Never throws: without them, only words find the document. */
  index(document: Pick<DocumentRow, 'id' | 'projectId'>, signal: AbortSignal): Promise<void>
  /**
   * Ids of the passages nearest to the query, nearest first; none when the endpoint does not respond, or the user may not spend
   * any more.
   * @param by.userId who asks, and pays for the query.
   */
  nearest(
    by: { userId: UserId; projectId: ProjectId },
    question: string,
    limit: number,
  ): Promise<number[]>
  /** Creates missing vectors: after a change of the model, after an endpoint was configured, or after a crash. */
  catchUp(): Promise<void>
  stop(): void
}

interface VectorDependencies {
  documents: Pick<DocumentRepository, 'passagesOf'>
  vectors: VectorRepository
  embedder: Embedder
  usage: Pick<SearchUsage, 'admit'>
  log: { warn(details: object, message: string): void }
}

interface VectorState extends VectorDependencies {
  stopped: AbortController
  /** The next attempt after a failure. */
  retryTimer: NodeJS.Timeout | undefined
}

/** The vectors of documents are paid for by who stores the project, those of queries by who asks. */
export function createVectorSearch(dependencies: VectorDependencies): VectorSearch {
  const { vectors, embedder, log } = dependencies
  const search: VectorState = {
    ...dependencies,
    stopped: new AbortController(),
    retryTimer: undefined,
  }

  return {
    async index(document, signal) {
      const outcome = await index(
        search,
        document,
        AbortSignal.any([signal, search.stopped.signal]),
      )
      if (outcome !== 'done') retryLater(search)
    },
    catchUp: () => catchUp(search),
    stop() {
      clearTimeout(search.retryTimer)
      search.stopped.abort()
    },

    async nearest({ userId, projectId }, question, limit) {
      try {
        const found = await embed(
          search,
          { userId },
          [question],
          AbortSignal.timeout(QUERY_TIMEOUT_MS),
        )
        if (found === null) return []
        const [embedding] = found
        const query = toBytes(embedding ?? [])
        if (query.every((value) => value === 0)) return []
        const { near, complete } = await vectors.nearest(projectId, embedder.model, query, limit)
        if (!complete)
          log.warn(
            { project: projectId },
            'vector search ran out of time before comparing all passages; install pgvector, which compares them in the database',
          )
        return near
          .filter(({ similarity }) => similarity >= MIN_SIMILARITY)
          .map(({ passageId }) => passageId)
      } catch (error) {
        log.warn(
          { cause: errorText(error) },
          'vector search failed; the query was answered by words only',
        )
        return []
      }
    },
  }
}

/** Null when the payer may not spend any more. */
async function embed(
  { usage, embedder }: VectorState,
  payer: Payer,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Embedding[] | null> {
  const estimate = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
  const call = await usage.admit(payer, estimate)
  if (call === null) return null
  try {
    const { vectors: found, tokens } = await embedder.embed(texts, signal)
    await call.add(embedder.model, tokens)
    return found
  } finally {
    call.release()
  }
}

/** `refused`: who stores the project may not spend any more now. `failed`: the endpoint or the store did. */
async function index(
  search: VectorState,
  { id, projectId }: Pick<DocumentRow, 'id' | 'projectId'>,
  signal: AbortSignal,
): Promise<'done' | 'refused' | 'failed'> {
  const { documents, vectors, embedder, log } = search
  try {
    for (let from = 0; ; from += EMBED_BATCH_SIZE) {
      const passages = await documents.passagesOf(projectId, id, from, EMBED_BATCH_SIZE)
      if (passages.length === 0 || signal.aborted) return 'done'
      const texts = passages.map(({ heading, text }) => `${heading ?? ''}\n${text}`.trim())
      const found = await embed(search, { storerOf: projectId }, texts, signal)
      if (found === null) return 'refused'
      await vectors.store(
        passages.map((passage, index) => ({
          passageId: passage.id,
          projectId,
          model: embedder.model,
          vector: toBytes(found[index] ?? []),
        })),
      )
    }
  } catch (error) {
    if (signal.aborted) return 'done'
    log.warn(
      { document: id, cause: errorText(error) },
      'vectors of a document could not be created; search finds it by words only',
    )
    return 'failed'
  }
}

function retryLater(search: VectorState): void {
  const { stopped } = search
  if (search.retryTimer !== undefined || stopped.signal.aborted) return
  search.retryTimer = setTimeout(() => {
    search.retryTimer = undefined
    void catchUp(search)
  }, RETRY_DELAY_MS)
  search.retryTimer.unref()
}

async function catchUp(search: VectorState): Promise<void> {
  const { vectors, embedder, stopped, log } = search
  try {
    await vectors.copyToPgvector(embedder.model)
    for (const document of await vectors.documentsWithout(embedder.model)) {
      if (stopped.signal.aborted) return
      const outcome = await index(search, document, stopped.signal)
      if (outcome === 'failed') return retryLater(search)
      // Documents of other users go on.
      if (outcome === 'refused') retryLater(search)
    }
  } catch (error) {
    if (stopped.signal.aborted) return
    log.warn({ cause: errorText(error) }, 'documents without vectors could not be listed')
    retryLater(search)
  }
}

/** Quantizes a vector to one signed byte per dimension. */
function toBytes(vector: Embedding): Buffer {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  return Buffer.from(
    Int8Array.from(vector, (value) => (largest === 0 ? 0 : Math.round((value / largest) * 127))),
  )
}
