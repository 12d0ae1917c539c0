// Parses what a person typed into the search field.
import { phraseWords, type QueryWord, queryWords } from '../lib/words.ts'

/** A quoted phrase: these words, one directly after the other. */
export type Phrase = readonly QueryWord[]

/** A parsed search text. */
export type SearchQuery = {
  /** The distinct words to find, including those of phrases. */
  words: QueryWord[]
  phrases: Phrase[]
  /** Groups of excluded words: a text must not contain all words of a group. */
  without: QueryWord[][]
  /** Excluded phrases. */
  withoutPhrases: Phrase[]
  /** Project names after `in:`. */
  projects: string[]
  /** Tags after `tag:`. A conversation must have all of them. */
  tags: string[]
  /** `by:me` */
  isMine: boolean
  /** `has:file` */
  hasFile: boolean
}

/** The quotes of the page's languages. Any of them begins or ends a phrase, because keyboards differ from books. */
const QUOTES = '"“”„«»「」'
const PART = new RegExp(
  `(-?)(?:(in|tag|by|has):)?(?:[${QUOTES}]([^${QUOTES}]*)[${QUOTES}]?|([^\\s${QUOTES}]+))`,
  'giu',
)
/** Words of a query that are used. Finding the texts with most words of a longer list would take too long. */
const MAX_WORDS = 8
const MAX_EXCLUDED = 8

/**
 * Unquoted words, `"quoted phrases"`, `-excluded` words or phrases, `in:project`, `tag:name`, `by:me`, `has:file`. Anything else
 * is read as words; no input is an error.
 */
export function parseQuery(text: string): SearchQuery {
  const query: SearchQuery = {
    words: [],
    phrases: [],
    without: [],
    withoutPhrases: [],
    projects: [],
    tags: [],
    isMine: false,
    hasFile: false,
  }
  const plain: string[] = []
  /** Whether the text ends in a word that may still be typed. */
  let isOpen = false
  for (const [whole, minus, filter, quoted, bare] of text.matchAll(PART)) {
    const value = quoted ?? bare ?? ''
    const name = filter?.toLowerCase()
    if (minus === '' && name === 'in' && value !== '') query.projects.push(value)
    else if (minus === '' && name === 'tag' && value !== '') query.tags.push(value)
    else if (minus === '' && name === 'by' && value.toLowerCase() === 'me') query.isMine = true
    else if (minus === '' && name === 'has' && value.toLowerCase() === 'file') query.hasFile = true
    else if (minus === '-')
      exclude(query, filter === undefined ? value : whole, quoted !== undefined)
    else if (quoted !== undefined && filter === undefined) {
      const phrase = phraseWords(quoted).slice(0, MAX_WORDS)
      if (phrase.length > 0) query.phrases.push(phrase)
    } else plain.push(whole)
    isOpen = plain.at(-1) === whole && text.endsWith(whole)
  }
  const words = queryWords(plain.join(' ')).map(({ isOpen: isLast = false, ...word }) =>
    isLast && isOpen ? { ...word, isOpen } : word,
  )
  const all = [...query.phrases.flat(), ...words]
  const distinct = new Map(all.map((word) => [word.word, word]))
  query.words = [...distinct.values()].slice(0, MAX_WORDS)
  return query
}

function exclude(query: SearchQuery, text: string, isQuoted: boolean): void {
  const words = phraseWords(text).slice(0, MAX_WORDS)
  if (words.length === 0 || query.without.length + query.withoutPhrases.length >= MAX_EXCLUDED)
    return
  // A text may contain the words but not the phrase, so phrases are compared with the text.
  if (isQuoted && words.length > 1) query.withoutPhrases.push(words)
  else query.without.push(words)
}
