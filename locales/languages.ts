// The languages of NanoClaw. A new language is a folder beside this file, with the files of `en`, and a line here.

/** What is known about a language besides its texts. */
type LanguageEntry = {
  /** The language's name in that language. */
  name: string
  /** The BCP 47 tag for `lang`, `Content-Language` and the formats of dates and numbers. */
  tag: string
}

/** The languages by the names of their folders, in the order in which they are offered. */
export const LANGUAGES = {
  en: { name: 'English', tag: 'en' },
  de: { name: 'Deutsch', tag: 'de' },
  es: { name: 'Español', tag: 'es' },
  fr: { name: 'Français', tag: 'fr' },
  pt: { name: 'Português', tag: 'pt-BR' },
  ru: { name: 'Русский', tag: 'ru' },
  ja: { name: '日本語', tag: 'ja' },
  ko: { name: '한국어', tag: 'ko' },
  zh: { name: '简体中文', tag: 'zh-CN' },
  'zh-Hant': { name: '繁體中文', tag: 'zh-TW' },
} as const satisfies Record<string, LanguageEntry>

/** The code of a language, such as `en` or `zh-Hant`. */
export type Language = keyof typeof LANGUAGES

/** Whether there are texts for this code. Checks values from storage and from the server. */
export const isLanguage = (code: unknown): code is Language =>
  typeof code === 'string' && Object.hasOwn(LANGUAGES, code)

/** Tags of Chinese in traditional characters: by their script, else by their region. */
const TRADITIONAL = /^zh-(hant|(?!hans)(\w+-)?(tw|hk|mo)\b)/i

/** The language for a BCP 47 tag: "pt-PT" is Portuguese. Null if there are no texts in it. */
export function languageOf(tag: string): Language | null {
  if (TRADITIONAL.test(tag)) return 'zh-Hant'
  const code = tag.toLowerCase().split('-')[0]
  return isLanguage(code) ? code : null
}
