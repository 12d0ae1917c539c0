// Adds descriptions to the fields of schemas in the API reference.

/** The keys of all members of a union. */
type KeyOf<T> = T extends unknown ? keyof T & string : never
/** What the fields of `T` mean, by name. A name that `T` does not have is a type error. */
export type Fields<T> = Partial<Record<KeyOf<T>, string>>

/** Descriptions of fields by name. */
type Descriptions = Readonly<Record<string, string>>
/** The descriptions of several objects, by a name of each. */
export type DescribedObjects = Readonly<Record<string, Descriptions>>

/** The part of a JSON schema that can contain fields. */
export interface FieldSchema {
  description?: string
  properties?: Record<string, FieldSchema>
  items?: FieldSchema
  anyOf?: FieldSchema[]
  oneOf?: FieldSchema[]
}

/**
 * Adds the descriptions to the fields of a schema and of each member of a union. Existing descriptions stay.
 * @param inner descriptions of the objects inside a field, by the name of the field.
 */
export function describeFields(
  schema: FieldSchema,
  descriptions: Descriptions,
  inner: DescribedObjects = {},
): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const description = descriptions[name]
    if (description !== undefined) field.description ??= description
    const fields = inner[name]
    if (fields !== undefined) describeFields(field, fields)
  }
  for (const member of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])])
    describeFields(member, descriptions, inner)
  if (schema.items !== undefined) describeFields(schema.items, descriptions, inner)
}
