// The texts of failures and the values in them.
import type { ErrorParams } from '../error.ts'

/** Names of the `{{parameters}}` in a text. */
export type ParamNames<Text extends string> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never

/** A text with its parameters filled in. */
export const fillIn = (text: string, params: ErrorParams): string =>
  text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(params[name] ?? ''))
