// The schema of an answer, as programs send it in both APIs.
import { z } from 'zod'
import { optional } from '../envelope.ts'
import { AnswerSchema } from '../runs/answer-format.ts'

/** A schema with its name and what it is for. `strict` goes to the provider. */
export const answerSchemaFields = {
  name: z.string().regex(/^[\w.-]{1,64}$/),
  description: optional(z.string().max(10_000)),
  schema: optional(AnswerSchema),
  strict: optional(z.boolean()),
}
