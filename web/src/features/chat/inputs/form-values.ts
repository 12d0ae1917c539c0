// The values of a server's form while a person fills it in, and as they are sent.
import type {
  InputAnswer,
  InputField,
  InputForm,
} from '../../../../../server/protocol/runs/input.ts'

/** Texts as typed (numbers too), switches, and the chosen values of a list. */
export type Value = string | boolean | readonly string[]

/** What the form holds, by the name of the field. */
export type Values = Readonly<Record<string, Value>>

const firstValue = (field: InputField): Value => {
  if (field.type === 'boolean') return field.default ?? false
  if (field.type === 'array') return field.default ?? []
  return field.default === undefined ? '' : String(field.default)
}

/** The values before the person has changed anything: the server's defaults, else empty. */
export const firstValues = (form: InputForm | undefined): Values =>
  Object.fromEntries(
    Object.entries(form?.properties ?? {}).map(([name, field]) => [name, firstValue(field)]),
  )

/** What is sent: empty optional fields are left out. */
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

/** The browser's field for date and time has no seconds, which the format requires. */
const toWire = (field: InputField, value: string): string =>
  field.type === 'string' && !('oneOf' in field) && field.format === 'date-time'
    ? new Date(value).toISOString()
    : value
