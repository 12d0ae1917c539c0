// The arguments of a call as fields of a form, if all of them are texts, numbers or switches.
import { visibleText } from '../../../../../server/protocol/runs/visible-text.ts'
import { parseJson } from '../../../lib/read-json.ts'

/** One argument and its value. */
export type SimpleArgument = { name: string; value: string | number | boolean }

/** A number as JSON has it, without a loss of digits. */
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/

/** A form would hide or change other values: lists, hidden characters, line ends of Windows, long numbers. */
const isSimple = (value: unknown): value is SimpleArgument['value'] =>
  typeof value === 'boolean' ||
  (typeof value === 'number' && NUMBER.test(String(value))) ||
  (typeof value === 'string' && visibleText(value) === value && !value.includes('\r'))

/** Null if the arguments can only be edited as JSON. */
export function simpleArguments(json: string): SimpleArgument[] | null {
  const parsed = parseJson(json)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null
  const fields = Object.entries(parsed).flatMap(([name, value]) =>
    isSimple(value) && visibleText(name) === name ? [{ name, value }] : [],
  )
  return fields.length > 0 && fields.length === Object.keys(parsed).length ? fields : null
}

/** The value of a field that was `before`, from its text; null if it has to be a number and is none. */
export function readField(before: SimpleArgument['value'], text: string): string | number | null {
  if (typeof before === 'string') return text
  return NUMBER.test(text.trim()) ? Number(text) : null
}
