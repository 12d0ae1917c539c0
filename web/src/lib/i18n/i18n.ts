// The page's language: the reader's own choice, else the browser's; each language is loaded only when it is used.
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { loadRefusals } from '../refusal-text.ts'
import { english } from './english.ts'

export type Language = 'en' | 'zh'

const storageKey = 'nanoclaw.language'

const preferred = (): Language => {
  try {
    const stored = localStorage.getItem(storageKey)
    if (stored === 'en' || stored === 'zh') return stored
  } catch {
    // storage blocked: the browser's language holds
  }
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

const markDocument = (language: Language): void => {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}

const load = async (language: Language): Promise<void> => {
  if (language === 'zh') loadRefusals()
  if (language === 'en' || i18next.hasResourceBundle('zh', 'translation')) return
  const { chinese } = await import('./chinese.ts')
  i18next.addResourceBundle('zh', 'translation', chinese)
}

/** The texts of what is loaded after the first screen. Waited for together with the code that needs them. */
export async function loadPageTexts(): Promise<void> {
  const { englishPages } = await import('./english-pages.ts')
  i18next.addResourceBundle('en', 'translation', englishPages, true)
}

/** To be awaited before the first render. */
export async function startI18n(): Promise<void> {
  const language = preferred()
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: english } },
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  })
  await load(language)
  await i18next.changeLanguage(language)
  markDocument(language)
}

export async function chooseLanguage(language: Language): Promise<void> {
  try {
    localStorage.setItem(storageKey, language)
  } catch {
    // the choice lasts as long as the page
  }
  await load(language)
  await i18next.changeLanguage(language)
  markDocument(language)
}
