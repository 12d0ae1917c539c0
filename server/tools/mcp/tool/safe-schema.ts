// Decides what may be checked of a server's schema: nothing with which a hostile server could block the event loop.
import { asRecord } from '../../../lib/records.ts'

type Schema = Record<string, unknown>

/** Maximum number of schemas that one check may visit. Compiling more takes longer than anybody should wait. */
const MAX_VISITS = 1_000

/** Keywords by what they contain. `$defs` and `definitions` are visited only through references. */
const NESTED = new Set([
  'items',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
])
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'])
const MAPS = new Set(['properties', 'dependentSchemas'])
const DEFINITIONS = new Set(['$defs', 'definitions'])
/** If a schema within these accepts more, they accept less. */
const REVERSED = new Set(['not', 'if', 'oneOf', 'contains'])

/** The schema cannot be checked here. */
class Unchecked extends Error {}

/**
 * Returns the schema without regular expressions, some of which run for years. Returns null if the schema cannot be checked
 * without them, refers to itself or other documents, or expands too far: then only the server checks the arguments.
 */
export function safeSchema<Root extends Schema>(root: Root): Root | null {
  try {
    const safe = withoutPatterns(root, false) as Root // the same keywords, except patterns
    return visitsOf(safe, safe, new Map()) <= MAX_VISITS ? safe : null
  } catch (error) {
    // A RangeError if it is nested too deeply, a URIError for a reference that is not percent-encoded.
    if (error instanceof Unchecked || error instanceof RangeError || error instanceof URIError)
      return null
    throw error
  }
}

function withoutPatterns(value: unknown, isReversed: boolean): unknown {
  const schema = asRecord(value)
  if (schema === undefined) return value
  const hasPatterns = schema.pattern !== undefined || schema.patternProperties !== undefined
  if (isReversed && hasPatterns) throw new Unchecked()
  const kept: Schema = {}
  for (const [key, inner] of Object.entries(schema)) {
    const isBelow = isReversed || REVERSED.has(key)
    if (key === 'pattern' || key === 'patternProperties') continue
    // These apply to the properties that no pattern names.
    if (schema.patternProperties !== undefined && /^(additional|unevaluated)Properties$/.test(key))
      continue
    if (LISTS.has(key) && Array.isArray(inner))
      kept[key] = inner.map((one) => withoutPatterns(one, isBelow))
    else if (MAPS.has(key) || DEFINITIONS.has(key))
      kept[key] = mapValues(inner, (one) => withoutPatterns(one, isBelow))
    else kept[key] = NESTED.has(key) ? withoutPatterns(inner, isBelow) : inner
  }
  return kept
}

const mapValues = (value: unknown, change: (inner: unknown) => unknown): unknown => {
  const map = asRecord(value)
  return map === undefined
    ? value
    : Object.fromEntries(Object.entries(map).map(([key, inner]) => [key, change(inner)]))
}

/** Number of schemas that one check visits. @param known counts by schema; null while a schema is being counted. */
function visitsOf(value: unknown, root: Schema, known: Map<Schema, number | null>): number {
  const schema = asRecord(value)
  if (schema === undefined) return 1
  const found = known.get(schema)
  if (found === null) throw new Unchecked()
  if (found !== undefined) return found
  known.set(schema, null)
  let visits = 1
  for (const [key, inner] of Object.entries(schema)) {
    if (key === '$dynamicRef' || key === '$recursiveRef') throw new Unchecked()
    if (key === '$ref') visits += visitsOf(targetOf(inner, root), root, known)
    else if (NESTED.has(key) || LISTS.has(key) || MAPS.has(key)) {
      const isOne = NESTED.has(key) && !Array.isArray(inner)
      const parts: unknown[] = isOne ? [inner] : Object.values(asRecord(inner) ?? Object(inner))
      for (const part of parts) visits += visitsOf(part, root, known)
    }
  }
  known.set(schema, visits)
  return visits
}

/** The target of a reference within the document. */
function targetOf(reference: unknown, root: Schema): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) throw new Unchecked()
  let at: unknown = root
  for (const part of reference.slice(1).split('/').slice(1))
    at = asRecord(at)?.[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')]
  if (asRecord(at) === undefined) throw new Unchecked()
  return at
}
