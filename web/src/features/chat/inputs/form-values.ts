// The values of an MCP server's form, while the user fills it in and as they are sent.
import type {
  InputAnswer,
  InputField,
  InputForm,
} from '../../../../../server/protocol/runs/input.ts'

/** Text as typed (also for numbers), a switch, or the chosen values of a list. */
export type Value = string | boolean | readonly string[]

/** The values of the form, by field name. */
export type Values = Readonly<Record<string, Value>>

const firstValue = (field: InputField): Value => {
  if (field.type === 'boolean') return field.default ?? false
  if (field.type === 'array') return field.default ?? []
  if (isTime(field)) return localTime(field.default)
  return field.default === undefined ? '' : String(field.default)
}

/** The initial values: the server's defaults, else empty. */
export const firstValues = (form: InputForm | undefined): Values =>
  Object.fromEntries(
    Object.entries(form?.properties ?? {}).map(([name, field]) => [name, firstValue(field)]),
  )

/** The content to send; empty optional fields are left out. */
export function contentOf(form: InputForm, values: Values): NonNullable<InputAnswer['content']> {
  const required = new Set(form.required ?? [])
  const content: NonNullable<InputAnswer['content']> = {}
  for (const [name, field] of Object.entries(form.properties)) {
    const value = values[name]
    if (value === undefined) continue
    if (typeof value === 'boolean') content[name] = value
    else if (typeof value !== 'string') {
      if (value.length > 0 || required.has(name)) content[name] = [...value]
    } else if (value !== '' || (required.has(name) && field.type === 'string'))
      content[name] =
        field.type === 'number' || field.type === 'integer' ? Number(value) : toWire(field, value)
  }
  return content
}

const isTime = (field: InputField): boolean =>
  field.type === 'string' && !('oneOf' in field) && field.format === 'date-time'

/** The value for the browser's field for date and time: local time without seconds; empty if the text is not a time. */
function localTime(text: unknown): string {
  const time = new Date(String(text))
  if (Number.isNaN(time.getTime())) return ''
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)
}

/** The format requires seconds and a time zone. */
const toWire = (field: InputField, value: string): string =>
  isTime(field) ? new Date(value).toISOString() : value

/** Why a list cannot have so many chosen values, with the limit; null if it can. An optional list may be empty. */
export function countFault(
  {
    minItems = 0,
    maxItems = Number.POSITIVE_INFINITY,
  }: { minItems?: number | undefined; maxItems?: number | undefined },
  count: number,
  required: boolean,
): { reason: 'chooseMin'; min: number } | { reason: 'chooseMax'; max: number } | null {
  if (count < minItems && (required || count > 0)) return { reason: 'chooseMin', min: minItems }
  return count > maxItems ? { reason: 'chooseMax', max: maxItems } : null
}

/** The keypad of a phone for a number. Those for numbers have no minus sign. */
export const keypadFor = ({
  type,
  minimum = -1,
}: {
  type: 'number' | 'integer'
  minimum?: number | undefined
}): 'text' | 'numeric' | 'decimal' =>
  minimum < 0 ? 'text' : type === 'integer' ? 'numeric' : 'decimal'
