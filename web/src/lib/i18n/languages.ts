// The languages of the page: names, tags, and the loaders of their texts. A new language needs an entry here and a folder.
import type { Findings } from './finding-texts.ts'

type Texts = Readonly<Record<string, unknown>>
type Refusals = Readonly<Record<string, string>>

type Source = {
  /** The language's name in that language. */
  name: string
  /** The BCP 47 tag for `lang`, `Accept-Language` and the formats of dates and numbers. */
  tag: string
  /** The texts of the first screen. The English ones are part of the page, as a fallback for missing texts. */
  firstScreen(): Promise<Texts>
  /** The texts of all later views. */
  pages(): Promise<Texts>
  /** The texts of refusals, by reason. Missing for English, in which the server writes them. */
  refusals?(): Promise<{ refusals: Refusals; additions: Refusals }>
  /** The texts of the doctor's findings. Missing for English, in which the server writes them. */
  findings?(): Promise<Findings>
}

const sources = {
  en: {
    name: 'English',
    tag: 'en',
    firstScreen: async () => ({}),
    pages: async () => (await import('./english/pages.ts')).englishPages,
  },
  de: {
    name: 'Deutsch',
    tag: 'de',
    firstScreen: async () => (await import('./german/first-screen.ts')).firstScreen,
    pages: async () => (await import('./german/pages.ts')).pages,
    refusals: () => import('./german/refusals.ts'),
    findings: () => import('./german/findings.ts'),
  },
  es: {
    name: 'Español',
    tag: 'es',
    firstScreen: async () => (await import('./spanish/first-screen.ts')).firstScreen,
    pages: async () => (await import('./spanish/pages.ts')).pages,
    refusals: () => import('./spanish/refusals.ts'),
    findings: () => import('./spanish/findings.ts'),
  },
  fr: {
    name: 'Français',
    tag: 'fr',
    firstScreen: async () => (await import('./french/first-screen.ts')).firstScreen,
    pages: async () => (await import('./french/pages.ts')).pages,
    refusals: () => import('./french/refusals.ts'),
    findings: () => import('./french/findings.ts'),
  },
  pt: {
    name: 'Português',
    tag: 'pt-BR',
    firstScreen: async () => (await import('./portuguese/first-screen.ts')).firstScreen,
    pages: async () => (await import('./portuguese/pages.ts')).pages,
    refusals: () => import('./portuguese/refusals.ts'),
    findings: () => import('./portuguese/findings.ts'),
  },
  ru: {
    name: 'Русский',
    tag: 'ru',
    firstScreen: async () => (await import('./russian/first-screen.ts')).firstScreen,
    pages: async () => (await import('./russian/pages.ts')).pages,
    refusals: () => import('./russian/refusals.ts'),
    findings: () => import('./russian/findings.ts'),
  },
  ja: {
    name: '日本語',
    tag: 'ja',
    firstScreen: async () => (await import('./japanese/first-screen.ts')).firstScreen,
    pages: async () => (await import('./japanese/pages.ts')).pages,
    refusals: () => import('./japanese/refusals.ts'),
    findings: () => import('./japanese/findings.ts'),
  },
  ko: {
    name: '한국어',
    tag: 'ko',
    firstScreen: async () => (await import('./korean/first-screen.ts')).firstScreen,
    pages: async () => (await import('./korean/pages.ts')).pages,
    refusals: () => import('./korean/refusals.ts'),
    findings: () => import('./korean/findings.ts'),
  },
  zh: {
    name: '简体中文',
    tag: 'zh-CN',
    firstScreen: async () => (await import('./chinese/first-screen.ts')).chinese,
    pages: async () => (await import('./chinese/pages.ts')).chinesePages,
    refusals: async () => {
      const [{ refusals }, { additions }] = await Promise.all([
        import('./chinese/refusals.ts'),
        import('./chinese/failures.ts'),
      ])
      return { refusals, additions }
    },
    findings: () => import('./chinese/findings.ts'),
  },
  'zh-Hant': {
    name: '繁體中文',
    tag: 'zh-TW',
    firstScreen: async () => (await import('./traditional/first-screen.ts')).firstScreen,
    pages: async () => (await import('./traditional/pages.ts')).pages,
    refusals: async () => {
      const [{ refusals }, { additions }] = await Promise.all([
        import('./traditional/refusals.ts'),
        import('./traditional/failures.ts'),
      ])
      return { refusals, additions }
    },
    findings: () => import('./traditional/findings.ts'),
  },
} as const satisfies Record<string, Source>

/** The code of one of the page's languages, such as `en` or `zh`. */
export type Language = keyof typeof sources

export const LANGUAGES: Readonly<Record<Language, Source>> = sources

/** Whether the page has texts for this code. Checks values from storage and from the server. */
export const isLanguage = (code: unknown): code is Language =>
  typeof code === 'string' && Object.hasOwn(LANGUAGES, code)

/** Tags of Chinese in traditional characters: by their script, else by their region. */
const TRADITIONAL = /^zh-(hant|(?!hans)(\w+-)?(tw|hk|mo)\b)/i

/** The page's language for a browser's language tag: "pt-PT" is Portuguese. Null if the page does not have it. */
export function languageOf(tag: string): Language | null {
  if (TRADITIONAL.test(tag)) return 'zh-Hant'
  const code = tag.toLowerCase().split('-')[0]
  return isLanguage(code) ? code : null
}

/** Languages that are written from right to left. The page has none of them yet. */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['ar', 'dv', 'fa', 'he', 'ps', 'ur', 'yi'])

/** The writing direction of a language, given its tag, such as "ar" or "de-AT". */
export const directionOf = (tag: string): 'ltr' | 'rtl' =>
  RIGHT_TO_LEFT.has(tag.toLowerCase().split('-')[0] ?? '') ? 'rtl' : 'ltr'

/** The writing direction of the page, for code that measures horizontally and for controls with left and right keys. */
export const shownDirection = (): 'ltr' | 'rtl' =>
  document.documentElement.dir === 'rtl' ? 'rtl' : 'ltr'
