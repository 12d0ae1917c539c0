// Embeddings for programs: the configured endpoint with the limits and the statistics of the user.
import { appError, errorText } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'
import { estimateTokens } from '../protocol/models/token-estimate.ts'
import type { Embedder, Embedding } from './embeddings.ts'
import type { SearchUsage } from './search-usage.ts'

/** Texts per request to the endpoint: parsing its response takes a few milliseconds. */
const BATCH_SIZE = 24

/** Computes embeddings for the users of the server. */
export interface ProgramEmbeddings {
  /** The name of the configured model. */
  readonly model: string
  /**
   * One vector per text, in order, and the tokens used, which count for the user.
   * @throws AppError `embeddings_failed`, or the refusal of the user's budget.
   */
  embed(
    userId: UserId,
    texts: readonly string[],
    options: { dimensions: number | undefined; signal: AbortSignal },
  ): Promise<{ vectors: Embedding[]; tokens: number }>
}

/** @param log receives why the endpoint failed. */
export function createProgramEmbeddings({
  embedder,
  usage,
  log,
}: {
  embedder: Embedder
  usage: Pick<SearchUsage, 'admitUser'>
  log: { warn(details: object, message: string): void }
}): ProgramEmbeddings {
  const { model } = embedder
  return {
    model,
    async embed(userId, texts, { dimensions, signal }) {
      const vectors: Embedding[] = []
      let tokens = 0
      for (let from = 0; from < texts.length; from += BATCH_SIZE) {
        const batch = texts.slice(from, from + BATCH_SIZE)
        const estimate = batch.reduce((sum, text) => sum + estimateTokens(text), 0)
        const call = await usage.admitUser(userId, estimate)
        try {
          const found = await embedder.embed(batch, signal, dimensions).catch((error: unknown) => {
            log.warn({ model, cause: errorText(error) }, 'embeddings for a program failed')
            throw appError('embeddings_failed', {})
          })
          await call.add(model, found.tokens)
          vectors.push(...found.vectors)
          tokens += found.tokens
        } finally {
          call.release()
        }
      }
      return { vectors, tokens }
    },
  }
}
