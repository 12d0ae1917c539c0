// What of a server's schema may be checked here: nothing with which a hostile server could keep the event loop busy.
import { asRecord } from '../../lib/records.ts'

type Schema = Record<string, unknown>

/** Schemas that one check may visit. */
const MAX_VISITS = 5_000

/** Keywords by what they hold. `$defs` and `definitions` are visited through references only. */
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
/** A schema that accepts more makes these accept less. */
const REVERSED = new Set(['not', 'if', 'oneOf', 'contains'])

/** The schema cannot be checked here. */
class Unchecked extends Error {}

/**
 * The schema without regular expressions, of which some take years. Null when it cannot be checked without them, refers to
 * itself or to other documents, or multiplies: then only the server checks the arguments.
 */
export function safeSchema<Root extends Schema>(root: Root): Root | null {
  try {
    const safe = withoutPatterns(root, false) as Root // the same keywords, except patterns
    return visitsOf(safe, safe, new Map()) <= MAX_VISITS ? safe : null
  } catch (error) {
    // A RangeError where it is nested too deeply.
    if (error instanceof Unchecked || error instanceof RangeError) return null
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
    // These are about the properties that no pattern names.
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

/** Schemas visited by one check. @param known by schema; null while it is being counted. */
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

/** What a reference within the document points to. */
function targetOf(reference: unknown, root: Schema): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) throw new Unchecked()
  let at: unknown = root
  for (const part of reference.slice(1).split('/').slice(1))
    at = asRecord(at)?.[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')]
  if (asRecord(at) === undefined) throw new Unchecked()
  return at
}
