// Search by meaning as configured, with its embedding calls counted and limited like calls of models.
import type { Access } from '../../access/access.ts'
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
import { exceededBudget } from '../../runs/usage/budgets.ts'
import { embeddingSettings } from '../settings.ts'

/** Undefined if no endpoint for embeddings is configured. */
export function vectorSearch({
  config,
  database,
  store,
  access,
  fetch,
  log,
  now,
}: {
  config: Config
  database: Database
  store: Store
  access: Pick<Access, 'spendingLimits'>
  fetch: GuardedFetch
  log: { warn(details: object, message: string): void }
  now(): Date
}): VectorSearch | undefined {
  const settings = embeddingSettings(config)
  if (settings === null) return undefined
  const price = config.embeddings?.price
  const usage: EmbeddingUsage = {
    async isAllowed(projectId) {
      const owner = await store.projects.ownerOf(projectId)
      if (owner === undefined) return false
      return (await exceededBudget(access.spendingLimits(owner), { store, now })) === null
    },
    async add(projectId, model, tokens) {
      const owner = await store.projects.ownerOf(projectId)
      // Deleted meanwhile, with its owner's usage or without.
      if (owner === undefined) return
      const priced =
        price === undefined
          ? { currency: '', cost: 0 }
          : { currency: price.currency, cost: (tokens * price.input) / 1e6 }
      const entry = {
        userId: owner,
        model,
        promptTokens: tokens,
        completionTokens: 0,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        ...priced,
      }
      await database.write((tx) => store.tokenUsage.add(tx, now(), entry))
    },
  }
  return createVectorSearch({
    documents: store.documents,
    vectors: createVectorRepository(database),
    embedder: createEmbedder(settings, fetch),
    usage,
    log,
  })
}
