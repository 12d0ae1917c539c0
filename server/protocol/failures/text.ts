// The texts of failures and the values in them.
import type { ErrorParams } from '../error.ts'

/** Names of the `{{parameters}}` in a text. */
export type ParamNames<Text extends string> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never

/** Parameters that are moments, as ISO 8601 in UTC. */
export const MOMENT_PARAMS: ReadonlySet<string> = new Set(['renews_at'])

/** A parameter as the server writes it into its English text. */
export function inEnglish(name: string, value: ErrorParams[string] | undefined): string {
  if (Array.isArray(value)) return value.join(', ')
  const text = String(value ?? '')
  // Only the page knows the reader's time zone.
  return MOMENT_PARAMS.has(name) ? `${text.slice(0, 16).replace('T', ' ')} UTC` : text
}

/** An English text with its parameters filled in. */
export const fillIn = (text: string, params: ErrorParams): string =>
  text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => inEnglish(name, params[name]))
