// Entries of the search index: how their row ids encode what they index, and how each database queries them.
import { createHash } from 'node:crypto'
import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import {
  beginningsOf,
  firstCharacters,
  furtherWords,
  indexWords,
  isSpaceless,
  OPEN_LETTERS,
  PART_LETTERS,
  PART_MARK,
  type QueryWord,
  withoutArticle,
} from '../lib/words.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { Dialect } from './database.ts'

/**
 * What an entry holds: the text of a message without steps, a text step, a tool call or its result, an attachment. Row
 * ids contain positions in this list, so its order must not change.
 */
export const SEARCH_KINDS = ['text', 'step', 'tool', 'file'] as const
/** What an entry of the search index is the text of. */
export type SearchKind = (typeof SEARCH_KINDS)[number]

/** What one entry indexes. `position` is that of the step or attachment within its message, `part` counts from 0. */
export type SearchEntry = { messageRow: number; kind: SearchKind; position: number; part: number }

const PARTS = 16
const POSITIONS = 16_384
/** The highest position of a step or attachment that can be indexed. */
export const LAST_POSITION = POSITIONS - 1
const PER_KIND = PARTS * POSITIONS
/**
 * Attachments have fewer positions and more parts than steps. The excess of a part's number over `PARTS` is encoded above
 * the position, so that the entries of short texts are the same for all kinds.
 */
const FILE_POSITIONS = 256
const PER_FILE_PARTS = PARTS * FILE_POSITIONS
const MAX_FILE_PARTS = PER_KIND / FILE_POSITIONS
/** The number of row ids of a message; they start at its row times this. */
export const ENTRIES_PER_MESSAGE = PER_KIND * SEARCH_KINDS.length

/** Code points per part, and shared by two adjacent parts, so that a word at the boundary is complete in one of them. */
const PART_LENGTH = 20_000
const PART_OVERLAP = 200
/** Parts of one text that are indexed with it; of attachments, those that follow are indexed in the background. */
export const MAX_PARTS = 12

/** The row id of an entry. The entries of titles have negative row ids. */
export const toRowid = ({ messageRow, kind, position, part }: SearchEntry): number =>
  messageRow * ENTRIES_PER_MESSAGE +
  SEARCH_KINDS.indexOf(kind) * PER_KIND +
  Math.floor(part / PARTS) * PER_FILE_PARTS +
  position * PARTS +
  (part % PARTS)

/** The inverse of the numbering: what the row of the index belongs to. */
export function toSearchEntry(rowid: number): SearchEntry {
  const within = rowid % ENTRIES_PER_MESSAGE
  const kind = SEARCH_KINDS[Math.floor(within / PER_KIND)] ?? 'text'
  const place = within % PER_KIND
  const more = kind === 'file' ? Math.floor(place / PER_FILE_PARTS) : 0
  return {
    messageRow: Math.floor(rowid / ENTRIES_PER_MESSAGE),
    kind,
    position: Math.floor((place - more * PER_FILE_PARTS) / PARTS),
    part: more * PARTS + (place % PARTS),
  }
}

/** The first and last row id that the parts of a text may have; null when its position is too high to be indexed. */
export const rowidRange = (entry: Omit<SearchEntry, 'part'>): [number, number] | null =>
  entry.position > (entry.kind === 'file' ? FILE_POSITIONS - 1 : LAST_POSITION)
    ? null
    : [toRowid({ ...entry, part: 0 }), toRowid({ ...entry, part: PARTS - 1 })]

/** `messages.row` of an entry. */
export const messageRowOf = (rowid: SQL): SQL =>
  sql`${rowid} / ${sql.raw(String(ENTRIES_PER_MESSAGE))}`
/** The index of an entry's kind in `SEARCH_KINDS`. */
export const kindOf = (rowid: SQL): SQL =>
  sql`(${rowid} % ${sql.raw(String(ENTRIES_PER_MESSAGE))} / ${sql.raw(String(PER_KIND))})`
/** The position of an entry's step. */
export const positionOf = (rowid: SQL): SQL =>
  sql`(${rowid} % ${sql.raw(String(PER_KIND))} / ${sql.raw(String(PARTS))})`
/** The position of an entry's attachment. */
export const filePositionOf = (rowid: SQL): SQL =>
  sql`(${rowid} % ${sql.raw(String(PER_FILE_PARTS))} / ${sql.raw(String(PARTS))})`
/** Which part of its text an entry is. */
export const partNumberOf = (rowid: SQL): SQL => sql`(${rowid} % ${sql.raw(String(PARTS))})`
/** Which part of its attachment an entry is. */
export const filePartNumberOf = (rowid: SQL): SQL =>
  sql`(${partNumberOf(rowid)} + ${rowid} % ${sql.raw(String(PER_KIND))} / ${sql.raw(String(PER_FILE_PARTS))} * ${sql.raw(String(PARTS))})`

/** The parts of a text, each of which becomes an entry. */
export function partsOf(text: string): string[] {
  if (text.length <= PART_LENGTH) return [text]
  const points = Array.from(text.slice(0, MAX_PARTS * PART_LENGTH * 2))
  const parts: string[] = []
  for (let from = 0; from < points.length && parts.length < MAX_PARTS; from += PART_STEP)
    parts.push(points.slice(from, from + PART_LENGTH).join(''))
  return parts
}
const PART_STEP = PART_LENGTH - PART_OVERLAP

/** Whether an attachment has text after the parts that are indexed with it; also true for a few that have none. */
export const hasMoreParts = (text: string): boolean => text.length >= MAX_PARTS * PART_STEP
/** The part after one of an attachment; null when it was the last. */
export const partAfter = (part: number, text: string): number | null =>
  part + 1 < MAX_FILE_PARTS && Array.from(text).length === PART_LENGTH ? part + 1 : null

/** A part read back from a column. Databases count characters as code points, from 1. */
export const partOf = (text: SQL, part: SQL): SQL<string> =>
  sql<string>`substr(${text}, cast(${part} * ${sql.raw(String(PART_STEP))} + 1 as integer), ${sql.raw(String(PART_LENGTH))})`
/** The text before a part. */
export const textBefore = (text: SQL, part: number): SQL<string> =>
  sql<string>`substr(${text}, 1, ${sql.raw(String(part * PART_STEP))})`

/** JSON with escape sequences replaced by as many spaces: words are found, and positions remain the same. */
export const withoutEscapes = (json: string): string =>
  json.replaceAll(/\\(?:u[0-9a-fA-F]{4}|.)/g, (sign) => ' '.repeat(sign.length))

/**
 * A word that stands for the owner and is part of each of their entries, so that a query does not visit other users'
 * entries. Nobody can type it: it begins with a private-use character.
 */
function ownerWord(userId: UserId): string {
  const known = ownerWords.get(userId)
  if (known !== undefined) return known
  const word = `${OWNER_MARK}${createHash('sha256').update(userId).digest('hex').slice(0, 8)}`
  ownerWords.set(userId, word)
  return word
}
const OWNER_MARK = '\u{E000}'
/** Owner words of recent writers: every send needs its owner's three times. */
const ownerWords = new LRUCache<UserId, string>({ max: 1_000 })

/** Whether a word of the index stands for an owner. */
export const isOwnerWord = (word: string): boolean => word.startsWith(OWNER_MARK)

/**
 * The words of a text, its single characters of scripts without spaces, the parts of its compounds, and its owner, as the index
 * stores them. Words are letters, digits and emoji: nothing has to be escaped.
 */
export function toIndexedWords(dialect: Dialect, userId: UserId, text: string): string {
  const words = [...wordsToIndex(userId, text)]
  return dialect === 'sqlite' ? words.join(' ') : words.map((word) => `'${word}'`).join(' ')
}

/** The words of `toIndexedWords`. */
export function wordsToIndex(userId: UserId, text: string): Set<string> {
  const found = new Set(indexWords(text))
  return new Set([ownerWord(userId), ...found, ...firstCharacters(found), ...furtherWords(found)])
}

/** These words as a value of the index. */
export const indexedValue = (dialect: Dialect, words: SQL | Placeholder): SQL =>
  dialect === 'sqlite' ? sql`${words}` : sql`cast(${words} as tsvector)`

/** The words that a text must and must not contain. */
export type WordCondition = {
  /** At least `needed` of these. */
  words: readonly QueryWord[]
  needed: number
  /** Groups of excluded words: no group may be contained completely. */
  without: readonly (readonly QueryWord[])[]
  /** Whether a text may also contain the words as parts of compounds, and the last one as the beginning of a word. */
  isWide?: boolean
}

/** The words of the index that a word of a query stands for. */
export const formsOf = ({ word }: QueryWord): string[] => [...new Set([word, withoutArticle(word)])]

/**
 * What the words of the index begin with that a wide search finds, too: the word if it may be incomplete, and the ends of
 * compounds that begin with it, which stand for the compounds that contain it.
 */
export const widerBeginningsOf = ({ typed = '', isOpen = false }: QueryWord): string[] => [
  ...(typed.length >= PART_LETTERS ? [PART_MARK + typed] : []),
  ...(isOpen ? beginningsOf(typed) : []),
]

/** Whether a word of the index can be found by its beginning. */
export const hasBeginning = (word: string): boolean =>
  word.length >= OPEN_LETTERS && !isSpaceless(word)

/**
 * How a single character of a script without spaces is found: as a separate word or, until all older texts are indexed that
 * way, as the beginning of pairs, which takes much longer.
 */
export type CharacterMatch = 'word' | 'beginning'

/** The value for `matchWords`: entries of the user that meet the condition. */
export const wordsToMatch = (
  dialect: Dialect,
  userId: UserId,
  condition: WordCondition & { characters: CharacterMatch },
): string => wordQuery(dialect, condition, condition.characters, [ownerWord(userId)])

/** The SQL condition that an entry has the words of `wordsToMatch`. */
export const matchWords = (dialect: Dialect, words: SQL | Placeholder): SQL =>
  dialect === 'sqlite'
    ? sql`search_words match ${words}`
    : sql`search_words.words @@ cast(${words} as tsquery)`

/**
 * Stands for `PART_MARK` in the words of passages: PostgreSQL splits these itself, and leaves out what is no letter. No text of
 * any language has this letter (it is one of phonetics).
 */
export const PASSAGE_PART_MARK = '\u02AD'

/**
 * The word that stands for a project and is part of the index of each of its passages, so that a search does not visit those of
 * other projects. The migration `project_words` adds it. No text of any language has its first letter (it is one of phonetics).
 */
export const projectWord = (projectId: ProjectId): string =>
  `\u02AC${projectId.replaceAll('-', '')}`

/** The value for `matchPassageWords`; the condition has words to find. Without `projectIds`, passages of all projects meet it. */
export const passageWordsToMatch = (
  dialect: Dialect,
  condition: WordCondition,
  projectIds: readonly ProjectId[],
): string =>
  wordQuery(dialect, condition, 'beginning', projectIds.map(projectWord)).replaceAll(
    PART_MARK,
    PASSAGE_PART_MARK,
  )

/** The SQL condition that a passage has the words of `passageWordsToMatch`. Join `passages_index` on SQLite. */
export const matchPassageWords = (dialect: Dialect, words: SQL | Placeholder): SQL =>
  dialect === 'sqlite'
    ? sql`passages_index match ${words}`
    : sql`(passages.tokens_index || array_to_tsvector(array['\u02AC' || replace(passages.project_id, '-', '')])) @@ to_tsquery('simple', ${words})`

/** A condition in the query language of the database. @param owners one of these words must be contained as well, if there are any. */
function wordQuery(
  dialect: Dialect,
  condition: WordCondition,
  characters: CharacterMatch,
  owners: readonly string[],
): string {
  const isSqlite = dialect === 'sqlite'
  const [and, or] = isSqlite ? [' AND ', ' OR '] : [' & ', ' | ']
  const written = (word: string, isBeginning: boolean): string =>
    isSqlite ? `"${word}"${isBeginning ? '*' : ''}` : `'${word}'${isBeginning ? ':*' : ''}`
  const { isWide = false } = condition
  const term = (queried: QueryWord): string => {
    const isBeginning = queried.prefix && characters === 'beginning'
    const forms = formsOf(queried).map((form) => written(form, isBeginning))
    const beginnings = isWide ? widerBeginningsOf(queried).map((one) => written(one, true)) : []
    const all = [...forms, ...beginnings]
    return all.length === 1 ? all.join('') : `(${all.join(or)})`
  }
  const owned = owners.map((owner) => term({ word: owner, prefix: false })).join(or)
  const positive = owned === '' ? [] : [owners.length === 1 ? owned : `(${owned})`]
  if (condition.needed > 0)
    positive.push(atLeast(condition.needed, condition.words.map(term), and, or))
  const negative = condition.without.map((group) => `(${group.map(term).join(and)})`).join(or)
  if (negative === '') return positive.join(and)
  return isSqlite
    ? `(${positive.join(and)}) NOT (${negative})`
    : `${positive.join(and)} & !(${negative})`
}

/** A query for at least `count` of the terms, written out because neither database has such an operator. */
function atLeast(count: number, terms: readonly string[], and: string, or: string): string {
  if (count >= terms.length) return `(${terms.join(and)})`
  if (count === 1) return `(${terms.join(or)})`
  const [first, ...rest] = terms
  return `((${first}${and}${atLeast(count - 1, rest, and, or)})${or}${atLeast(count, rest, and, or)})`
}
