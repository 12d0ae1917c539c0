// Finds the passages that match a query: the full-text index proposes candidates, and their share of the query's words ranks
// them.
import type { DocumentRepository, FoundPassage } from '../db/repositories/projects/documents.ts'
import { queryWords } from '../lib/words.ts'
import type { ProjectId } from '../protocol/ids.ts'

/** A passage that the search found. */
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

/** Minimum number of candidates; bounded, so that the cost does not grow with the project. */
const MIN_CANDIDATES = 40

/**
 * Returns the best passages first. The two databases rank differently (only one knows how rare a word is), so candidates are
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
  const candidates = Math.max(MIN_CANDIDATES, limit)
  const withAllWords = await documents.search(projectId, words, candidates, 'all')
  const found =
    withAllWords.length >= limit
      ? withAllWords
      : await documents.search(projectId, words, candidates, 'any')
  const best = found.reduce((most, { score }) => Math.max(most, score), 0)
  return found
    .map((passage) => toHit(passage, coverage(passage, words), best))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
}

function coverage(
  passage: FoundPassage,
  wanted: readonly { word: string; prefix: boolean }[],
): number {
  const contained = new Set(passage.tokens.split(' '))
  const hits = wanted.filter(({ word, prefix }) =>
    prefix ? [...contained].some((token) => token.startsWith(word)) : contained.has(word),
  )
  return hits.length / wanted.length
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

/** The usual constant of reciprocal rank fusion: a higher one reduces the advantage of top ranks. */
const RANK_CONSTANT = 60

/**
 * Merges two rankings: by words, and by meaning (`near`: ids, nearest first). Passages that rank high in both come first.
 * Those found by meaning only are fetched.
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
      points.set(id, (points.get(id) ?? 0) + 1 / (RANK_CONSTANT + at))
  const most = 2 / RANK_CONSTANT
  return [...known.values()]
    .map((hit) => ({
      ...hit,
      score: Math.round(((points.get(hit.id) ?? 0) / most) * 1000) / 1000,
    }))
    .sort((a, b) => b.score - a.score)
}
