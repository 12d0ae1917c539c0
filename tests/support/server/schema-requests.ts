// Request bodies generated from the schemas of /openapi.json: valid ones, and ones that are invalid in one place.
import type { Random } from '../random.ts'

export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  prefixItems?: Schema[]
  minItems?: number
  minimum?: number
  exclusiveMinimum?: number
  minLength?: number
  format?: string
  pattern?: string
}

export interface Operation {
  method: string
  path: string
  /** The schema of a JSON body; undefined if there is none. */
  body: Schema | undefined
  takesUpload: boolean
  query: string[]
}

export interface Reference {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: { in: string; name: string }[]
        requestBody?: { content: Record<string, { schema: Schema }> }
      }
    >
  >
  components: { schemas: Record<string, Schema> }
}

export const operationsOf = ({ paths }: Reference): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      body: requestBody?.content['application/json']?.schema,
      takesUpload: requestBody?.content['multipart/form-data'] !== undefined,
      query: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
    })),
  )

/** For patterns: the first that matches is taken. */
const TEXTS = ['a', 'abc', '1', 'a.txt', 'a/b', '/a', '0'.repeat(64), '2026-01-01', 'nc-a']
const FORMATS: Record<string, string> = {
  email: 'kim@example.org',
  // Nothing listens there.
  uri: 'http://127.0.0.1:9/',
  'date-time': '2026-01-01T00:00:00.000Z',
  date: '2026-01-01',
  uuid: '3f0c2a52-6a4b-4c39-9f0e-0d8a3f1c2b4d',
}

/** A value that fits the schema, with a random choice of optional properties. */
export function fitting(schema: Schema, { schemas }: Reference['components'], random: Random) {
  const make = (one: Schema, depth: number): unknown => {
    if (one.$ref !== undefined) {
      const target = schemas[one.$ref.split('/').at(-1) ?? '']
      return target === undefined ? null : make(target, depth)
    }
    if (one.const !== undefined) return one.const
    if (one.enum !== undefined) return random.pick(one.enum)
    const choices = one.anyOf ?? one.oneOf
    if (choices !== undefined) return make(random.pick(choices), depth)
    if (one.allOf !== undefined)
      return Object.assign({}, ...one.allOf.map((part) => make(part, depth)))
    const type = Array.isArray(one.type) ? random.pick(one.type) : one.type
    switch (type) {
      case 'object':
        return makeObject(one, depth)
      case 'array':
        return (
          one.prefixItems?.map((item) => make(item, depth + 1)) ??
          Array.from({ length: Math.max(one.minItems ?? 0, depth > 4 ? 0 : random.below(3)) }, () =>
            make(one.items ?? {}, depth + 1),
          )
        )
      case 'string':
        return makeText(one)
      case 'integer':
      case 'number':
        return Math.max(one.minimum ?? 1, (one.exclusiveMinimum ?? 0) + 1)
      case 'boolean':
        return random.below(2) === 0
      default:
        return null
    }
  }
  const makeObject = ({ properties = {}, required = [], ...one }: Schema, depth: number) => {
    const made: Record<string, unknown> = {}
    for (const [name, property] of Object.entries(properties))
      if (required.includes(name) || (depth < 4 && random.below(2) === 0))
        made[name] = make(property, depth + 1)
    if (typeof one.additionalProperties === 'object')
      made.extra = make(one.additionalProperties, depth + 1)
    return made
  }
  const makeText = ({ format, pattern, minLength = 0 }: Schema): string => {
    const known = FORMATS[format ?? '']
    if (known !== undefined) return known
    const found =
      pattern === undefined ? 'abc' : TEXTS.find((text) => new RegExp(pattern, 'u').test(text))
    return (found ?? 'abc').padEnd(minLength, 'a')
  }
  return make(schema, 0)
}

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))

/** Texts that fit every string and are harmful if they are trusted. */
export const HOSTILE_TEXTS = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u202e\u{1f4a9}\u0301',
  '../../../etc/passwd',
  "' or 1=1 --",
  '(a+)+$',
  '__proto__',
  'x'.repeat(300_000),
]
const HOSTILE_VALUES: readonly unknown[] = [
  ...HOSTILE_TEXTS,
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  '',
  [],
  {},
  nested(500),
  Array.from({ length: 12_000 }, () => 1),
  JSON.parse('{"__proto__":{"role":"admin"},"constructor":{"prototype":{}}}'),
]

/** A place in a value: the object or array around it, and its key there. */
type Place = { holder: Record<string, unknown>; key: string }

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder: Record<string, unknown> = Object(value)
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])])
}

/** A copy in which one place is missing, additional, or holds something else. */
export function spoiled(value: unknown, random: Random): unknown {
  const root = { value: structuredClone(value) }
  const { holder, key } = random.pick(placesIn(root))
  const way = random.below(4)
  if (way === 0 && holder !== root) delete holder[key]
  else if (way === 1 && typeof holder[key] === 'object' && holder[key] !== null)
    Object.assign(holder[key], JSON.parse('{"__proto__":{"role":"admin"},"unexpected":"\\u0000"}'))
  else holder[key] = random.pick(HOSTILE_VALUES)
  return root.value
}

/** A copy in which each text is hostile. */
export function withHostileTexts(value: unknown, random: Random): unknown {
  if (typeof value === 'string') return random.pick(HOSTILE_TEXTS)
  if (Array.isArray(value)) return value.map((item) => withHostileTexts(item, random))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withHostileTexts(item, random)]),
  )
}
