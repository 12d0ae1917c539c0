// What the server refused, in the page's language. In English the server says it; other languages translate its reasons.
import i18next from 'i18next'
import type { ErrorParams } from '../../../server/protocol/error.ts'
import { firstScreen } from './first-screen.tsx'

export type Refusal = {
  /** Why exactly, or of which kind: a name of the protocol's. */
  reason: string | null | undefined
  params?: ErrorParams | null | undefined
  /** The server's own words. */
  message: string
}

let chinese: Readonly<Record<string, string>> = {}

/** Fetches the texts once nothing waits for the line any more. Until then the server's own words are shown. */
export function loadRefusals(): void {
  void firstScreen
    .then(() => import('./i18n/chinese-refusals.ts'))
    .then(
      ({ refusals }) => {
        chinese = refusals
      },
      () => undefined, // as above
    )
}

/** The text of a reason with its parameters; the server's own words where the reason has none. */
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
