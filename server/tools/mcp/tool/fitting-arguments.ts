// Fits the arguments that a model wrote to the schema of a remote tool, where their meaning is beyond doubt.
import type { JsonSchemaValidator } from '@modelcontextprotocol/client'
import { asRecord, isRecord } from '../../../lib/records.ts'

type Schema = Record<string, unknown>
type Values = Record<string, unknown>

/** Deeper values are passed on as they are. */
const MAX_DEPTH = 12
/** Alternatives of a schema that are looked at. */
const MAX_ALTERNATIVES = 20
/** Schemas that are looked at for one value. */
const MAX_SCHEMAS = 1_000

/**
 * The arguments with the defaults of the schema. Small models write null or an empty text for what they leave out, and
 * numbers, booleans, objects and lists as texts: if the arguments are valid then, that is accepted.
 * @param validate null for a schema that only the server can check.
 */
export function fittingArguments(
  given: Values,
  schema: Schema,
  validate: JsonSchemaValidator<unknown> | null,
): { ok: true; value: Values } | { ok: false; error: string } {
  const repaired = asRecord(repair(given, schema, schema, 0)) ?? given
  if (validate === null)
    return { ok: true, value: asRecord(withDefaults(repaired, schema, schema, 0)) ?? repaired }
  const asGiven = validate(given)
  const candidates = asGiven.valid
    ? [withDefaults(given, schema, schema, 0), given]
    : [withDefaults(repaired, schema, schema, 0), repaired, withDefaults(given, schema, schema, 0)]
  // Values that do not fit are only repaired if that is what is wrong: valid arguments stay as the model wrote them.
  for (const value of candidates)
    if (isRecord(value) && validate(value).valid) return { ok: true, value }
  return { ok: false, error: asGiven.errorMessage ?? 'they do not fit the schema of the tool' }
}

/** A schema with everything that its reference and its alternatives add, as far as that tells types and properties. */
function readSchema(
  value: unknown,
  root: Schema,
  depth = 0,
  /** The types of each schema that was read before; null while it is being read, as schemas may refer to themselves. */
  seen = new Map<Schema, Set<string> | null>(),
): { types: Set<string> | null; schemas: Schema[] } {
  const schema = asRecord(value)
  if (schema === undefined || depth > MAX_DEPTH) return { types: null, schemas: [] }
  const known = seen.get(schema)
  if (known !== undefined || seen.size >= MAX_SCHEMAS) return { types: known ?? null, schemas: [] }
  seen.set(schema, null)
  const schemas: Schema[] = [schema]
  let types = typesOf(schema)
  const follow = [
    ...(typeof schema.$ref === 'string' ? [targetOf(schema.$ref, root)] : []),
    ...(Array.isArray(schema.allOf) ? schema.allOf : []),
  ]
  for (const one of follow.slice(0, MAX_ALTERNATIVES)) {
    const read = readSchema(one, root, depth + 1, seen)
    schemas.push(...read.schemas)
    types ??= read.types
  }
  const alternatives = [schema.anyOf, schema.oneOf].find(Array.isArray) ?? []
  if (alternatives.length > 0) {
    const reads = alternatives
      .slice(0, MAX_ALTERNATIVES)
      .map((one) => readSchema(one, root, depth + 1, seen))
    schemas.push(...reads.flatMap((read) => read.schemas))
    // One alternative that accepts anything makes the whole accept anything.
    if (types === null && reads.every((read) => read.types !== null))
      types = new Set(reads.flatMap((read) => [...(read.types ?? [])]))
  }
  seen.set(schema, types)
  return { types, schemas }
}

function typesOf({ type, enum: values }: Schema): Set<string> | null {
  if (typeof type === 'string') return new Set([type])
  if (Array.isArray(type))
    return new Set(type.filter((one): one is string => typeof one === 'string'))
  return Array.isArray(values) && values.length > 0 ? new Set(values.map(typeOf)) : null
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

const accepts = (types: ReadonlySet<string>, value: unknown): boolean =>
  types.has(typeOf(value)) || (typeof value === 'number' && types.has('number'))

function targetOf(reference: string, root: Schema): unknown {
  let at: unknown = root
  for (const part of reference.replace(/^#\/?/, '').split('/')) {
    if (part === '') continue
    at = asRecord(at)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return reference.startsWith('#') ? at : undefined
}

/** The property's schemas, wherever the schema defines it. */
const propertyOf = (schemas: readonly Schema[], name: string): unknown =>
  schemas.flatMap(({ properties }) => {
    const found = asRecord(properties)
    return found !== undefined && Object.hasOwn(found, name) ? [found[name]] : []
  })[0]

const requires = (schemas: readonly Schema[], name: string): boolean =>
  schemas.some(({ required }) => Array.isArray(required) && required.includes(name))

function repair(value: unknown, schema: unknown, root: Schema, depth: number): unknown {
  if (depth > MAX_DEPTH) return value
  const { types, schemas } = readSchema(schema, root)
  const fitting = types === null || accepts(types, value) ? value : converted(value, types)
  if (Array.isArray(fitting)) {
    const items = schemas.find((one) => isRecord(one.items))?.items
    return items === undefined
      ? fitting
      : fitting.map((one: unknown) => repair(one, items, root, depth + 1))
  }
  if (!isRecord(fitting)) return fitting
  const kept: Values = {}
  for (const [name, given] of Object.entries(fitting)) {
    const property = propertyOf(schemas, name)
    const known = property === undefined ? null : readSchema(property, root).types
    const isAbsent =
      (given === null || given === '') &&
      !requires(schemas, name) &&
      (given === null
        ? known === null || !known.has('null')
        : known !== null && !known.has('string'))
    if (!isAbsent)
      kept[name] = property === undefined ? given : repair(given, property, root, depth + 1)
  }
  return kept
}

/** The value of an accepted type that the given one stands for; itself if that is not clear. */
function converted(value: unknown, types: ReadonlySet<string>): unknown {
  if (typeof value !== 'string') return value
  const text = value.trim()
  const read = /^(true|false|null)$/i.test(text) ? text.toLowerCase() : text
  try {
    const parsed: unknown = JSON.parse(read)
    if (accepts(types, parsed) && isExact(parsed)) return parsed
  } catch {
    // It is not JSON, so it stays a text, which the check refuses.
  }
  return value
}

/** Whether a parsed number is the one that was written: longer integers, such as some identifiers, are rounded. */
const isExact = (value: unknown): boolean =>
  typeof value !== 'number' ||
  (Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value))

/** A copy with the defaults of absent properties, also inside given objects. A default of null says nothing. */
function withDefaults(value: unknown, schema: unknown, root: Schema, depth: number): unknown {
  if (depth > MAX_DEPTH) return value
  const { schemas } = readSchema(schema, root)
  if (Array.isArray(value)) {
    const items = schemas.find((one) => isRecord(one.items))?.items
    return items === undefined
      ? value
      : value.map((one: unknown) => withDefaults(one, items, root, depth + 1))
  }
  if (!isRecord(value)) return value
  const filled: Values = { ...value }
  // Properties of alternatives may exclude each other, so that only those of the schema itself have defaults.
  const own = schemas[0] === undefined ? {} : (asRecord(schemas[0].properties) ?? {})
  for (const [name, property] of Object.entries(own)) {
    const { default: standard } = asRecord(property) ?? {}
    if (Object.hasOwn(filled, name))
      filled[name] = withDefaults(filled[name], property, root, depth + 1)
    else if (standard !== undefined && standard !== null) filled[name] = standard
  }
  return filled
}
