// How rows of the search index are numbered, and the two dialects of its queries.
import { createHash } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { indexWords, type QueryWord } from '../lib/words.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Dialect } from './database.ts'

/**
 * What a row of the index holds, in the order of their numbers: the text of a message without steps, a text step, a tool
 * call or its result, an attachment.
 */
export const SEARCH_KINDS = ['text', 'step', 'tool', 'file'] as const
export type SearchKind = (typeof SEARCH_KINDS)[number]

/** One indexed part of a text. Positions are those of steps and attachments within their message. */
export type SearchPlace = { messageRow: number; kind: SearchKind; position: number; part: number }

const PARTS = 16
const POSITIONS = 16_384
const PER_KIND = PARTS * POSITIONS
const PER_MESSAGE = PER_KIND * SEARCH_KINDS.length

/** Code points of a part, and of what two neighbours share, so that a word on the border is whole in one of them. */
const PART_LENGTH = 20_000
const PART_OVERLAP = 200
/** Later text of a message, step or attachment is not searched. */
const MAX_PARTS = 12

/** The number of an indexed part. Titles have negative numbers. */
export const toRowid = ({ messageRow, kind, position, part }: SearchPlace): number =>
  messageRow * PER_MESSAGE + SEARCH_KINDS.indexOf(kind) * PER_KIND + position * PARTS + part

export function toPlace(rowid: number): SearchPlace {
  const within = rowid % PER_MESSAGE
  return {
    messageRow: Math.floor(rowid / PER_MESSAGE),
    kind: SEARCH_KINDS[Math.floor(within / PER_KIND)] ?? 'text',
    position: Math.floor((within % PER_KIND) / PARTS),
    part: within % PARTS,
  }
}

/** The number of a text's first part and of the last that it may have; null for a text too far back to be indexed. */
export const rowidRange = (place: Omit<SearchPlace, 'part'>): [number, number] | null =>
  place.position >= POSITIONS
    ? null
    : [toRowid({ ...place, part: 0 }), toRowid({ ...place, part: PARTS - 1 })]

/** `messages.row` of an entry, and its place in `SEARCH_KINDS`. */
export const messageRowOf = (rowid: SQL): SQL => sql`${rowid} / ${sql.raw(String(PER_MESSAGE))}`
export const kindOf = (rowid: SQL): SQL =>
  sql`${rowid} % ${sql.raw(String(PER_MESSAGE))} / ${sql.raw(String(PER_KIND))}`

/** The parts of a text that are indexed one by one. */
export function partsOf(text: string): string[] {
  if (text.length <= PART_LENGTH) return [text]
  const points = Array.from(text.slice(0, MAX_PARTS * PART_LENGTH * 2))
  const parts: string[] = []
  for (let from = 0; from < points.length && parts.length < MAX_PARTS; from += PART_STEP)
    parts.push(points.slice(from, from + PART_LENGTH).join(''))
  return parts
}
const PART_STEP = PART_LENGTH - PART_OVERLAP

/** A part read back from a column. Databases count characters as code points, from 1. */
export const partOf = (text: SQL, part: number): SQL<string> =>
  sql<string>`substr(${text}, ${sql.raw(String(part * PART_STEP + 1))}, ${sql.raw(String(PART_LENGTH))})`

/** Escapes of JSON become blanks, so that the words of arguments and results are found; places stay the same. */
export const plainJson = (json: string): string =>
  json.replaceAll(/\\(?:u[0-9a-fA-F]{4}|.)/g, (sign) => ' '.repeat(sign.length))

/**
 * A word that stands for the owner in each of their entries, so that a query never touches those of others. People can't
 * type it: it begins with a private character.
 */
const ownerWord = (userId: UserId): string =>
  `\u{E000}${createHash('sha256').update(userId).digest('hex').slice(0, 8)}`

/** A text as it is stored in the index. */
export function toIndexedWords(dialect: Dialect, userId: UserId, text: string): SQL | string {
  const words = [...new Set([ownerWord(userId), ...indexWords(text)])]
  if (dialect === 'sqlite') return words.join(' ')
  // Words are letters and digits only: nothing in them has to be escaped.
  return sql`cast(${words.map((word) => `'${word}'`).join(' ')} as tsvector)`
}

/** What a text has to contain. */
export type WantedWords = {
  /** At least `needed` of these. */
  words: readonly QueryWord[]
  needed: number
  /** Not all words of any of these groups. */
  without: readonly (readonly QueryWord[])[]
}

/** The condition that an entry belongs to a user and contains the wanted words. */
export function matchWords(dialect: Dialect, userId: UserId, wanted: WantedWords): SQL {
  const isSqlite = dialect === 'sqlite'
  const [and, or] = isSqlite ? [' AND ', ' OR '] : [' & ', ' | ']
  const term = ({ word, prefix }: QueryWord): string =>
    isSqlite ? `"${word}"${prefix ? '*' : ''}` : `'${word}'${prefix ? ':*' : ''}`
  const positive = [term({ word: ownerWord(userId), prefix: false })]
  if (wanted.needed > 0) positive.push(atLeast(wanted.needed, wanted.words.map(term), and, or))
  const negative = wanted.without.map((group) => `(${group.map(term).join(and)})`).join(or)
  const question =
    negative === ''
      ? positive.join(and)
      : isSqlite
        ? `(${positive.join(and)}) NOT (${negative})`
        : `${positive.join(and)} & !(${negative})`
  return isSqlite
    ? sql`search_words match ${question}`
    : sql`search_words.words @@ cast(${question} as tsquery)`
}

/** At least `count` of the terms. Neither database has such an operator. */
function atLeast(count: number, terms: readonly string[], and: string, or: string): string {
  if (count >= terms.length) return `(${terms.join(and)})`
  if (count === 1) return `(${terms.join(or)})`
  const [first, ...rest] = terms
  return `((${first}${and}${atLeast(count - 1, rest, and, or)})${or}${atLeast(count, rest, and, or)})`
}
