// The form that a program requires of an answer: text, any JSON object, or JSON that matches a schema.
import { z } from 'zod'

/** A schema in bytes of JSON; longer ones would take too long to compile. */
const MAX_SCHEMA_CHARACTERS = 50_000

/** JSON Schema, as a program sends it. */
export const AnswerSchema = z
  .record(z.string(), z.unknown())
  .refine((schema) => JSON.stringify(schema).length <= MAX_SCHEMA_CHARACTERS, {
    error: `a schema of at most ${MAX_SCHEMA_CHARACTERS} characters`,
  })

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
