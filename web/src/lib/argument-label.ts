// The name of a tool's argument in the reader's language.
import type { TFunction } from 'i18next'

/** The arguments of the built-in tools, which have a name in each language. */
const NAMED = [
  'path',
  'content',
  'mode',
  'old',
  'new',
  'pattern',
  'replace_all',
  'start_line',
  'end_line',
  'command',
  'timeout',
  'code',
  'strictness',
  'url',
  'fact',
  'text',
  'to',
  'prompt',
  'size',
  'save_as',
] as const

/** Those of other tools are words of their authors: "timeout_seconds" -> "Timeout seconds". */
export function argumentLabel(name: string, t: TFunction): string {
  const named = NAMED.find((known) => known === name)
  if (named !== undefined) return t(`approval.argument.${named}`)
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
