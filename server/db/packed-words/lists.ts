// Lists of the entries that contain a word, as bytes: differences of numbers as variable-length integers, in pages.
import { ENTRIES_PER_MESSAGE } from '../search-entries.ts'

/** The number of a pseudo-word that precedes all words: its list contains every entry. */
export const EVERY_ENTRY = 0

/** Four rows of this many bytes fill a page of PostgreSQL, and none is moved out of its table. */
const PAGE_BYTES = 1_980

/** A page of lists, ordered by the numbers of their words. */
export interface ListPage {
  /** The number of the first word. */
  first: number
  data: Buffer
}

/**
 * Maps a word to a number from 1 to 2^40. Among a million words, one in a million shares its number with another; a search
 * for either then finds the entries of both. The multipliers are those of cyrb53 (public domain).
 */
export function wordNumber(word: string): number {
  let low = 0xdeadbeef
  let high = 0x41c6ce57
  for (let index = 0; index < word.length; index += 1) {
    const unit = word.charCodeAt(index)
    low = Math.imul(low ^ unit, 2_654_435_761)
    high = Math.imul(high ^ unit, 1_597_334_677)
  }
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  return (high >>> 24) * 2 ** 32 + (low >>> 0) + 1
}

/** Appends an integer, seven bits per byte, lowest first; it may exceed 2^31. */
function writeNumber(bytes: number[], value: number): void {
  let left = value
  while (left >= 0x80) {
    bytes.push((left % 0x80) + 0x80)
    left = Math.floor(left / 0x80)
  }
  bytes.push(left)
}

/** Reads integers in sequence. */
interface ByteReader {
  readonly data: Buffer
  at: number
}

function readNumber(reader: ByteReader): number {
  let value = 0
  for (let unit = 1; ; unit *= 0x80) {
    const byte = reader.data[reader.at] ?? 0
    reader.at += 1
    if (byte < 0x80) return value + byte * unit
    value += (byte - 0x80) * unit
  }
}

// Kind, position and part of an entry (see `search-entries.ts`), reordered so that the bits that are set most often are
// lowest.
const toPlace = (within: number): number =>
  ((within & 0xf) << 16) | (((within >> 4) & 0x3fff) << 2) | (within >> 18)
const fromPlace = (place: number): number =>
  ((place & 3) << 18) | (((place >> 2) & 0x3fff) << 4) | (place >> 16)

/**
 * Packs distinct row ids of entries in ascending order. @param base the row of the first entry's message, or a lower one.
 */
export function packEntries(rowids: readonly number[], base: number): number[] {
  const bytes: number[] = []
  let last = base
  for (const rowid of rowids) {
    const row = Math.floor(rowid / ENTRIES_PER_MESSAGE)
    const place = toPlace(rowid % ENTRIES_PER_MESSAGE)
    writeNumber(bytes, (row - last) * 2 + (place === 0 ? 0 : 1))
    if (place !== 0) writeNumber(bytes, place)
    last = row
  }
  return bytes
}

/** The inverse of `packEntries`. */
export function unpackEntries(data: Buffer, base: number): number[] {
  const reader = { data, at: 0 }
  const rowids: number[] = []
  let row = base
  while (reader.at < data.length) {
    const step = readNumber(reader)
    row += Math.floor(step / 2)
    rowids.push(row * ENTRIES_PER_MESSAGE + (step % 2 === 0 ? 0 : fromPlace(readNumber(reader))))
  }
  return rowids
}

/** Cuts lists, which arrive in the order of their words' numbers, into pages. */
export function* pagesOf(
  lists: Iterable<readonly [number, readonly number[]]>,
): Generator<ListPage> {
  let page: { first: number; last: number; bytes: number[] } | undefined
  const finished = ({ first, bytes }: NonNullable<typeof page>): ListPage => ({
    first,
    data: Buffer.from(bytes),
  })
  for (const [number, list] of lists) {
    const header: number[] = []
    writeNumber(header, number - (page?.last ?? number))
    writeNumber(header, list.length)
    // A search for a word on the same page as a long list would have to read both.
    const isFull =
      page !== undefined && page.bytes.length + header.length + list.length > PAGE_BYTES
    if (page !== undefined && (isFull || list.length > PAGE_BYTES / 2)) {
      yield finished(page)
      page = undefined
    }
    if (page === undefined) {
      page = { first: number, last: number, bytes: [] }
      writeNumber(page.bytes, 0)
      writeNumber(page.bytes, list.length)
    } else page.bytes.push(...header)
    for (const byte of list) page.bytes.push(byte)
    page.last = number
    if (page.bytes.length < PAGE_BYTES) continue
    yield finished(page)
    page = undefined
  }
  if (page !== undefined) yield finished(page)
}

/** The lists of a page with the numbers of their words. */
export function* listsIn({ first, data }: ListPage): Generator<[number, Buffer]> {
  const reader = { data, at: 0 }
  for (let number = first; reader.at < data.length; ) {
    number += readNumber(reader)
    const length = readNumber(reader)
    yield [number, data.subarray(reader.at, reader.at + length)]
    reader.at += length
  }
}

/** The list of a word; undefined when the page has none. */
export function listIn(page: ListPage, wanted: number): Buffer | undefined {
  for (const [number, list] of listsIn(page)) {
    if (number === wanted) return list
    if (number > wanted) return undefined
  }
  return undefined
}
