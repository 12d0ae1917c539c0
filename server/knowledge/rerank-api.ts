// Requests the relevance of texts for a question from a reranker: in the form of Cohere, Jina and vLLM, or in that of TEI.
import { z } from 'zod'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import { estimateTokens } from '../protocol/models/token-estimate.ts'

/** The model that orders passages. */
export interface RerankSettings {
  /** The base URL of the API, or the full `…/rerank` URL. */
  apiUrl: string
  apiKey: string | undefined
  model: string
  /** Maximum number of texts of a request. */
  candidates: number
  /** `tei`: Text Embeddings Inference. */
  form: 'cohere' | 'tei'
}

/** The score of the text at this place of the request; a higher one is more relevant. */
export interface TextScore {
  index: number
  score: number
}

/** Scores texts. */
export interface RerankApi {
  readonly model: string
  /** The tokens that scoring these texts probably takes. */
  estimate(question: string, texts: readonly string[]): number
  /**
   * Returns the scores of the texts, highest first; not of those that the response does not score properly. `tokens` is what the
   * service reports, or the estimate. Throws, with a message for the log, if the service fails or takes longer than two seconds.
   * @param wanted how many texts the caller needs.
   */
  score(
    question: string,
    texts: readonly string[],
    wanted: number,
  ): Promise<{ scores: TextScore[]; tokens: number }>
}

const TIMEOUT_MS = 2_000
/** Some services repeat the texts. Parsing this much takes a few milliseconds. */
const MAX_RESPONSE_BYTES = 2_000_000
/** Entries that are looked at: more than texts of a request, since some may be useless. */
const MAX_ENTRIES = 1_000

const CohereResponse = z.object({
  results: z.array(z.unknown()),
  // Jina and vLLM report `usage`, Cohere `meta`.
  usage: z
    .object({ total_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
  meta: z
    .object({ tokens: z.object({ input_tokens: z.int().min(0) }) })
    .nullish()
    .catch(null),
})
const TeiResponse = z.array(z.unknown())

const CohereEntry = z
  .object({ index: z.int(), relevance_score: z.number() })
  .transform(({ index, relevance_score: score }) => ({ index, score }))
const TeiEntry = z.object({ index: z.int(), score: z.number() })

/** Each call sends one request and does not retry. */
export function createRerankApi(settings: RerankSettings, fetch: GuardedFetch): RerankApi {
  const { model, apiKey, form } = settings
  const base = settings.apiUrl.replace(/\/+$/, '')
  const url = base.endsWith('/rerank') ? base : `${base}/rerank`
  // A reranker reads the question with each text.
  const estimate = (question: string, texts: readonly string[]): number =>
    texts.reduce((sum, text) => sum + estimateTokens(text), 0) +
    texts.length * estimateTokens(question)
  return {
    model,
    estimate,
    async score(question, texts, wanted) {
      const response = await fetch(url, {
        method: 'POST',
        trusted: true,
        signal: new AbortController().signal,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_RESPONSE_BYTES,
        headers: {
          'content-type': 'application/json',
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(
          form === 'tei'
            ? { query: question, texts }
            : { model, query: question, documents: texts, top_n: wanted },
        ),
      })
      if (!response.ok) throw new Error(`rerank: ${response.error}`)
      if (response.status !== 200) throw new Error(`rerank: status ${response.status}`)
      if (response.truncated)
        throw new Error(`rerank: the response has more than ${MAX_RESPONSE_BYTES} bytes`)
      const { entries, tokens } = readResponse(response.body, form)
      // Some services report 0 for everything.
      return { scores: usable(entries, texts.length), tokens: tokens || estimate(question, texts) }
    },
  }
}

/** Its errors quote nothing of the response, which could repeat the key. */
function readResponse(
  bytes: Uint8Array,
  form: RerankSettings['form'],
): { entries: (TextScore | undefined)[]; tokens: number } {
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new Error('rerank: the response is not JSON')
  }
  if (form === 'tei') {
    const read = TeiResponse.safeParse(body)
    if (!read.success) throw new Error('rerank: the response is not a list of scores')
    return {
      entries: read.data.slice(0, MAX_ENTRIES).map((e) => TeiEntry.safeParse(e).data),
      tokens: 0,
    }
  }
  const read = CohereResponse.safeParse(body)
  if (!read.success) throw new Error('rerank: the response has no list of results')
  const { results, usage, meta } = read.data
  return {
    entries: results.slice(0, MAX_ENTRIES).map((entry) => CohereEntry.safeParse(entry).data),
    tokens: usage?.total_tokens ?? meta?.tokens.input_tokens ?? 0,
  }
}

/** The scores that belong to one of `count` texts, the first for each, highest first. */
function usable(entries: readonly (TextScore | undefined)[], count: number): TextScore[] {
  const byIndex = new Map<number, TextScore>()
  for (const entry of entries)
    if (entry !== undefined && entry.index >= 0 && entry.index < count && !byIndex.has(entry.index))
      byIndex.set(entry.index, entry)
  return [...byIndex.values()].sort((one, other) => other.score - one.score)
}
