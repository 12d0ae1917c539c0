// Takes the regular expressions out of a JSON schema so that it accepts at least what it accepted before.
import { isRecord } from '../lib/records.ts'

type Schema = Record<string, unknown>

/** Keywords whose value is a schema, or a list of schemas. All others hold data, which may look like a schema. */
const OF_SCHEMAS: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
/** Keywords whose value has a schema for each name. `dependencies` may have a list of names instead. */
const OF_NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'properties',
])
/** What refuses a value because a part of the schema accepts it. A part without its pattern accepts more. */
const INVERTING: ReadonlySet<string> = new Set(['not', 'if', 'then', 'else', 'maxContains'])

/**
 * The schema without `pattern` and `patternProperties`, and without what would then refuse a value that has the form. Regular
 * expressions are often written in a dialect that JavaScript does not read.
 */
export const withoutPatterns = (schema: Schema): Schema =>
  hasPatterns(schema) ? loosened(schema) : schema

/** The schemas directly in a schema. */
const partsOf = (schema: Schema): unknown[] =>
  Object.entries(schema).flatMap(([keyword, value]) => {
    if (OF_SCHEMAS.has(keyword)) return Array.isArray(value) ? value : [value]
    return OF_NAMED_SCHEMAS.has(keyword) && isRecord(value) ? Object.values(value) : []
  })

const hasPatterns = (schema: unknown): boolean =>
  isRecord(schema) &&
  ('pattern' in schema || 'patternProperties' in schema || partsOf(schema).some(hasPatterns))

function loosened(schema: Schema): Schema {
  const kept = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (keyword === 'pattern' || keyword === 'oneOf' || INVERTING.has(keyword)) return []
    // Without them, `additionalProperties` would refuse the properties with such names.
    if (keyword === 'patternProperties') return [[keyword, { '': true }]]
    if (OF_SCHEMAS.has(keyword)) return [[keyword, loosenedParts(value)]]
    if (OF_NAMED_SCHEMAS.has(keyword) && isRecord(value))
      return [[keyword, mapped(value, loosenedParts)]]
    return [[keyword, value]]
  })
  const { oneOf, allOf } = schema
  // Parts that differ only in their patterns would all accept the value.
  if (!Array.isArray(oneOf)) return Object.fromEntries(kept)
  const others = Array.isArray(allOf) ? allOf.map(loosenedParts) : []
  return Object.fromEntries([...kept, ['allOf', [...others, { anyOf: loosenedParts(oneOf) }]]])
}

function loosenedParts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(loosenedParts)
  return isRecord(value) ? loosened(value) : value
}

const mapped = (record: Schema, change: (value: unknown) => unknown): Schema =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
