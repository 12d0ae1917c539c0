// The page's language: the reader's choice, else the browser's. The first screen's texts load at the start, all others with the first view that needs them.
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
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

/** The language that is shown. */
export const shownLanguage = (): Language =>
  isLanguage(i18next.language) ? i18next.language : 'en'

/** English comes with the page: it is also what i18next falls back to. */
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

/** Loads the texts of the views after the first screen, in the language that is shown. Await it with their code. */
export const loadPageTexts = (): Promise<void> => loadPages(shownLanguage())

/** Loads the texts of the first screen in the preferred language, or shows English when they cannot be loaded. Await it before the first render. */
export async function startI18n(): Promise<void> {
  chosen = preferred()
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: english } },
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  })
  const loaded = await loadFirstScreen(chosen).then(
    () => true,
    () => false,
  )
  await show(loaded ? chosen : 'en')
}

/** Stores the choice and shows the page in `language` once all of its texts are there. The latest choice wins. */
export async function chooseLanguage(language: Language): Promise<void> {
  chosen = language
  try {
    localStorage.setItem(STORAGE_KEY, language)
  } catch {
    // Storage is blocked: the choice lasts until the page is closed.
  }
  // Whoever chooses has later views open already.
  await Promise.all([loadFirstScreen(language), loadPages(language)])
  if (chosen === language) await show(language)
}
