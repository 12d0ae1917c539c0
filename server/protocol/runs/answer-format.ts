// The form that a program requires of an answer: text, any JSON object, or JSON that matches a schema.
import { z } from 'zod'
import { isWithinBounds } from '../json-size.ts'

/** A schema in bytes of JSON; longer ones would take too long to compile. */
const MAX_SCHEMA_CHARACTERS = 50_000
/** The same for a tool, whose schema is not compiled. */
const MAX_PARAMETERS_CHARACTERS = 500_000
/** Deeper schemas could not be read recursively, as everything that handles them does. */
const MAX_SCHEMA_LEVELS = 200

/** JSON Schema, as a program sends it. */
export const AnswerSchema = z
  .record(z.string(), z.unknown())
  .refine(
    (schema) =>
      isWithinBounds(schema, { levels: MAX_SCHEMA_LEVELS, characters: MAX_SCHEMA_CHARACTERS }) &&
      JSON.stringify(schema).length <= MAX_SCHEMA_CHARACTERS,
    {
      error: `a schema of at most ${MAX_SCHEMA_CHARACTERS} characters and ${MAX_SCHEMA_LEVELS} levels`,
    },
  )

/** The schema of a tool's arguments, as a program sends it. */
export const ToolParameters = z
  .record(z.string(), z.unknown())
  .refine(
    (schema) =>
      isWithinBounds(schema, { levels: MAX_SCHEMA_LEVELS, characters: MAX_PARAMETERS_CHARACTERS }),
    {
      error: `a schema of at most ${MAX_PARAMETERS_CHARACTERS} characters and ${MAX_SCHEMA_LEVELS} levels`,
    },
  )

/** The required form of an answer. Stored with the run. */
export const AnswerFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string(),
    description: z.string().optional(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().optional(),
  }),
])
export type AnswerFormat = z.infer<typeof AnswerFormat>
