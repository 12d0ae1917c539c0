// Finds a quote in a text: compatibility forms and runs of white space count as equal, upper and lower case do not.

/** Waits for the next turn of the event loop if this one has taken long (`createTurns`). */
export type Turn = () => Promise<void> | undefined

/** A text as it is compared, with the place of each of its characters in the original. */
export interface ComparableText {
  text: string
  /** For each UTF-16 unit: where what it stands for begins in the original. */
  starts: Uint32Array
  /** And where that ends. */
  ends: Uint32Array
}

/** Characters between two looks at the clock. */
const TURN_CHARACTERS = 20_000
/** Longer texts are searched up to here. */
const MAX_CHARACTERS = 500_000

/** The comparable form of a text: NFKC, each run of white space as one space. Works in short turns of the event loop. */
export async function comparable(original: string, turn: Turn): Promise<ComparableText> {
  await turn()
  const pieces: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  let next = TURN_CHARACTERS
  // A run of white space, or a character with the marks that belong to it: never so many that putting them in order is long.
  const parts = original.slice(0, MAX_CHARACTERS).matchAll(/\s+|\S\p{M}{0,30}/gu)
  for (const { 0: found, index } of parts) {
    const piece = found.trim() === '' ? ' ' : found.normalize('NFKC').replaceAll(/\s+/g, ' ')
    pieces.push(piece)
    for (let unit = 0; unit < piece.length; unit += 1) {
      starts.push(index)
      ends.push(index + found.length)
    }
    if (index < next) continue
    next = index + TURN_CHARACTERS
    await turn()
  }
  return {
    text: pieces.join(''),
    starts: Uint32Array.from(starts),
    ends: Uint32Array.from(ends),
  }
}

/** The comparable form of a quote, without white space around it. */
export const comparableQuote = (quote: string): string =>
  quote.trim().normalize('NFKC').replaceAll(/\s+/g, ' ')

/** UTF-16 positions of a quote in the original; null if it is not there. */
export function findQuote(
  { text, starts, ends }: ComparableText,
  quote: string,
): { start: number; end: number } | null {
  const at = quote === '' ? -1 : text.indexOf(quote)
  const start = starts[at]
  const end = ends[at + quote.length - 1]
  return start === undefined || end === undefined ? null : { start, end }
}

const MAX_PASSAGE_CHARACTERS = 300
const MAX_WORDS = 60
const LONGEST_RUN = 8

/** The passage that shares the longest run of words with a quote; null if there is none. Works in short turns. */
export async function closestPassage(
  { text }: ComparableText,
  quote: string,
  turn: Turn,
): Promise<string | null> {
  const words = quote.split(' ').slice(0, MAX_WORDS)
  for (let length = Math.min(LONGEST_RUN, words.length); length >= 1; length -= 1)
    for (let first = 0; first + length <= words.length; first += 1) {
      const run = words.slice(first, first + length).join(' ')
      if (run.length < 4) continue
      await turn()
      const at = text.indexOf(run)
      if (at < 0) continue
      const from = Math.max(0, at - (MAX_PASSAGE_CHARACTERS - run.length) / 2)
      return text.slice(from, from + MAX_PASSAGE_CHARACTERS)
    }
  return null
}
