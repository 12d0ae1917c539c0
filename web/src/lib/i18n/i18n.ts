// The page's language: the user's choice, else the browser's. The first screen's texts load at startup, all others with the first view that needs them.
import i18next from 'i18next'
import { loadRefusals } from '../http/refusal-text.ts'
import { english } from './english/first-screen.ts'
import { directionOf, isLanguage, LANGUAGES, type Language, languageOf } from './languages.ts'

const STORAGE_KEY = 'nanoclaw.language'

let chosen: Language = 'en'

const preferred = (): Language => {
  try {
    const stored = localStorage.getItem(STORAGE_KEY)
    if (isLanguage(stored)) return stored
  } catch {
    // Storage is blocked: use the browser's language.
  }
  for (const tag of navigator.languages ?? [navigator.language]) {
    const language = languageOf(tag)
    if (language !== null) return language
  }
  return 'en'
}

/** The language that the page currently shows. */
export const shownLanguage = (): Language =>
  isLanguage(i18next.language) ? i18next.language : 'en'

/** English needs no loading: it is part of the page, as the fallback of i18next. */
async function loadFirstScreen(language: Language): Promise<void> {
  if (language === 'en') return
  loadRefusals(language)
  const texts = await LANGUAGES[language].firstScreen()
  i18next.addResourceBundle(language, 'translation', texts, true)
}

async function loadPages(language: Language): Promise<void> {
  i18next.addResourceBundle(language, 'translation', await LANGUAGES[language].pages(), true)
}

async function show(language: Language): Promise<void> {
  await i18next.changeLanguage(language)
  const { tag } = LANGUAGES[language]
  document.documentElement.lang = tag
  document.documentElement.dir = directionOf(tag)
}

/** The part of i18next that chooses the form of a plural. */
interface PluralResolver {
  getSuffix(code: string, count: number, options?: object): string
}

/** Chinese has one plural form for all numbers, but texts about exactly one thing are other sentences: "this one and all after it". */
function distinguishOne(resolver: PluralResolver): void {
  const suffixOf = resolver.getSuffix.bind(resolver)
  resolver.getSuffix = (code, count, options) =>
    code.startsWith('zh') && count === 1 ? '_one' : suffixOf(code, count, options)
}

/** Loads the texts of all views after the first screen in the current language. Await it together with their code. */
export const loadPageTexts = (): Promise<void> => loadPages(shownLanguage())

/** Loads the first screen's texts in the preferred language; shows English if that fails. Await it before the first render. */
export async function startI18n(): Promise<void> {
  chosen = preferred()
  await i18next.init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: english } },
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  })
  distinguishOne(i18next.services.pluralResolver)
  const loaded = await loadFirstScreen(chosen).then(
    () => true,
    () => false,
  )
  await show(loaded ? chosen : 'en')
}

/** Stores the choice and switches the page to `language` once all of its texts have loaded. The latest choice wins. */
export async function chooseLanguage(language: Language): Promise<void> {
  chosen = language
  try {
    localStorage.setItem(STORAGE_KEY, language)
  } catch {
    // Storage is blocked: the choice lasts until the page is closed.
  }
  // The view that offers the choice already shows later texts.
  await Promise.all([loadFirstScreen(language), loadPages(language)])
  if (chosen === language) await show(language)
}
