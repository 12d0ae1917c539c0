// Adds descriptions to the fields of schemas in the API reference.

/** The keys of all members of a union. */
type KeyOf<T> = T extends unknown ? keyof T & string : never

/** What a field means; `fields` describes the objects inside it. */
type Description = string | { readonly text: string; readonly fields: Descriptions }
/** Descriptions of fields by name. */
export type Descriptions = Readonly<Record<string, Description>>
/** What each field of `T` means. A missing field, and one that `T` does not have, is a type error. */
export type FieldsOf<T> = Readonly<Record<KeyOf<T>, Description>>

/** The description of a field that contains an object, or a list, map or union of objects without a schema of their own. */
export const within = (text: string, fields: Descriptions): Description => ({ text, fields })

/** The part of a JSON schema that can contain fields. */
export interface FieldSchema {
  description?: string
  properties?: Record<string, FieldSchema>
  /** The values of a map. */
  additionalProperties?: FieldSchema | boolean
  items?: FieldSchema
  anyOf?: FieldSchema[]
  oneOf?: FieldSchema[]
}

/**
 * Adds the descriptions to the fields of a schema, of the members of a union, and of the items of a list. Existing
 * descriptions stay.
 */
export function describeFields(schema: FieldSchema, descriptions: Descriptions): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const description = descriptions[name]
    if (description === undefined) continue
    if (typeof description === 'string') field.description ??= description
    else {
      field.description ??= description.text
      describeFields(field, description.fields)
    }
  }
  const { anyOf = [], oneOf = [], items, additionalProperties } = schema
  for (const inner of [...anyOf, ...oneOf]) describeFields(inner, descriptions)
  if (items !== undefined) describeFields(items, descriptions)
  if (typeof additionalProperties === 'object') describeFields(additionalProperties, descriptions)
}
