// Guesses the language of a text from its script, to choose a voice that can read it and the fonts and rules to show it with.

/** Languages by the scripts that are written in hardly any other language. */
const LANGUAGES: readonly (readonly [script: RegExp, language: string])[] = [
  [/\p{Script=Hangul}/gu, 'ko'],
  [/\p{Script=Cyrillic}/gu, 'ru'],
  [/\p{Script=Arabic}/gu, 'ar'],
  [/\p{Script=Hebrew}/gu, 'he'],
  [/\p{Script=Greek}/gu, 'el'],
  [/\p{Script=Thai}/gu, 'th'],
  [/\p{Script=Devanagari}/gu, 'hi'],
]

/** The beginning of a text says enough. */
const MAX_CHARACTERS = 2_000
/** A word of about five Latin letters has two characters in Chinese, Japanese and Korean. */
const LETTERS_PER_CHARACTER = 2.5
/** Japanese has more kana than this per Han character; a Chinese text may quote a few. */
const MIN_KANA_PER_HAN = 0.1

const isLatin = (language: string): boolean =>
  new Intl.Locale(language).maximize().script === 'Latn'

/**
 * The language of the script that most words of the text are written in, as a BCP 47 tag. The Latin script has too many
 * languages: a text in it is taken to be in `pageLanguage`, or in English if that language has another script.
 */
export function languageOf(text: string, pageLanguage: string): string {
  const start = text.slice(0, MAX_CHARACTERS)
  const count = (script: RegExp): number => start.match(script)?.length ?? 0
  const han = count(/\p{Script=Han}/gu)
  const kana = count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu)
  const eastAsian = kana > han * MIN_KANA_PER_HAN ? 'ja' : 'zh-CN'
  const candidates: (readonly [language: string, letters: number])[] = [
    [isLatin(pageLanguage) ? pageLanguage : 'en', count(/\p{Script=Latin}/gu)],
    [eastAsian, (han + kana) * LETTERS_PER_CHARACTER],
    ...LANGUAGES.map(([script, language]) => {
      const letters = count(script)
      return [language, language === 'ko' ? letters * LETTERS_PER_CHARACTER : letters] as const
    }),
  ]
  const [language, letters] = candidates.reduce((most, one) => (one[1] > most[1] ? one : most))
  return letters === 0 ? pageLanguage : language
}

/** The language of a text for its `lang`, if it is another one than the page's; else undefined, and the text has the page's. */
export function foreignLanguageOf(text: string, pageLanguage: string): string | undefined {
  const language = languageOf(text, pageLanguage)
  const isSame = language.split('-')[0] === pageLanguage.split('-')[0]
  return isSame ? undefined : language
}
