// The arguments that a model wrote for a tool call: parsed, checked, and repaired where their meaning is beyond doubt.
import { z } from 'zod'
import { errorText } from '../errors.ts'

/** More characters than any model writes in one call. A 20 MB file as escaped text fits. */
const MAX_ARGUMENTS = 32_000_000

type Read<Value> = { ok: true; value: Value } | { ok: false; error: string }

/**
 * Checks arguments against the schema of their tool. Small models often write null or an empty text for an optional
 * argument that they leave out, and numbers, booleans and lists as texts: if nothing else is wrong, that is accepted.
 */
export function checkArguments<Input extends z.ZodObject>(
  schema: Input,
  value: Record<string, unknown>,
): Read<z.output<Input>> {
  try {
    const checked = schema.safeParse(value)
    if (checked.success) return { ok: true, value: checked.data }
    const again = schema.safeParse(repaired(schema, value, checked.error.issues))
    return again.success
      ? { ok: true, value: again.data }
      : { ok: false, error: describeFault(checked.error) }
  } catch (error) {
    // A value that is nested so deeply that the check overflows the stack is an ordinary failure.
    return { ok: false, error: `Invalid arguments: ${errorText(error)}` }
  }
}

/** A copy of the arguments in which those that have issues are left out or read as JSON, if that may be meant. */
function repaired(
  schema: z.ZodObject,
  value: Record<string, unknown>,
  issues: readonly z.core.$ZodIssue[],
): Record<string, unknown> {
  const result = { ...value }
  for (const { path, code } of issues) {
    const [name] = path
    if (typeof name !== 'string' || path.length > 1 || !Object.hasOwn(schema.shape, name)) continue
    const given = value[name]
    const isOptional = z.safeParse(schema.shape[name], undefined).success
    if (isOptional && (given === null || given === '')) delete result[name]
    else if (code === 'invalid_type' && typeof given === 'string') result[name] = asJson(given)
  }
  return result
}

/** The value of a JSON text; the text itself if it is not JSON. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Parses the JSON object that a model wrote as arguments (an empty text is `{}`). The error is for the model. */
export function readArguments(text: string): Read<Record<string, unknown>> {
  if (text.length > MAX_ARGUMENTS)
    return { ok: false, error: `Invalid arguments: longer than ${MAX_ARGUMENTS} characters` }
  if (text.trim() === '') return { ok: true, value: {} }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { ok: true, value: { ...value } }
    return { ok: false, error: 'Invalid arguments: expected one JSON object' }
  } catch (error) {
    const hint = text.trimEnd().endsWith('}')
      ? ''
      : ' The arguments have no end: if they were cut off at the limit for your output, make the call again with less in it.'
    return { ok: false, error: `Invalid JSON arguments: ${errorText(error)}.${hint}` }
  }
}

function describeFault(error: z.ZodError): string {
  const faults = error.issues.slice(0, 5).map((issue) => {
    const path = issue.path.length > 0 ? issue.path.join('.') : 'arguments'
    return `${path}: ${issue.message}`
  })
  return `Invalid arguments: ${faults.join('; ')}`
}
