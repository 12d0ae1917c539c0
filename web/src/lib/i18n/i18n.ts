// The page's language: the user's choice, else the browser's. The first screen's texts load at startup, all others with the first view that needs them.

import i18next from 'i18next'
import english from '../../../../locales/en/first-screen.json' with { type: 'json' }
import { isLanguage, LANGUAGES, type Language, languageOf } from '../../../../locales/languages.ts'
import { storageName } from '../base-path.ts'
import { loadRefusals } from '../http/refusal-text.ts'
import { directionOf } from './direction.ts'
import { loadFirstScreen, loadLaterViews } from './texts.ts'

const STORAGE_KEY = storageName('language')

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
async function addFirstScreen(language: Language): Promise<void> {
  if (language === 'en') return
  loadRefusals(language)
  i18next.addResourceBundle(language, 'translation', await loadFirstScreen(language), true)
}

async function addLaterViews(language: Language): Promise<void> {
  i18next.addResourceBundle(language, 'translation', await loadLaterViews(language), true)
}

async function show(language: Language): Promise<void> {
  await i18next.changeLanguage(language)
  const { tag } = LANGUAGES[language]
  document.documentElement.lang = tag
  document.documentElement.dir = directionOf(tag)
}

/** Loads the texts of all views after the first screen in the current language. Await it together with their code. */
export const loadPageTexts = (): Promise<void> => addLaterViews(shownLanguage())

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
  const loaded = await addFirstScreen(chosen).then(
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
  await Promise.all([addFirstScreen(language), addLaterViews(language)])
  if (chosen === language) await show(language)
}
