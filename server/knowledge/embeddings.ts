// Requests embeddings of texts from an OpenAI-compatible endpoint.
import { z } from 'zod'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import { estimateTokens } from '../protocol/models/token-estimate.ts'

/** The model that computes embeddings. */
export interface EmbeddingSettings {
  /** The base URL of the API, or the full `…/embeddings` URL. */
  apiUrl: string
  apiKey: string | undefined
  model: string
}

/** The vector of a text. */
export type Embedding = readonly number[]

/** Computes embeddings. */
export interface Embedder {
  /** The model's name. Vectors of different models cannot be compared. */
  readonly model: string
  /**
   * Returns one vector per text, in order, and the tokens used. Throws, with a message for the log, if the endpoint fails.
   * @param dimensions the length of the vectors; undefined: that of the model.
   */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
    dimensions?: number,
  ): Promise<{ vectors: Embedding[]; tokens: number }>
}

const TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 20_000_000

const EmbeddingsResponse = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1) })),
  usage: z
    .object({ prompt_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
})

/** Each call sends one request and does not retry. */
export function createEmbedder(settings: EmbeddingSettings, fetch: GuardedFetch): Embedder {
  const base = settings.apiUrl.replace(/\/+$/, '')
  const url = base.endsWith('/embeddings') ? base : `${base}/embeddings`
  return {
    model: settings.model,
    async embed(texts, signal, dimensions) {
      const response = await fetch(url, {
        method: 'POST',
        trusted: true,
        signal,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_RESPONSE_BYTES,
        headers: {
          'content-type': 'application/json',
          ...(settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` }),
        },
        body: JSON.stringify({ model: settings.model, input: texts, dimensions }),
      })
      if (!response.ok) throw new Error(`embeddings: ${response.error}`)
      if (response.status !== 200) throw new Error(`embeddings: status ${response.status}`)
      const body: unknown = JSON.parse(new TextDecoder().decode(response.body))
      const { data, usage } = EmbeddingsResponse.parse(body)
      const found = new Map(data.map(({ index, embedding }) => [index, embedding]))
      const vectors = texts.map((_text, index) => {
        const vector = found.get(index)
        if (vector === undefined)
          throw new Error('embeddings: the response has no vector for a text')
        return vector
      })
      const estimate = (): number => texts.reduce((sum, text) => sum + estimateTokens(text), 0)
      // Some endpoints report 0 for everything.
      return {
        vectors,
        tokens: usage == null || usage.prompt_tokens === 0 ? estimate() : usage.prompt_tokens,
      }
    },
  }
}
