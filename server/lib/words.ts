// Splits text of any language into searchable words, in the same way for indexed text and queries.

/** Scripts without spaces between words: indexed as pairs of adjacent characters. */
const SPACELESS =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}ー々〆]'
const SPACED = `(?:(?!${SPACELESS})[\\p{L}\\p{N}\\p{M}])+`
const RUN = new RegExp(`${SPACELESS}+|${SPACED}`, 'gu')
const LETTERS = new RegExp(SPACED, 'uy')
const LETTER = /[\p{L}\p{N}\p{M}]/u
const IS_SPACELESS = new RegExp(`^${SPACELESS}`, 'u')
const MAX_WORD_CHARACTERS = 40

/** Whether a text, folded, begins in a script without spaces between words. */
export const isSpaceless = (text: string): boolean => IS_SPACELESS.test(foldText(text))

const HAS_SPACELESS = new RegExp(SPACELESS, 'u')

/** Whether a text has characters of a script without spaces between words. */
export const hasSpaceless = (text: string): boolean => HAS_SPACELESS.test(foldText(text))

/** Stop words: ignored in queries unless nothing else is left. */
const STOP_WORDS = new Set(
  'a an and are as at be by can could did do doe for from had ha have how i if in is it me my no not of on or our please should so tell than that the their them there these they thi those to wa we were what when where which who why will with would you your'.split(
    ' ',
  ),
)

/**
 * The words of a text as they are indexed, in order, with repetitions: lower case, without accents and English plurals.
 * Chinese, Japanese, Korean and Thai become pairs of characters plus the last character of each run, so that a single
 * character is found as the beginning of a word.
 */
export function indexWords(text: string): string[] {
  const words: string[] = []
  for (const [run] of foldText(text).matchAll(RUN)) {
    if (!IS_SPACELESS.test(run)) {
      words.push(spacedWord(run))
      continue
    }
    const characters = Array.from(run)
    characters.forEach((character, index) => {
      words.push(`${character}${characters[index + 1] ?? ''}`)
    })
  }
  return words
}

/**
 * The characters that index words of scripts without spaces begin with, each once: indexed as words of their own, a single
 * character is found without reading every pair that begins with it.
 */
export function firstCharacters(words: Iterable<string>): Set<string> {
  const characters = new Set<string>()
  for (const word of words)
    if (IS_SPACELESS.test(word)) characters.add(String.fromCodePoint(word.codePointAt(0) ?? 0))
  return characters
}

/** The runs of letters of a folded text, each of one script with spaces or of scripts without. */
export function* runsOf(
  text: string,
): Generator<{ text: string; index: number; isSpaceless: boolean }> {
  for (const { 0: run, index } of text.matchAll(RUN))
    yield { text: run, index, isSpaceless: IS_SPACELESS.test(run) }
}

/** One word of a search. */
export interface QueryWord {
  word: string
  /** Matches only as a prefix. */
  prefix: boolean
}

/** The distinct words of a query, at most `limit`; stop words only if there is nothing else. */
export function queryWords(text: string, limit = 32): QueryWord[] {
  const found = new Map(wordsOf(text, false).map((one) => [one.word, one]))
  const all = [...found.values()]
  const meaningful = all.filter(({ word }) => !STOP_WORDS.has(word))
  return (meaningful.length > 0 ? meaningful : all).slice(0, limit)
}

/** Every word of a phrase in order: texts that contain the phrase have these words one after the other. */
export const phraseWords = (text: string): QueryWord[] => wordsOf(text, true)

function wordsOf(text: string, isPhrase: boolean): QueryWord[] {
  const words: QueryWord[] = []
  const runs = [...foldText(text.slice(0, 4_000)).matchAll(RUN)]
  for (const [at, [run]] of runs.entries()) {
    if (!IS_SPACELESS.test(run)) {
      words.push({ word: spacedWord(run), prefix: false })
      continue
    }
    const characters = Array.from(run)
    for (let index = 0; index + 1 < characters.length; index += 1)
      words.push({ word: `${characters[index]}${characters[index + 1]}`, prefix: false })
    // Within a phrase a run ends in the text as well, so its last character is a word there.
    const endsInText = isPhrase && at < runs.length - 1
    if (characters.length === 1 || endsInText)
      words.push({ word: characters.at(-1) ?? run, prefix: !endsInText })
  }
  return words
}

/**
 * Where the word at a position of a folded text ends; null if the index has another word for it, or if it begins earlier.
 * Only for scripts with spaces.
 */
export function wholeWordAt(text: string, at: number, word: string): number | null {
  // Words begin after something that is no letter; a character of two code units is none of these scripts' letters.
  if (at > 0 && LETTER.test(text[at - 1] ?? '') && !IS_SPACELESS.test(text[at - 1] ?? ''))
    return null
  LETTERS.lastIndex = at
  const [run] = LETTERS.exec(text) ?? []
  if (run === undefined || spacedWord(run) !== word) return null
  return at + run.length
}

/** Where the letters of a script with spaces end that begin at a position of a folded text; the position if there are none. */
export function endOfWord(text: string, at: number): number {
  LETTERS.lastIndex = at
  return LETTERS.test(text) ? LETTERS.lastIndex : at
}

const ASCII = /^[\0-\x7f]*$/

/** Normalizes full-width letters, accents and case. */
export const foldText = (text: string): string =>
  // ASCII has only case: most texts are compared much faster without being normalized.
  ASCII.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKD')
        .replace(/[\u0300-\u036F]/g, '')
        .normalize('NFKC')
        .toLowerCase()

/** What every form of an index word begins with: stripping a plural may have changed the last letter to "y". */
export const commonStart = (word: string): string =>
  word.length > 2 && word.endsWith('y') ? word.slice(0, -1) : word

/** The index word of a folded run of letters of a script with spaces. */
export const spacedWord = (run: string): string => stem(run.slice(0, MAX_WORD_CHARACTERS))

/** Strips English plurals (Harman's S-stemmer). Harmless for other languages: index and query are treated alike. */
function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.length > 3 && word.endsWith('s') && !/(?:ss|us|is)$/.test(word)
    ? word.slice(0, -1)
    : word
}
