// Reads the form that a request requires of its answer.
import type { AnswerFormat } from '../protocol/runs/answer-format.ts'

/** What both APIs say about a schema, under different fields. */
interface NamedSchema {
  name: string
  description?: string | undefined
  schema?: Record<string, unknown> | undefined
  strict?: boolean | undefined
}

/** The required form; nothing for text. A schema that is not there allows any JSON. */
export function readFormat(
  type: 'text' | 'json_object' | 'json_schema' | undefined,
  named: NamedSchema | undefined,
): { format?: AnswerFormat } {
  if (type === 'json_object') return { format: { type } }
  if (type !== 'json_schema' || named === undefined) return {}
  const { name, description, schema = {}, strict } = named
  return {
    format: {
      type,
      name,
      schema,
      ...(description === undefined ? {} : { description }),
      ...(strict === undefined ? {} : { strict }),
    },
  }
}
