// The keys of the configuration, read from its schema: which a section has, and whether one may be absent.
import type { z } from 'zod'
import { Config } from '../schema.ts'

/** The schema of the value at a path; undefined if there is no such key. */
export function schemaAt(path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let schema: z.core.$ZodType | undefined = Config
  for (const part of path) schema = shapeOf(schema)[String(part)]
  return schema
}

/** The keys that the section at a path may have, also within lists and sections with names of their own; none if it is no section. */
export function keysAt(path: readonly PropertyKey[]): string[] {
  let schema: z.core.$ZodType | undefined = Config
  for (const part of path) schema = shapeOf(schema)[String(part)] ?? entryOf(schema)
  return Object.keys(shapeOf(schema))
}

/** Whether the key at a path is optional without a default. */
export const isOptional = (path: readonly PropertyKey[]): boolean =>
  schemaAt(path)?._zod.def.type === 'optional'

/** What zod keeps about a schema, as far as finding the schema at a path needs it. */
interface Definition {
  innerType?: z.core.$ZodType
  shape?: Record<string, z.core.$ZodType>
  /** Of lists. */
  element?: z.core.$ZodType
  /** Of sections whose names the operator chooses. */
  valueType?: z.core.$ZodType
  /** Of a schema that is converted or checked further. */
  in?: z.core.$ZodType
}

// Zod's internal definition has no type that names these for every kind of schema.
const definitionOf = (schema: z.core.$ZodType | undefined): Definition =>
  (schema?._zod.def ?? {}) as Definition

function shapeOf(schema: z.core.$ZodType | undefined): Record<string, z.core.$ZodType> {
  const { innerType, shape } = definitionOf(schema)
  return innerType === undefined ? (shape ?? {}) : shapeOf(innerType)
}

/** The schema of each entry of a list, or of a section whose names the operator chooses. */
function entryOf(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  const { innerType, element, valueType, in: before } = definitionOf(schema)
  const inner = innerType ?? before
  return inner === undefined ? (element ?? valueType) : entryOf(inner)
}
