// The page's language: the reader's choice, else the browser's. The first screen's texts load at the start, all others with the first view that needs them.
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { loadRefusals } from '../refusal-text.ts'
import { english } from './english.ts'

export type Language = 'en' | 'zh'

const STORAGE_KEY = 'nanoclaw.language'

let chosen: Language = 'en'

const preferred = (): Language => {
  try {
    const stored = localStorage.getItem(STORAGE_KEY)
    if (stored === 'en' || stored === 'zh') return stored
  } catch {
    // Storage is blocked: use the browser's language.
  }
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

/** English comes with the page: it is also what i18next falls back to. */
async function loadFirstScreen(language: Language): Promise<void> {
  if (language === 'en') return
  loadRefusals()
  const { chinese } = await import('./chinese.ts')
  i18next.addResourceBundle('zh', 'translation', chinese, true)
}

async function loadPages(language: Language): Promise<void> {
  const texts =
    language === 'zh'
      ? (await import('./chinese-pages.ts')).chinesePages
      : (await import('./english-pages.ts')).englishPages
  i18next.addResourceBundle(language, 'translation', texts, true)
}

async function show(language: Language): Promise<void> {
  await i18next.changeLanguage(language)
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}

/** Loads the texts of the views after the first screen, in the language that is shown. Await it with their code. */
export const loadPageTexts = (): Promise<void> => loadPages(i18next.language === 'zh' ? 'zh' : 'en')

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
