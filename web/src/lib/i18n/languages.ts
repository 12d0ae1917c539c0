// The languages of the page: their own names, their tags, and how their texts load. A new language is an entry here and a folder.
import type { Findings } from './finding-texts.ts'

type Texts = Readonly<Record<string, unknown>>
type Refusals = Readonly<Record<string, string>>

type Source = {
  /** What the language is called in itself, for people who look for it. */
  name: string
  /** For `lang`, `Accept-Language` and formats of dates and numbers. */
  tag: string
  /** The texts of the first screen. English ones are part of the page: what is missing elsewhere is shown in English. */
  firstScreen(): Promise<Texts>
  /** The texts of all later views. */
  pages(): Promise<Texts>
  /** Why the server refuses, by its reasons. In English the server itself says it. */
  refusals?(): Promise<{ refusals: Refusals; additions: Refusals }>
  /** What the doctor finds. In English the server itself says it. */
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
    name: '中文',
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
} as const satisfies Record<string, Source>

/** The code of a language of the page, such as `en` or `zh`. */
export type Language = keyof typeof sources

export const LANGUAGES: Readonly<Record<Language, Source>> = sources

/** Whether the page has texts for this code; for values from storage and from the server. */
export const isLanguage = (code: unknown): code is Language =>
  typeof code === 'string' && Object.hasOwn(LANGUAGES, code)

/** The page's language for the tag of a browser: "pt-PT" is Portuguese. @returns null when the page does not have it. */
export function languageOf(tag: string): Language | null {
  const code = tag.toLowerCase().split('-')[0]
  return isLanguage(code) ? code : null
}

/** Languages that are written from right to left, for when the page has one. */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['ar', 'dv', 'fa', 'he', 'ps', 'ur', 'yi'])

/** The direction in which a language is written. @param tag such as "ar" or "de-AT" */
export const directionOf = (tag: string): 'ltr' | 'rtl' =>
  RIGHT_TO_LEFT.has(tag.toLowerCase().split('-')[0] ?? '') ? 'rtl' : 'ltr'

/** The direction in which the page is written now: for code that measures sideways, and for controls with keys for left and right. */
export const shownDirection = (): 'ltr' | 'rtl' =>
  document.documentElement.dir === 'rtl' ? 'rtl' : 'ltr'
