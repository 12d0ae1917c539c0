// In which of the page's languages a text is written.
import type { Language } from '../../locales/languages.ts'

/** How much of a text is looked at. */
const MAX_CHARACTERS = 4_000

/** Languages that their script tells; the first that fits. */
const SCRIPTS: readonly (readonly [RegExp, Language])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, 'ja'],
  [/\p{Script=Hangul}/u, 'ko'],
  [/\p{Script=Cyrillic}/u, 'ru'],
  // Frequent characters that Simplified Chinese writes in another way.
  [
    /[導覽幾點時間檔專這個麼請帶邊為說嗎們來會對國沒過還後發開關將從與樣實經問電話應該無資訊錯誤執結構敗報傳寫讀書計]/u,
    'zh-Hant',
  ],
  [/\p{Script=Han}/u, 'zh'],
]

/** Matches each of these characters, and each of these whole words. */
const each = (characters: string, words: string): RegExp =>
  new RegExp(
    `${characters === '' ? '' : `[${characters}]|`}(?<!\\p{L})(?:${words})(?!\\p{L})`,
    'giu',
  )

/** What the languages in Latin script have the most of; the words of the page's suggestions are among them. */
const WORDS: readonly (readonly [RegExp, Language])[] = [
  [each('', 'the|is|are|was|and|of|to|not|what|you|this|with|for|it'), 'en'],
  [
    each('äöüß', 'wie|was|ist|der|die|das|und|ich|mir|nicht|ein|eine|mit|rundgang|dateien|hallo'),
    'de',
  ],
  [each('ãõ', 'não|foi|uma|um|os|com|você|que horas|quanto é|arquivos|olá'), 'pt'],
  [each('¿¡ñ', 'el|los|las|una|con|qué|está|hazme|recorrido|archivos|hola'), 'es'],
  [each('œ', 'le|les|des|une|est|pas|dans|quel|quelle|fait|combien|visite|fichiers|bonjour'), 'fr'],
]

/**
 * The language of a text: by its script, else by its most frequent small words; `otherwise` if nothing tells one. Enough
 * to choose the language of an answer by the server, not to tell apart languages that the page does not have.
 */
export function textLanguage(text: string, otherwise: Language = 'en'): Language {
  const start = text.slice(0, MAX_CHARACTERS)
  const byScript = SCRIPTS.find(([script]) => script.test(start))?.[1]
  if (byScript !== undefined) return byScript
  const counts = WORDS.map(([words, language]) => ({
    language,
    count: start.match(words)?.length ?? 0,
  }))
  const best = counts.reduce((found, one) => (one.count > found.count ? one : found))
  return best.count === 0 ? otherwise : best.language
}
