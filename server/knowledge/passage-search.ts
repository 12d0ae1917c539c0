// Finds the passages that answer a query: the full-text index proposes, the share of the query's words in them decides.
import type { DocumentRepository, FoundPassage } from '../db/repositories/documents.ts'
import { queryWords } from '../lib/words.ts'
import type { ProjectId } from '../protocol/ids.ts'

export interface PassageHit {
  id: number
  document: string
  documentId: string
  heading: string | null
  page: number | null
  /** Position in the document, from 0. */
  position: number
  text: string
  /** 0 to 1; only comparable within one search. */
  score: number
}

/** Candidates per wanted passage; bounded, so that the cost does not grow with the project. */
const PROPOSED = 40

/**
 * The best passages first. The two databases rank differently (only one knows how rare a word is), so candidates are
 * ranked here: by the share of the query's words in the passage or its heading, then by the index's own rank.
 */
export async function searchPassages(
  documents: DocumentRepository,
  projectId: ProjectId,
  question: string,
  limit: number,
): Promise<PassageHit[]> {
  const words = queryWords(question)
  if (words.length === 0) return []
  const proposed = Math.max(PROPOSED, limit)
  const whole = await documents.search(projectId, words, proposed, 'all')
  const found =
    whole.length >= limit ? whole : await documents.search(projectId, words, proposed, 'any')
  const best = found.reduce((most, { score }) => Math.max(most, score), 0)
  return found
    .map((passage) => toHit(passage, coverage(passage, words), best))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
}

function coverage(
  passage: FoundPassage,
  asked: readonly { word: string; prefix: boolean }[],
): number {
  const held = new Set(passage.tokens.split(' '))
  const hits = asked.filter(({ word, prefix }) =>
    prefix ? [...held].some((one) => one.startsWith(word)) : held.has(word),
  )
  return hits.length / asked.length
}

const toHit = (passage: FoundPassage, share: number, best: number): PassageHit => ({
  id: passage.id,
  document: passage.document,
  documentId: passage.documentId,
  heading: passage.heading,
  page: passage.page,
  position: passage.position,
  text: passage.text,
  score: Math.round((0.7 * share + 0.3 * (best > 0 ? passage.score / best : 0)) * 1000) / 1000,
})

/** How much less the second place of a list counts than the first (reciprocal rank fusion, with its usual constant). */
const RANK_SOFTNESS = 60

/**
 * Merges two rankings: by words, and by meaning (`near`: ids, nearest first). What ranks high in both comes first.
 * Passages that only the second one has are fetched.
 */
export async function mergeByRank(
  documents: Pick<DocumentRepository, 'passages'>,
  projectId: ProjectId,
  byWords: readonly PassageHit[],
  near: readonly number[],
): Promise<PassageHit[]> {
  if (near.length === 0) return [...byWords]
  const known = new Map(byWords.map((hit) => [hit.id, hit]))
  const missing = near.filter((id) => !known.has(id))
  for (const passage of await documents.passages(projectId, missing))
    known.set(passage.id, toHit({ ...passage, tokens: '', score: 0 }, 0, 0))
  const points = new Map<number, number>()
  for (const list of [byWords.map(({ id }) => id), near])
    for (const [at, id] of list.entries())
      points.set(id, (points.get(id) ?? 0) + 1 / (RANK_SOFTNESS + at))
  const most = 2 / RANK_SOFTNESS
  return [...known.values()]
    .map((hit) => ({
      ...hit,
      score: Math.round(((points.get(hit.id) ?? 0) / most) * 1000) / 1000,
    }))
    .sort((a, b) => b.score - a.score)
}
