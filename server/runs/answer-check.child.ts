// The worker thread that compiles schemas from outside and checks answers against them, so that none can block the server.
import { LRUCache } from 'lru-cache'
import { errorText } from '../errors.ts'
import { isTimeout, within } from '../lib/time-limit.ts'
import { serveRequests } from '../lib/worker-server.ts'
import { loadCompiler, type SchemaCompiler } from '../tools/mcp/sdk.ts'
import { withoutPatterns } from './schema-without-patterns.ts'

/** A schema as JSON, and the value to be checked, also as JSON. Without a value, the schema is only compiled. */
export interface CheckJob {
  schema: string
  value?: string
}
/**
 * What is wrong with the value, as a sentence for the model; null if nothing is, or there was no value. `refused`: why the schema
 * cannot be used. `late`: the value cannot be checked in time.
 */
export type CheckReply = { fault: string | null } | { refused: string } | { late: true }

/** Small schemas can take for ever, and others wait for the thread meanwhile. */
const MAX_COMPILE_MS = 150
const MAX_CHECK_MS = 100
const MAX_FAULT_CHARACTERS = 2_000
/** Schemas that stay compiled: a run needs its schema when it is requested, when it begins, and for each answer. */
const MAX_COMPILED = 50

type Validate = ReturnType<SchemaCompiler>
const compiled = new LRUCache<string, Validate>({ max: MAX_COMPILED })

const compile = await loadCompiler()
// The first schema takes far longer than others: it is one of the server, so that no program's pays for it.
compile({ type: 'object' })({})

function validatorOf(schema: string): Validate {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const validate = within(MAX_COMPILE_MS, () => compile(synchronous(JSON.parse(schema))))
  compiled.set(schema, validate)
  return validate
}

/** A check of the schema that does not return a promise, as `$async` of the validator asks for, and without patterns. */
function synchronous({ $async: _async, ...schema }: Record<string, unknown>) {
  return withoutPatterns(schema)
}

function faultOf(validate: Validate, value: unknown): string | null {
  const { valid, errorMessage = 'It does not match the schema' } = validate(value)
  return valid ? null : `${errorMessage.slice(0, MAX_FAULT_CHARACTERS)}.`
}

serveRequests(({ schema, value }: CheckJob): CheckReply => {
  let validate: Validate
  try {
    validate = validatorOf(schema)
  } catch (error) {
    return {
      refused: isTimeout(error) ? 'it takes too long to read' : errorText(error).slice(0, 200),
    }
  }
  if (value === undefined) return { fault: null }
  try {
    return { fault: within(MAX_CHECK_MS, () => faultOf(validate, JSON.parse(value))) }
  } catch {
    // A schema without an end, or one that tries too much: the answer cannot be known to have the form.
    return { late: true }
  }
})
