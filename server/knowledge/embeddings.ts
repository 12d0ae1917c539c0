// Requests embeddings of texts from an OpenAI-compatible endpoint.
import { z } from 'zod'
import type { GuardedFetch } from '../net/guarded-fetch.ts'

export interface EmbeddingSettings {
  /** The API base, or the full `…/embeddings` URL. */
  apiUrl: string
  apiKey: string | undefined
  model: string
}

export type Embedding = readonly number[]

export interface Embedder {
  /** Vectors of different models cannot be compared. */
  readonly model: string
  /** One vector per text, in order. Throws, with a text for the log, when the endpoint does not return them. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embedding[]>
}

const TIMEOUT_MS = 30_000
const MAX_ANSWER = 20_000_000

const Answer = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1) })),
})

export function createEmbedder(settings: EmbeddingSettings, fetch: GuardedFetch): Embedder {
  const base = settings.apiUrl.replace(/\/+$/, '')
  const url = base.endsWith('/embeddings') ? base : `${base}/embeddings`
  return {
    model: settings.model,
    async embed(texts, signal) {
      const answer = await fetch(url, {
        method: 'POST',
        trusted: true,
        signal,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER,
        headers: {
          'content-type': 'application/json',
          ...(settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` }),
        },
        body: JSON.stringify({ model: settings.model, input: texts }),
      })
      if (!answer.ok) throw new Error(`embeddings: ${answer.error}`)
      if (answer.status !== 200) throw new Error(`embeddings: status ${answer.status}`)
      const { data } = Answer.parse(JSON.parse(new TextDecoder().decode(answer.body)))
      const vectors = new Map(data.map(({ index, embedding }) => [index, embedding]))
      return texts.map((_text, index) => {
        const vector = vectors.get(index)
        if (vector === undefined) throw new Error('embeddings: a text has no vector')
        return vector
      })
    },
  }
}
