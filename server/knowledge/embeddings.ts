// Requests embeddings of texts from an OpenAI-compatible endpoint.
import { z } from 'zod'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import { openAiClient, serviceBase, serviceFault } from '../net/openai-service.ts'
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
  const { model, apiKey } = settings
  const service = { apiUrl: serviceBase(settings.apiUrl, ['/embeddings']), apiKey }
  const request = async (body: object, signal: AbortSignal): Promise<unknown> => {
    const limits = { signal, timeoutMs: TIMEOUT_MS, maxBytes: MAX_RESPONSE_BYTES }
    const client = await openAiClient(service, fetch, limits)
    try {
      const response = await client.post('/embeddings', { body, signal }).asResponse()
      // Some servers do not say that it is JSON.
      return JSON.parse(await response.text())
    } catch (error) {
      const fault = await serviceFault(error)
      if (fault === null) throw error
      const reason = fault.kind === 'silent' ? fault.message : `status ${fault.status}`
      throw new Error(`embeddings: ${reason}`)
    }
  }
  return {
    model,
    async embed(texts, signal, dimensions) {
      const body = await request({ model, input: texts, dimensions }, signal)
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
