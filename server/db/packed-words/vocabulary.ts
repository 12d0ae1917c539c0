// The words of a segment in alphabetical order, in pages: lists are found by whole words, so beginnings are looked up here first.
import { createTurns } from '../../lib/turns.ts'

/** Words that are sorted, compared or written between two looks at the time: about 1 ms. */
const WORDS_AT_ONCE = 1_000

/** Four rows of this many bytes fill a page of PostgreSQL, as with lists. */
const PAGE_BYTES = 1_980

/** Some words of a segment, in the order of their bytes in UTF-8. */
export interface VocabularyPage {
  /** The first word, in UTF-8; empty on the first page of each segment, so that there is a page for every beginning. */
  first: Buffer
  data: Buffer
}

/**
 * The words in pages, each word without what it shares with the one before it on its page. There is at least one page. A segment
 * may have some hundred thousand words: they are sorted and written in short turns of the event loop.
 */
export async function vocabularyPages(words: Iterable<string>): Promise<VocabularyPage[]> {
  const turn = createTurns()
  const encoded: Buffer[] = []
  for (const word of words) {
    if (encoded.length % WORDS_AT_ONCE === 0) await turn()
    encoded.push(Buffer.from(word))
  }
  const pages: VocabularyPage[] = []
  let bytes: number[] = []
  let first: Buffer = Buffer.alloc(0)
  let last: Buffer = Buffer.alloc(0)
  for (const [index, word] of (await inOrder(encoded, turn)).entries()) {
    if (index % WORDS_AT_ONCE === 0) await turn()
    if (bytes.length >= PAGE_BYTES - word.length) {
      pages.push({ first, data: Buffer.from(bytes) })
      bytes = []
      first = word
      last = Buffer.alloc(0)
    }
    const shared = sharedLength(last, word)
    // Words have at most 40 characters, so both lengths fit into a byte.
    bytes.push(shared, word.length - shared, ...word.subarray(shared))
    last = word
  }
  return [...pages, { first, data: Buffer.from(bytes) }]
}

/** Sorts parts, and merges them. */
async function inOrder(
  words: readonly Buffer[],
  turn: ReturnType<typeof createTurns>,
): Promise<Buffer[]> {
  await turn()
  if (words.length <= WORDS_AT_ONCE) return [...words].sort(Buffer.compare)
  const half = Math.floor(words.length / 2)
  const left = await inOrder(words.slice(0, half), turn)
  const right = await inOrder(words.slice(half), turn)
  const merged: Buffer[] = []
  for (let index = 0, other = 0; merged.length < words.length; ) {
    if (merged.length % WORDS_AT_ONCE === 0) await turn()
    const one = left[index]
    const two = right[other]
    if (one !== undefined && (two === undefined || Buffer.compare(one, two) <= 0)) {
      merged.push(one)
      index += 1
    } else if (two !== undefined) {
      merged.push(two)
      other += 1
    }
  }
  return merged
}

function sharedLength(one: Buffer, other: Buffer): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

/** The words of a page, in order. */
export function* wordsIn({ data }: Pick<VocabularyPage, 'data'>): Generator<string> {
  let word = Buffer.alloc(0)
  for (let index = 0; index < data.length; ) {
    const shared = data[index] ?? 0
    const end = index + 2 + (data[index + 1] ?? 0)
    word = Buffer.concat([word.subarray(0, shared), data.subarray(index + 2, end)])
    yield word.toString()
    index = end
  }
}

/** The words of a page with a beginning. */
export const wordsWith = (beginning: string, page: Pick<VocabularyPage, 'data'>): string[] =>
  [...wordsIn(page)].filter((word) => word.startsWith(beginning))
