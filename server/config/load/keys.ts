// The keys of the configuration, read from its schema: which a section has, and whether one may be absent.
import type { z } from 'zod'
import { Config } from '../schema.ts'

/** The schema of the value at a path; undefined if there is no such key. */
export function schemaAt(path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let schema: z.core.$ZodType | undefined = Config
  for (const part of path) schema = shapeOf(schema)[String(part)]
  return schema
}

/** The keys that the section at a path may have; none if it is no section. */
export const keysAt = (path: readonly PropertyKey[]): string[] =>
  Object.keys(shapeOf(schemaAt(path)))

/** Whether the key at a path is optional without a default. */
export const isOptional = (path: readonly PropertyKey[]): boolean =>
  schemaAt(path)?._zod.def.type === 'optional'

function shapeOf(schema: z.core.$ZodType | undefined): Record<string, z.core.$ZodType> {
  // The internal definition of zod schemas, read to find the schema at a path.
  const definition = schema?._zod.def as
    | { type: string; innerType?: z.core.$ZodType; shape?: Record<string, z.core.$ZodType> }
    | undefined
  if (definition?.innerType !== undefined) return shapeOf(definition.innerType)
  return definition?.shape ?? {}
}
