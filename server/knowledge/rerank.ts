// Orders the passages that a search has found by a reranker; when it fails, they keep the order of the search.
import { errorText } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'
import type { RerankApi } from './rerank-api.ts'
import type { SearchUsage } from './search-usage.ts'

/** What a reranker reads of a passage, and replaces. */
interface Rankable {
  heading: string | null
  text: string
  score: number | null
}

/** Orders found passages by a model. */
export interface Reranking {
  /** How many passages a search should find for it. */
  readonly candidates: number
  /**
   * Returns the `limit` best passages with the reranker's scores. Passages without one follow in their order, with the score
   * null. Never throws: when the service fails, or who asks may not spend any more, passages stay as they were.
   */
  order<Passage extends Rankable>(
    search: { userId: UserId; question: string; limit: number },
    passages: readonly Passage[],
  ): Promise<(Passage | (Passage & { score: number | null }))[]>
}

interface RerankDependencies {
  candidates: number
  api: RerankApi
  usage: Pick<SearchUsage, 'admit'>
  /** Called when the service was asked, with the seconds that it took. */
  onDone?(outcome: 'success' | 'failure', seconds: number): void
  log: { warn(details: object, message: string): void }
}

/** Costs are added to the usage of who asks. */
export function createReranking({
  candidates,
  api,
  usage,
  onDone,
  log,
}: RerankDependencies): Reranking {
  /** Null when the user may not spend any more. */
  async function score(userId: UserId, question: string, texts: string[], limit: number) {
    const call = await usage.admit({ userId }, api.estimate(question, texts))
    if (call === null) return null
    const began = performance.now()
    let outcome: 'success' | 'failure' = 'failure'
    try {
      const { scores, tokens } = await api.score(question, texts, Math.min(limit, texts.length))
      if (scores.length > 0) outcome = 'success'
      await call.add(api.model, tokens)
      return scores
    } finally {
      onDone?.(outcome, (performance.now() - began) / 1_000)
      call.release()
    }
  }

  return {
    candidates,
    async order({ userId, question, limit }, passages) {
      const sent = passages.slice(0, candidates)
      if (sent.length === 0) return []
      try {
        const texts = sent.map(({ heading, text }) => `${heading ?? ''}\n${text}`.trim())
        const scores = await score(userId, question, texts, limit)
        if (scores === null) return passages.slice(0, limit)
        if (scores.length === 0) throw new Error('rerank: the response scores none of the texts')
        const ranked = scores.flatMap(({ index, score }) => {
          const passage = sent[index]
          return passage === undefined ? [] : [{ ...passage, score }]
        })
        const scored = new Set(scores.map(({ index }) => index))
        const others = passages
          .filter((_passage, index) => !scored.has(index))
          .map((passage) => ({ ...passage, score: null }))
        return [...ranked, ...others].slice(0, limit)
      } catch (error) {
        log.warn(
          { cause: errorText(error) },
          'reranking failed; the passages found are in the order of the search',
        )
        return passages.slice(0, limit)
      }
    },
  }
}
