// Why the server refused or failed, in the page's language. In English the server says it; other languages translate its reasons.
import i18next from 'i18next'
import { create } from 'zustand'
import type { ErrorParams } from '../../../../server/protocol/error.ts'
import { firstScreen } from '../browser/first-screen.tsx'
import { LANGUAGES, type Language } from '../i18n/languages.ts'

/** What the server says about a refusal or failure, in errors, runs and documents alike. */
export type Refusal = {
  /** The exact reason, or the kind of failure: a name from the protocol. */
  reason: string | null | undefined
  params?: ErrorParams | null | undefined
  /** The server's own words. */
  message: string
}

type Texts = { readonly [reason: string]: string }

const NONE = { refusals: {}, additions: {} }

const useTexts = create<{ language: string; texts: Texts; additions: Texts }>(() => ({
  language: 'en',
  texts: {},
  additions: {},
}))

/** Loads the texts of `language` after the first screen. Until then the server's own words are shown. */
export function loadRefusals(language: Language): void {
  void firstScreen
    .then(() => LANGUAGES[language].refusals?.() ?? NONE)
    .then(
      ({ refusals, additions }) => useTexts.setState({ language, texts: refusals, additions }),
      () => undefined, // as above
    )
}

const fillIn = (text: string, values: ErrorParams): string =>
  text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(values[name]))

/** The text of a reason with its parameters; the server's own words where the reason has none. */
export function refusalText({ reason, params, message }: Refusal): string {
  const { language, texts, additions } = useTexts.getState()
  const known = i18next.language === language && reason != null && Object.hasOwn(texts, reason)
  const text = known ? texts[reason] : undefined
  if (text === undefined) return message
  const values: ErrorParams = { ...params, message }
  const isIn = (name: string): boolean => text.includes(`{{${name}}}`)
  if ([...text.matchAll(/\{\{(\w+)\}\}/g)].some(([, name = '']) => !(name in values)))
    return message
  const added = Object.entries(additions).flatMap(([name, addition]) =>
    name in values && !isIn(name) ? [addition] : [],
  )
  return fillIn([text, ...added].join(''), values)
}

/** The same within a view that is drawn again when the texts arrive. */
export function useRefusalText(): (refusal: Refusal) => string {
  useTexts()
  return refusalText
}
