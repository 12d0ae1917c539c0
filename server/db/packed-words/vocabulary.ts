// The words of a segment in alphabetical order, in pages: lists are found by whole words, so beginnings are looked up here first.

/** Four rows of this many bytes fill a page of PostgreSQL, as with lists. */
const PAGE_BYTES = 1_980

/** Some words of a segment, in the order of their bytes in UTF-8. */
export interface VocabularyPage {
  /** The first word, in UTF-8; empty on the first page of each segment, so that there is a page for every beginning. */
  first: Buffer
  data: Buffer
}

/** The words in pages, each word without what it shares with the one before it on its page. There is at least one page. */
export function vocabularyPages(words: Iterable<string>): VocabularyPage[] {
  const sorted = Array.from(words, (word) => Buffer.from(word)).sort(Buffer.compare)
  const pages: VocabularyPage[] = []
  let bytes: number[] = []
  let first = Buffer.alloc(0)
  let last = Buffer.alloc(0)
  for (const word of sorted) {
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

function sharedLength(one: Buffer, other: Buffer): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

/** The words of a page, in order. */
export function* wordsIn({ data }: Pick<VocabularyPage, 'data'>): Generator<string> {
  let word = Buffer.alloc(0)
  for (let at = 0; at < data.length; ) {
    const shared = data[at] ?? 0
    const end = at + 2 + (data[at + 1] ?? 0)
    word = Buffer.concat([word.subarray(0, shared), data.subarray(at + 2, end)])
    yield word.toString()
    at = end
  }
}

/** The words of a page with a beginning. */
export const wordsWith = (beginning: string, page: Pick<VocabularyPage, 'data'>): string[] =>
  [...wordsIn(page)].filter((word) => word.startsWith(beginning))
