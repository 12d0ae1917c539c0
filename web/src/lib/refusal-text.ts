// Why the server refuses a request, in the page's language. The server's texts are English; others are translated by reason.
import i18next from 'i18next'
import type { ErrorParams } from '../../../server/protocol/error.ts'
import { firstScreen } from './first-screen.tsx'

export type Refusal = {
  /** The exact reason, or the kind of failure: a name from the protocol. */
  reason: string | null | undefined
  params?: ErrorParams | null | undefined
  /** The server's own words. */
  message: string
}

let chinese: Readonly<Record<string, string>> = {}

/** Loads the texts after the first screen. Until then the server's own words are shown. */
export function loadRefusals(): void {
  void firstScreen
    .then(() => import('./i18n/chinese-refusals.ts'))
    .then(
      ({ refusals }) => {
        chinese = refusals
      },
      () => undefined, // not loaded: the server's own words are shown
    )
}

/** The text of a reason with its parameters; the server's own words when the reason has no text. */
export function refusalText({ reason, params, message }: Refusal): string {
  const known = i18next.language === 'zh' && reason != null && Object.hasOwn(chinese, reason)
  const text = known ? chinese[reason] : undefined
  if (text === undefined) return message
  const values: ErrorParams = { ...params, message }
  const lacking = [...text.matchAll(/\{\{(\w+)\}\}/g)].some(([, name = '']) => !(name in values))
  return lacking
    ? message
    : text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(values[name]))
}
