// Texts of refusals and failures in the page's language. English texts come from the server; other languages translate its reasons.
import i18next from 'i18next'
import { create } from 'zustand'
import type { ErrorParams } from '../../../../server/protocol/error.ts'
import { firstScreen } from '../browser/first-screen.tsx'
import { LANGUAGES, type Language } from '../i18n/languages.ts'

/** A refusal or failure as the server reports it in errors, runs and documents. */
export type Refusal = {
  /** The protocol's name of the exact reason or of the kind of failure. */
  reason: string | null | undefined
  params?: ErrorParams | null | undefined
  /** The server's text, in English. */
  message: string
}

type Texts = { readonly [reason: string]: string }

const NONE = { refusals: {}, additions: {} }

const useTexts = create<{ language: string; texts: Texts; additions: Texts }>(() => ({
  language: 'en',
  texts: {},
  additions: {},
}))

/** Loads the texts of `language` after the first screen. Until then, the server's texts are shown. */
export function loadRefusals(language: Language): void {
  void firstScreen
    .then(() => LANGUAGES[language].refusals?.() ?? NONE)
    .then(
      ({ refusals, additions }) => useTexts.setState({ language, texts: refusals, additions }),
      () => undefined, // the server's texts stay
    )
}

const fillIn = (text: string, values: ErrorParams): string =>
  text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(values[name]))

/** The text of a reason, filled in with its parameters; the server's text if there is no complete translation. */
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

/** `refusalText` for components; renders again when the texts have loaded. */
export function useRefusalText(): (refusal: Refusal) => string {
  useTexts()
  return refusalText
}
