// The query language of the full-text index of passages, which differs between the databases.
import type { ProjectId } from '../protocol/ids.ts'
import type { Dialect } from './database.ts'
import { projectWord } from './search-entries.ts'

/** Maximum number of words in a query; more would cost time without finding better passages. */
const MAX_WORDS = 64

/** A word, or the prefix of one. */
export type SearchTerm = string | { word: string; prefix: boolean }
/** One that the index can be asked for. */
export interface Term {
  word: string
  prefix: boolean
}

/** The words that can be found. They may be any text: nothing in them is an operator. */
export function passageTerms(words: readonly SearchTerm[]): Term[] {
  const terms = new Map<string, Term>()
  for (const one of words.slice(0, MAX_WORDS)) {
    const { word, prefix } = typeof one === 'string' ? { word: one, prefix: false } : one
    const plain = word.replaceAll(/["'\0\\]/g, ' ').trim()
    if (/[\p{L}\p{N}]/u.test(plain)) terms.set(plain, { word: plain, prefix })
  }
  return [...terms.values()]
}

/** The query for one word on PostgreSQL. */
export const matchTerm = ({ word, prefix }: Term): string => `'${word}'${prefix ? ':*' : ''}`

/** The query for passages of a project: with all words of `all`, and at least one of `some` unless it is empty. */
export function matchPassages(
  dialect: Dialect,
  projectId: ProjectId,
  all: readonly Term[],
  some: readonly Term[] = [],
): string {
  const isSqlite = dialect === 'sqlite'
  const [and, or] = isSqlite ? [' AND ', ' OR '] : [' & ', ' | ']
  const written = (term: Term): string =>
    isSqlite ? `"${term.word}"${term.prefix ? '*' : ''}` : matchTerm(term)
  return [
    written({ word: projectWord(projectId), prefix: false }),
    ...all.map(written),
    ...(some.length === 0 ? [] : [`(${some.map(written).join(or)})`]),
  ].join(and)
}
