// Querying the full-text index of passages: the one query that is written separately for each database.
import { type SQL, sql } from 'drizzle-orm'
import type { Dialect } from './database.ts'
import type { Tables } from './tables.ts'

/** The parts of a query that finds passages by their words. */
export type PassageMatch = {
  /** The full-text index, to be joined to `passages` with `on`. */
  index: SQL
  on: SQL
  where: SQL
  /** Larger is better. */
  score: SQL<number>
}

/** Maximum number of words in a query; more would cost time without finding better passages. */
const MAX_WORDS = 64

/** A word, or the prefix of one. */
export type SearchTerm = string | { word: string; prefix: boolean }

/**
 * How to find passages that contain all of the words, or at least one of them. Words may be any text: nothing in them
 * is an operator. Returns null when there is no word.
 */
export function matchPassages(
  dialect: Dialect,
  { passages }: Tables,
  words: readonly SearchTerm[],
  needed: 'all' | 'any' = 'any',
): PassageMatch | null {
  const terms = new Map<string, boolean>()
  for (const one of words.slice(0, MAX_WORDS)) {
    const { word, prefix } = typeof one === 'string' ? { word: one, prefix: false } : one
    const plain = word.replaceAll(/["'\0\\]/g, ' ').trim()
    if (/[\p{L}\p{N}]/u.test(plain)) terms.set(plain, prefix)
  }
  if (terms.size === 0) return null
  if (dialect === 'sqlite') {
    const ftsQuery = [...terms]
      .map(([word, prefix]) => `"${word}"${prefix ? '*' : ''}`)
      .join(needed === 'all' ? ' AND ' : ' OR ')
    return {
      index: sql`passages_index`,
      on: sql`passages_index.rowid = ${passages.id}`,
      where: sql`passages_index match ${ftsQuery}`,
      score: sql<number>`-bm25(passages_index)`.mapWith(Number),
    }
  }
  const question = [...terms]
    .map(([word, prefix]) => `'${word}'${prefix ? ':*' : ''}`)
    .join(needed === 'all' ? ' & ' : ' | ')
  return {
    index: sql`to_tsquery('simple', ${question}) as question`,
    on: sql`${passages}.tokens_index @@ question`,
    where: sql`true`,
    score: sql<number>`ts_rank(${passages}.tokens_index, question, 1)`.mapWith(Number),
  }
}
