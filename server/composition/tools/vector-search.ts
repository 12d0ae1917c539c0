// Search by meaning as configured, with embedding calls reserved and counted like model calls.
import type { Config } from '../../config/schema.ts'
import type { Database } from '../../db/database.ts'
import { createVectorRepository } from '../../db/repositories/projects/vectors.ts'
import type { Store } from '../../db/store.ts'
import { createEmbedder } from '../../knowledge/embeddings.ts'
import {
  createVectorSearch,
  type EmbeddingUsage,
  type VectorSearch,
} from '../../knowledge/vector-search.ts'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import type { ProjectId } from '../../protocol/ids.ts'
import type { Amount, Budgets } from '../../runs/usage/budgets.ts'
import { embeddingSettings } from '../settings.ts'

/** Undefined if no endpoint for embeddings is configured. */
export function vectorSearch({
  config,
  database,
  store,
  budgets,
  fetch,
  log,
  now,
}: {
  config: Config
  database: Database
  store: Store
  budgets: Pick<Budgets, 'join'>
  fetch: GuardedFetch
  log: { warn(details: object, message: string): void }
  now(): Date
}): VectorSearch | undefined {
  const settings = embeddingSettings(config)
  if (settings === null) return undefined
  const price = config.embeddings?.price
  const priceOf = (tokens: number): { currency: string; cost: number } =>
    price === undefined
      ? { currency: '', cost: 0 }
      : { currency: price.currency, cost: (tokens * price.input) / 1e6 }
  const usage: EmbeddingUsage = {
    async admit(projectId, estimate) {
      const owner = await store.projects.ownerOf(projectId)
      if (owner === undefined) return null
      let reserved: Amount = { tokens: 0, currency: '', cost: 0 }
      const { admitCall, release } = budgets.join(owner, () => reserved)
      const isAdmitted = await admitCall(() => {
        reserved = { tokens: estimate, ...priceOf(estimate) }
      }).catch((error: unknown) => {
        release()
        throw error
      })
      if (isAdmitted) return { release, add: (model, tokens) => add(projectId, model, tokens) }
      release()
      return null
    },
  }
  async function add(projectId: ProjectId, model: string, tokens: number): Promise<void> {
    const owner = await store.projects.ownerOf(projectId)
    // The project was deleted meanwhile, possibly with its owner.
    if (owner === undefined) return
    const entry = {
      userId: owner,
      model,
      promptTokens: tokens,
      completionTokens: 0,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      ...priceOf(tokens),
    }
    await database.write((tx) => store.tokenUsage.add(tx, now(), entry))
  }
  return createVectorSearch({
    documents: store.documents,
    vectors: createVectorRepository(database),
    embedder: createEmbedder(settings, fetch),
    usage,
    log,
  })
}
