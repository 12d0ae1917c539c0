// The paid services of the search in documents, as far as they are configured: embeddings, also for programs, and the order of
// what was found.

import type { Database } from '../db/database.ts'
import { createVectorRepository } from '../db/repositories/projects/vectors.ts'
import type { Store } from '../db/store.ts'
import type { AppError } from '../errors.ts'
import type { CallBudgets } from '../lib/reserve-call.ts'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import type { UserId } from '../protocol/ids.ts'
import { createEmbedder, type EmbeddingSettings } from './embeddings.ts'
import { createProgramEmbeddings, type ProgramEmbeddings } from './program-embeddings.ts'
import { createReranking, type Reranking } from './rerank.ts'
import { createRerankApi, type RerankSettings } from './rerank-api.ts'
import { createSearchUsage } from './search-usage.ts'
import { createVectorSearch, type VectorSearch } from './vector-search.ts'

/** For a million tokens; undefined: nothing is known. */
interface Priced {
  price: { currency: string; input: number } | undefined
}

/** What is configured; null: no service. */
interface PaidSearchSettings {
  embeddings: (EmbeddingSettings & Priced) | null
  rerank: (RerankSettings & Priced) | null
  /** Called when the service for the order was asked, with the seconds that it took. */
  onReranked(outcome: 'success' | 'failure', seconds: number): void
}

interface PaidSearchDependencies {
  database: Database
  store: Pick<Store, 'documents' | 'projects' | 'tokenUsage'>
  budgets: CallBudgets<UserId, AppError>
  fetch: GuardedFetch
  log: { warn(details: object, message: string): void }
  now(): Date
}

/** What is undefined has no service. */
export function createPaidSearch(
  { embeddings, rerank, onReranked }: PaidSearchSettings,
  { database, store, budgets, fetch, log, now }: PaidSearchDependencies,
): {
  vectors: VectorSearch | undefined
  programEmbeddings: ProgramEmbeddings | undefined
  reranking: Reranking | undefined
} {
  const usageOf = ({ price }: Priced) => createSearchUsage({ database, store, budgets, price, now })
  return {
    vectors:
      embeddings === null
        ? undefined
        : createVectorSearch({
            documents: store.documents,
            vectors: createVectorRepository(database),
            embedder: createEmbedder(embeddings, fetch),
            usage: usageOf(embeddings),
            log,
          }),
    programEmbeddings:
      embeddings === null
        ? undefined
        : createProgramEmbeddings({
            embedder: createEmbedder(embeddings, fetch),
            usage: usageOf(embeddings),
            log,
          }),
    reranking:
      rerank === null
        ? undefined
        : createReranking({
            candidates: rerank.candidates,
            api: createRerankApi(rerank, fetch),
            onDone: onReranked,
            usage: usageOf(rerank),
            log,
          }),
  }
}
