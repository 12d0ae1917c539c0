// Splits text of any language into searchable words, in the same way for indexed text and queries.

/** Scripts without spaces between words: indexed as pairs of adjacent characters. */
const SPACELESS =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}ー々〆]'
const SPACED = `(?:(?!${SPACELESS})[\\p{L}\\p{N}\\p{M}])+`
/** Each is a word of its own; what only changes its look (skin, style) is left out. */
const EMOJI = '[\\u{1F1E6}-\\u{1F1FF}]{2}|\\p{Extended_Pictographic}'
const RUN = new RegExp(`${SPACELESS}+|${SPACED}|${EMOJI}`, 'gu')
const LETTERS = new RegExp(SPACED, 'uy')
const LETTER = /[\p{L}\p{N}\p{M}]/u
const IS_SPACELESS = new RegExp(`^${SPACELESS}`, 'u')
const MAX_WORD_CHARACTERS = 40

/** Whether a text, folded, begins in a script without spaces between words. */
export const isSpaceless = (text: string): boolean => IS_SPACELESS.test(foldText(text))

const HAS_SPACELESS = new RegExp(SPACELESS, 'u')

/** Whether a text has characters of a script without spaces between words. */
export const hasSpaceless = (text: string): boolean => HAS_SPACELESS.test(foldText(text))

const ARABIC = /[\u0600-\u06FF]/
const IS_EMOJI = new RegExp(`^(?:${EMOJI})`, 'u')

/** Whether the index has words for a text that are not whole runs of letters in it: those of Arabic without their article, and emoji. */
export const isWithinLetters = (word: string): boolean => ARABIC.test(word) || IS_EMOJI.test(word)

/** The article of Arabic and the short words that are written together with it. */
const ARTICLE = /^(?:[وفبك]?ال|لل)(?=.{3})/u

/** The word of Arabic without its article, other words as they are. */
export const withoutArticle = (word: string): string => word.replace(ARTICLE, '')

/** Words of this many letters may be compounds. In texts in English they are few, so their parts take little space. */
const COMPOUND_LETTERS = 12
/** The shortest part of a compound that is found, and the fewest letters before it. */
export const PART_LETTERS = 4
const LETTERS_BEFORE_PART = 3
/** Precedes each end of a compound in the index, so that it is not found as a word. Nobody can type it. */
export const PART_MARK = '\u{E001}'

const isCompound = (word: string): boolean =>
  word.length >= COMPOUND_LETTERS && /^(?:(?![\ud800-\udfff])\p{L})+$/u.test(word)

/** Whether a word is a compound that contains a part, not at its beginning. */
export const hasPart = (word: string, part: string): boolean =>
  part.length >= PART_LETTERS && isCompound(word) && word.indexOf(part, LETTERS_BEFORE_PART) !== -1

/** What the index contains besides the words themselves: words without the article, and the ends of compounds, each once. */
export function furtherWords(words: Iterable<string>): Set<string> {
  const further = new Set<string>()
  for (const word of words) {
    const bare = ARABIC.test(word) ? withoutArticle(word) : word
    if (bare !== word) further.add(bare)
    if (!IS_SPACELESS.test(word) && isCompound(word))
      for (let index = LETTERS_BEFORE_PART; index <= word.length - PART_LETTERS; index += 1)
        further.add(PART_MARK + word.slice(index))
  }
  return further
}

const HAS_FURTHER = new RegExp(
  `${EMOJI}|[\\u0591-\\u05C7\\u0610-\\u061A\\u0640\\u064B-\\u065F\\u0670\\u06D6-\\u06ED]|\u0627\u0644|\u0644\u0644|\\p{L}{${COMPOUND_LETTERS}}`,
  'u',
)

/** Whether the index has words for a text that those of earlier versions had not. */
export const hasFurtherWords = (text: string): boolean => HAS_FURTHER.test(text)

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
  /** As it was typed, folded: also found as a part of compounds. Absent in phrases and in scripts without spaces. */
  typed?: string
  /** Whether it is the last one and perhaps not complete: also found as the beginning of words. */
  isOpen?: boolean
}

/** The shortest beginning of a word that is found. */
export const OPEN_LETTERS = 3

/** Whether a word of a text is the one of a query, or what the query may mean by it. */
export function matchesQueryWord(queried: QueryWord, word: string): boolean {
  if (queried.prefix) return word.startsWith(queried.word)
  if (word === queried.word) return true
  if (ARABIC.test(word) && withoutArticle(word) === withoutArticle(queried.word)) return true
  const { typed, isOpen = false } = queried
  if (typed === undefined) return false
  return (isOpen && beginningsOf(typed).some((one) => word.startsWith(one))) || hasPart(word, typed)
}

/** The beginnings of index words that begin as it was typed: "polici" is the beginning of "policies", which is indexed as "policy". */
export const beginningsOf = (typed: string): string[] =>
  /..ie?$/.test(typed) ? [typed, typed.replace(/ie?$/, 'y')] : [typed]

/** The distinct words of a query, at most `limit`; stop words and emoji only if there is nothing else. */
export function queryWords(text: string, limit = 32): QueryWord[] {
  const found = new Map(wordsOf(text, false).map((one) => [one.word, one]))
  const all = [...found.values()]
  const meaningful = all.filter(({ word }) => !STOP_WORDS.has(word) && !IS_EMOJI.test(word))
  return (meaningful.length > 0 ? meaningful : all).slice(0, limit)
}

/** Every word of a phrase in order: texts that contain the phrase have these words one after the other. */
export const phraseWords = (text: string): QueryWord[] => wordsOf(text, true)

function wordsOf(text: string, isPhrase: boolean): QueryWord[] {
  const words: QueryWord[] = []
  const folded = foldText(text.slice(0, 4_000))
  const runs = [...folded.matchAll(RUN)]
  for (const [position, { 0: run, index: from }] of runs.entries()) {
    if (!IS_SPACELESS.test(run)) {
      const typed = run.slice(0, MAX_WORD_CHARACTERS)
      const isOpen = from + run.length === folded.length && typed.length >= OPEN_LETTERS
      words.push({
        word: spacedWord(run),
        prefix: false,
        ...(isPhrase ? {} : { typed }),
        ...(isPhrase || !isOpen ? {} : { isOpen }),
      })
      continue
    }
    const characters = Array.from(run)
    for (let index = 0; index + 1 < characters.length; index += 1)
      words.push({ word: `${characters[index]}${characters[index + 1]}`, prefix: false })
    // Within a phrase a run ends in the text as well, so its last character is a word there.
    const endsInText = isPhrase && position < runs.length - 1
    if (characters.length === 1 || endsInText)
      words.push({ word: characters.at(-1) ?? run, prefix: !endsInText })
  }
  return words
}

/**
 * Where the word at a position of a folded text ends; null if the index has another word for it, or if it begins earlier.
 * Only for scripts with spaces.
 */
export function wholeWordAt(text: string, index: number, word: string): number | null {
  // Words begin after something that is no letter; a character of two code units is none of these scripts' letters.
  if (index > 0 && LETTER.test(text[index - 1] ?? '') && !IS_SPACELESS.test(text[index - 1] ?? ''))
    return null
  LETTERS.lastIndex = index
  const [run] = LETTERS.exec(text) ?? []
  if (run === undefined || spacedWord(run) !== word) return null
  return index + run.length
}

/** Where the letters of a script with spaces end that begin at a position of a folded text; the position if there are none. */
export function endOfWord(text: string, index: number): number {
  LETTERS.lastIndex = index
  return LETTERS.test(text) ? LETTERS.lastIndex : index
}

const ASCII = /^[\0-\x7f]*$/

/** Accents, the points of Hebrew, the vowel marks of Arabic and its lengthening line, and what chooses the look of emoji. */
const LEFT_OUT =
  /[\u0300-\u036F\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0610-\u061A\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E8\u06EA-\u06ED]|[\uFE00-\uFE0F]|\u0640/g

/** Normalizes full-width letters, accents, vowel marks and case. */
export const foldText = (text: string): string =>
  // ASCII has only case: most texts are compared much faster without being normalized.
  ASCII.test(text)
    ? text.toLowerCase()
    : text.normalize('NFKD').replace(LEFT_OUT, '').normalize('NFKC').toLowerCase()

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
