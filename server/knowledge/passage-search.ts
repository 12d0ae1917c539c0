// Finds the passages that answer a question: the full-text index proposes, how much of the question they hold decides.
import type { DocumentRepository, FoundPassage } from '../db/repositories/documents.ts'
import { queryWords } from '../lib/words.ts'
import type { ProjectId } from '../protocol/ids.ts'

export interface PassageHit {
  document: string
  documentId: string
  heading: string | null
  page: number | null
  /** Place in the document, from 0. */
  position: number
  text: string
  /** 0 to 1; only good for comparing hits of one search. */
  score: number
}

/** How many the index proposes for each that is wanted; bounded, so that the price does not grow with the project. */
const PROPOSED = 40

/**
 * The best passages first. Both databases rank a little differently (one knows how rare a word is, one does not), so
 * the order among the proposed is made here: the share of the question's words that stand in the passage or its
 * heading, then the index's own rank.
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
  document: passage.document,
  documentId: passage.documentId,
  heading: passage.heading,
  page: passage.page,
  position: passage.position,
  text: passage.text,
  score: Math.round((0.7 * share + 0.3 * (best > 0 ? passage.score / best : 0)) * 1000) / 1000,
})
