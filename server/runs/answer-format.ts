// What checks an answer against the form that a program requires.
import { appError, errorText } from '../errors.ts'
import { isRecord } from '../lib/records.ts'
import { isTimeout, within } from '../lib/time-limit.ts'
import type { AnswerFormat } from '../protocol/runs/answer-format.ts'
import { loadCompiler, type SchemaCompiler } from '../tools/mcp/sdk.ts'
import { withoutPatterns } from './schema-without-patterns.ts'

/** Returns what is wrong with a value as a sentence for the model; null if nothing is. */
export type AnswerCheck = (value: unknown) => string | null

/** Schemas come from outside, and small ones can take for ever: everybody waits meanwhile. */
const MAX_COMPILE_MS = 200
const MAX_CHECK_MS = 50
const MAX_FAULT_CHARACTERS = 2_000

let compiler: Promise<SchemaCompiler> | undefined

/** The first schema takes far longer than others: it is one of the server, so that no program's pays for it. */
async function warmCompiler(): Promise<SchemaCompiler> {
  const compile = await loadCompiler()
  compile({ type: 'object' })({})
  return compile
}

/**
 * Compiles the check.
 * @throws AppError if the schema is no JSON Schema, or takes too long to read.
 */
export async function createAnswerCheck(format: AnswerFormat): Promise<AnswerCheck> {
  if (format.type === 'json_object')
    return (value) => (isRecord(value) ? null : 'It is not a JSON object.')
  compiler ??= warmCompiler()
  const compile = await compiler
  try {
    const validate = within(MAX_COMPILE_MS, () => compile(synchronous(format.schema)))
    return (value) => {
      try {
        return within(MAX_CHECK_MS, () => {
          const { valid, errorMessage = 'It does not match the schema' } = validate(value)
          return valid ? null : `${errorMessage.slice(0, MAX_FAULT_CHARACTERS)}.`
        })
      } catch {
        // A schema without an end, or one that tries too much: the answer cannot be known to have the form.
        return 'It cannot be checked against the schema in time.'
      }
    }
  } catch (error) {
    const detail = isTimeout(error) ? 'it takes too long to read' : errorText(error).slice(0, 200)
    throw appError('answer_schema_invalid', { detail })
  }
}

/** A check of the schema that does not return a promise, as `$async` of the validator asks for, and without patterns. */
function synchronous({ $async: _async, ...schema }: Record<string, unknown>) {
  return withoutPatterns(schema)
}
