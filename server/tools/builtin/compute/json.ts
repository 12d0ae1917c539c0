// The `json_process` tool: parses, formats and validates JSON text.
import { z } from 'zod'
import { errorText } from '../../../errors.ts'
import { defineTool, fail, succeed, type ToolDefinition } from '../../definition.ts'

const MAX_TEXT_CHARACTERS = 500_000
const MAX_DEPTH = 100

const Input = z.object({
  json_string: z.string().max(MAX_TEXT_CHARACTERS).describe('JSON text.'),
  operation: z
    .enum(['parse', 'format', 'keys', 'validate'])
    .describe(
      'parse: return the value; format: pretty-print with two spaces; keys: list the keys of the top-level object; validate: report whether it is valid, and the error.',
    ),
})

export const jsonProcess: ToolDefinition = defineTool({
  name: 'json_process',
  description:
    'Parses, pretty-prints or validates JSON text, or lists the keys of its top-level object.',
  category: 'data',
  riskLevel: 'low',
  cacheable: true,
  timeoutMs: 5_000,
  input: Input,
  handler: async ({ json_string: text, operation }) => {
    const read = readJson(text)
    if (operation === 'validate')
      return succeed(
        read.ok ? { valid: true, type: typeOf(read.value) } : { valid: false, error: read.error },
      )
    if (!read.ok) return fail(read.error)
    const { value } = read
    switch (operation) {
      case 'parse':
        return succeed({ type: typeOf(value), result: value })
      case 'format':
        return succeed({ result: JSON.stringify(value, null, 2) })
      case 'keys':
        return typeof value === 'object' && value !== null && !Array.isArray(value)
          ? succeed({ keys: Object.keys(value), count: Object.keys(value).length })
          : fail(`Expected a JSON object, got ${describeType(value)}.`)
    }
  },
})

function readJson(text: string): { ok: true; value: unknown } | { ok: false; error: string } {
  if (depthOf(text) > MAX_DEPTH)
    return { ok: false, error: `The JSON is nested deeper than ${MAX_DEPTH} levels.` }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, error: `Invalid JSON: ${errorText(error)}` }
  }
}

/**
 * The nesting depth of brackets outside strings. Checked before parsing, because deeply nested values overflow the stack
 * later.
 */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (inString) {
      if (letter === '\\') at += 1
      else if (letter === '"') inString = false
    } else if (letter === '"') inString = true
    else if (letter === '[' || letter === '{') deepest = Math.max(deepest, ++depth)
    else if (letter === ']' || letter === '}') depth -= 1
  }
  return deepest
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

const describeType = (value: unknown): string =>
  Array.isArray(value) ? `an array of ${value.length} items` : typeOf(value)
