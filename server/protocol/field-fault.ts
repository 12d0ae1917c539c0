// What is wrong with a field of a refused request, in words that a page can translate. Not a schema: the first screen of the
// page reads faults, and a schema would bring the library of schemas into it.
import { fieldsOf, numberIn, textIn } from './read-json.ts'

const FAULTS = [
  'missing',
  'too_short',
  'too_long',
  'too_few',
  'too_many',
  'too_small',
  'too_large',
  'url',
  'email',
  'form',
  'value',
] as const

/** The kind of a fault and, for lengths and amounts, the limit that the value breaks. */
export type FieldFault = { fault: (typeof FAULTS)[number]; limit?: number | undefined }

/** The `details` of a refusal with the reason `request_field_invalid`. */
export type FieldFaults = (FieldFault & { path: string })[]

/** The faults in the `details` of a refusal; none if one of them is of an unknown kind. */
export function readFieldFaults(details: unknown): FieldFaults {
  if (!Array.isArray(details)) return []
  const faults = details.map((one: unknown) => {
    const { fault: named, limit, path: place } = fieldsOf(one)
    const fault = FAULTS.find((known) => known === named)
    const path = textIn(place)
    return fault === undefined || path === undefined
      ? null
      : { fault, path, limit: numberIn(limit) }
  })
  const known = faults.filter((one) => one !== null)
  return known.length === faults.length ? known : []
}
