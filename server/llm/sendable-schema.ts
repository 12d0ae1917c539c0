// Adapts the schemas of tools to what providers accept. Arguments are still checked against the original schemas.
import { isDeepStrictEqual } from 'node:util'
import { oncePer } from '../lib/once-per.ts'
import { asRecord, asText, isRecord } from '../lib/records.ts'
import { createTurns } from '../lib/turns.ts'
import type { ToolSchema } from './client.ts'

type Schema = Record<string, unknown>

/**
 * Whose rules apply. `common`: what OpenAI and Anthropic both accept, and every server that passes schemas on. `claude`: the
 * same, without names of properties that Anthropic refuses. `gemini`: the subset of OpenAPI that Google's API reads.
 */
export type SchemaRules = 'common' | 'claude' | 'gemini'

/** Deeper schemas accept anything. */
const MAX_DEPTH = 24
/** Schemas that references may add to one tool. Beyond that, they accept anything. */
const MAX_EXPANDED = 400
/** Schemas read for one tool, where one that is read twice counts twice. Beyond that, they accept anything. */
const MAX_READ = 2_000
/** Names that are gathered from combined schemas for one tool, where one that is gathered twice counts twice. Further ones are left out. */
const MAX_MERGED = 10_000
/** A longer reference names nothing. */
const MAX_REFERENCE_CHARACTERS = 500
/** Anthropic refuses other names: https://github.com/anthropics/claude-code/issues/1888. */
const CLAUDE_NAME = /^[a-zA-Z0-9_.-]{1,64}$/
/** https://ai.google.dev/api/caching#Schema */
const GEMINI_KEYS = new Set([
  'type',
  'title',
  'description',
  'nullable',
  'default',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'format',
])
const GEMINI_FORMATS = new Set(['enum', 'date-time', 'int32', 'int64', 'float', 'double'])
/** Keywords that no provider needs at the top, and that at least one refuses there. */
const NOT_AT_TOP = new Set([
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'enum',
  'const',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
  'patternProperties',
  'nullable',
  'default',
])
/** They say where a document is, or how to read it, and nothing about values. */
const ABOUT_DOCUMENT = new Set(['$schema', '$id', 'id', '$comment', '$anchor', '$vocabulary'])

const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
/** What servers write instead. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  str: 'string',
  text: 'string',
  bool: 'boolean',
  dict: 'object',
  map: 'object',
  list: 'array',
}

const adapters: Readonly<Record<SchemaRules, (tool: ToolSchema) => ToolSchema>> = {
  common: oncePer((tool) => adapt(tool, 'common')),
  claude: oncePer((tool) => adapt(tool, 'claude')),
  gemini: oncePer((tool) => adapt(tool, 'gemini')),
}

/** The same tool with a schema that the provider accepts; the same object for the same tool. */
export const sendableTool = (tool: ToolSchema, rules: SchemaRules): ToolSchema =>
  adapters[rules](tool)

/** Prepares `sendableTool` for these tools in short turns, because many large schemas take long. */
export async function adaptTools(tools: readonly ToolSchema[], rules: SchemaRules): Promise<void> {
  const turn = createTurns()
  for (const tool of tools) {
    await turn()
    sendableTool(tool, rules)
  }
}

function adapt(tool: ToolSchema, rules: SchemaRules): ToolSchema {
  const { description, parameters } = tool.function
  const adapted = sendableSchema(parameters, rules)
  // Byte for byte what it was, if nothing had to change.
  if (isDeepStrictEqual(adapted.schema, parameters)) return tool
  const text = [description, ...adapted.notes].filter((part) => part !== '').join('\n')
  return {
    ...tool,
    function: { ...tool.function, description: text, parameters: adapted.schema },
  }
}

/**
 * The schema of a tool's arguments as a provider accepts it. `notes` say in words what the schema can no longer say.
 * Alternatives at the top become optional properties; the original schema still decides which of them are valid.
 */
export function sendableSchema(
  root: Schema,
  rules: SchemaRules,
): { schema: Schema; notes: string[] } {
  const work: Work = {
    root,
    rules,
    left: MAX_EXPANDED,
    unread: MAX_READ,
    unmerged: MAX_MERGED,
    following: [],
    isInPlaces: false,
  }
  const top = withMerged(root, work)
  const notes: string[] = []
  const properties: Schema = {}
  const hidden: string[] = []
  for (const [name, given] of Object.entries(top.properties)) {
    const value = cleaned(given, work, 1)
    if (value === undefined) continue
    if (rules === 'claude' && !CLAUDE_NAME.test(name)) hidden.push(JSON.stringify(name))
    else properties[name] = value
  }
  if (top.alternatives.length > 1) notes.push(alternativesNote(top.alternatives))
  if (hidden.length > 0) notes.push(`Further arguments: ${hidden.join(', ')}.`)
  const required = top.required.filter((name) => Object.hasOwn(properties, name))
  // Counted afresh, because the definitions that the properties refer to must not get lost.
  const rest = Object.fromEntries(
    Object.entries(cleaned({ ...root, ...emptied }, { ...work, unread: MAX_READ }, 0) ?? {}).filter(
      ([key]) => !NOT_AT_TOP.has(key) && key !== '$ref',
    ),
  )
  // The keys keep their order where the original has them, so that an accepted schema stays the same text.
  const schema: Schema = {}
  const own: Schema = { ...rest, type: 'object', properties }
  for (const key of Object.keys(root)) {
    if (key === 'required') {
      if (required.length > 0) schema.required = required
    } else if (Object.hasOwn(own, key)) schema[key] = own[key]
  }
  for (const [key, value] of Object.entries(own)) schema[key] ??= value
  if (required.length > 0) schema.required ??= required
  return { schema, notes }
}

/** What is computed from the alternatives, too. */
const emptied = { properties: undefined, required: undefined, type: undefined }

interface Work {
  root: Schema
  rules: SchemaRules
  /** How many more schemas references may add. */
  left: number
  /** How many more schemas are read: some are read twice at each level, so that their number would double with each. */
  unread: number
  /** How many more names are gathered: each level of combined schemas gathers those of the levels below again. */
  unmerged: number
  /** The references that lead to the place being read, to notice those that lead back. */
  following: string[]
  /** Whether a list of schemas by place is being read. Those within it have one schema for all places, or each level would double. */
  isInPlaces: boolean
}

interface Merged {
  properties: Schema
  required: string[]
  /** The names that each alternative adds and requires. */
  alternatives: string[][]
}

/** The properties of an object schema and of everything that is combined with it. */
function withMerged(schema: Schema, work: Work, depth = 0): Merged {
  const properties = propertiesOf(schema)
  const required = new Set(namesIn(schema.required))
  const alternatives: string[][] = []
  work.unmerged -= Object.keys(properties).length + 1
  if (work.unmerged < 0) return { properties: {}, required: [], alternatives }
  // Draft 3: each property says itself whether it is required.
  for (const [name, property] of Object.entries(properties))
    if (asRecord(property)?.required === true) required.add(name)
  if (depth > MAX_DEPTH) return { properties, required: [...required], alternatives }
  const add = (one: Merged, requires: boolean): void => {
    for (const [name, property] of Object.entries(one.properties)) {
      const before = properties[name]
      properties[name] =
        before === undefined || !isRecord(before) || Object.keys(before).length === 0
          ? property
          : before
    }
    if (requires) for (const name of one.required) required.add(name)
  }
  const resolved = followed(schema, work)
  if (resolved !== undefined) {
    add(withMerged(resolved.target, work, depth + 1), true)
    resolved.done()
  }
  for (const one of schemasIn(schema.allOf)) add(withMerged(one, work, depth + 1), true)
  for (const branch of [schema.then, schema.else])
    if (isRecord(branch)) add(withMerged(branch, work, depth + 1), false)
  for (const list of [schema.anyOf, schema.oneOf]) {
    const ones = schemasIn(list).map((one) => withMerged(one, work, depth + 1))
    for (const one of ones) add(one, false)
    const [first, ...others] = ones.map((one) => new Set(one.required))
    if (first === undefined) continue
    for (const name of first) if (others.every((one) => one.has(name))) required.add(name)
    for (const one of ones) alternatives.push(one.required.filter((name) => !required.has(name)))
  }
  return { properties, required: [...required], alternatives }
}

/** The properties of a schema. One that is only required can be given, too; some providers refuse such a schema. */
function propertiesOf(schema: Schema): Schema {
  const properties = asRecord(schema.properties) ?? {}
  const others = namesIn(schema.required).filter((name) => !Object.hasOwn(properties, name))
  return { ...properties, ...Object.fromEntries(others.map((name) => [name, {}])) }
}

/** What the schema of the arguments can't say to this provider. */
function alternativesNote(alternatives: readonly string[][]): string {
  const texts = [...new Set(alternatives.map((names) => names.join(' and ')))]
  return texts.includes('') ? '' : `Requires ${texts.map((names) => `(${names})`).join(' or ')}.`
}

const namesIn = (value: unknown): string[] =>
  Array.isArray(value)
    ? [...new Set(value.filter((name): name is string => typeof name === 'string'))]
    : []

const schemasIn = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isRecord) : [])

/** The schema that `$ref` names; undefined if there is none, or if it is being read already. Call `done` afterwards. */
function followed(schema: Schema, work: Work): { target: Schema; done(): void } | undefined {
  const reference = schema.$ref
  if (!isReference(reference) || work.following.includes(reference)) return undefined
  if (!reference.startsWith('#') || work.left <= 0) return undefined
  let at: unknown = work.root
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    at = Array.isArray(at) ? at[Number(key)] : asRecord(at)?.[key]
  }
  const target = asRecord(at)
  if (target === undefined) return undefined
  work.left -= 1
  work.following.push(reference)
  return { target, done: () => void work.following.pop() }
}

const isReference = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_REFERENCE_CHARACTERS

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // It is not percent-encoded after all.
    return part
  }
}

/** The schema of any value. Gemini refuses one without a type. */
const anything = ({ rules }: Work): Schema => (rules === 'gemini' ? { type: 'string' } : {})

/** A schema without what providers refuse. Undefined if it accepts nothing, so that its property can be left out. */
function cleaned(given: unknown, work: Work, depth: number): Schema | undefined {
  if (given === false) return undefined
  const schema = asRecord(given)
  work.unread -= 1
  if (schema === undefined || depth > MAX_DEPTH || work.unread < 0) return anything(work)
  const { $ref, ...beside } = schema
  if ($ref !== undefined && depth > 0 && !isKept($ref, work)) {
    const resolved = followed(schema, work)
    const text = asText(schema.description)
    if (resolved === undefined)
      return { ...anything(work), ...(text === '' ? {} : { description: text }) }
    const value = cleaned({ ...resolved.target, ...beside }, work, depth + 1)
    resolved.done()
    return value
  }
  // Before its parts are read, so that each is read once.
  if (work.rules === 'gemini' && depth < MAX_DEPTH && schemasIn(schema.allOf).length > 0)
    return cleaned(withoutAllOf(schema, work, depth), work, depth + 1)
  const type = typeOf(schema)
  const kept: Schema = {}
  for (const [key, value] of Object.entries({
    ...schema,
    ...(type === undefined ? {} : { type }),
  })) {
    const clean = cleanedKeyword(key, value, schema, work, depth)
    if (clean !== undefined) kept[key] = clean
  }
  if (kept.required !== undefined) kept.properties ??= cleanedMap(propertiesOf(schema), work, depth)
  if (type === undefined) delete kept.type
  else if (![type].flat().includes('object')) {
    delete kept.properties
    delete kept.required
  }
  if (kept.type === 'array' || (Array.isArray(kept.type) && kept.type.includes('array')))
    kept.items ??= itemsOf(schema, work, depth, schemasIn(kept.prefixItems))
  if (work.rules === 'gemini') return forGemini(kept, depth)
  return kept
}

/** References to definitions of the same document are kept where the provider follows them. */
const isKept = (reference: unknown, { rules, root }: Work): boolean => {
  if (rules === 'gemini' || !isReference(reference)) return false
  const [, place, name] = /^#\/(\$defs|definitions)\/([^/%~]+)$/.exec(reference) ?? []
  return place !== undefined && name !== undefined && isRecord(asRecord(root[place])?.[name])
}

function cleanedKeyword(
  key: string,
  value: unknown,
  schema: Schema,
  work: Work,
  depth: number,
): unknown {
  if (value === undefined || ABOUT_DOCUMENT.has(key)) return undefined
  switch (key) {
    case 'description':
    case 'title':
    case 'format':
      return typeof value === 'string' ? value : undefined
    case 'properties':
      return isRecord(value) ? cleanedMap(propertiesOf(schema), work, depth) : undefined
    case '$defs':
    case 'definitions':
    case 'patternProperties':
    case 'dependentSchemas':
      return isRecord(value) ? cleanedMap(value, work, depth) : undefined
    case 'items':
      return Array.isArray(value) ? itemsOf(schema, work, depth) : cleaned(value, work, depth + 1)
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return cleanedList(value, work, depth)
    case 'prefixItems':
      return placesOf(value, work, depth)
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return typeof value === 'boolean' ? value : cleaned(value, work, depth + 1)
    case 'not':
    case 'if':
    case 'then':
    case 'else':
    case 'contains':
    case 'propertyNames':
      return isRecord(value) ? cleaned(value, work, depth + 1) : undefined
    case 'required': {
      const known = propertiesOf(schema)
      const names = namesIn(value).filter((name) => known[name] !== false)
      return names.length === 0 ? undefined : names
    }
    case 'enum':
      return Array.isArray(value) && value.length > 0 ? value : undefined
    case 'pattern':
      return isPlainPattern(value) ? value : undefined
    // Draft 4: a boolean beside the limit. Later: the limit itself.
    case 'exclusiveMinimum':
      return value === true ? schema.minimum : typeof value === 'number' ? value : undefined
    case 'exclusiveMaximum':
      return value === true ? schema.maximum : typeof value === 'number' ? value : undefined
    default:
      return value
  }
}

function cleanedList(value: unknown, work: Work, depth: number): Schema[] | undefined {
  const parts = (Array.isArray(value) ? value : []).flatMap((one: unknown): Schema[] => {
    const part = cleaned(one, work, depth + 1)
    return part === undefined ? [] : [part]
  })
  return parts.length === 0 ? undefined : parts
}

/** Schemas by place, except where only the schema for all places is sent: for Gemini, and within such a list. */
function placesOf(value: unknown, work: Work, depth: number): Schema[] | undefined {
  if (work.isInPlaces || work.rules === 'gemini') return undefined
  work.isInPlaces = true
  const parts = cleanedList(value, work, depth)
  work.isInPlaces = false
  return parts
}

const cleanedMap = (map: Schema, work: Work, depth: number): Schema =>
  Object.fromEntries(
    Object.entries(map).flatMap(([name, one]) => {
      const value = cleaned(one, work, depth + 1)
      return value === undefined ? [] : [[name, value]]
    }),
  )

/**
 * A list must say what is in it. A list of schemas by place (draft 4 to 2019-09) becomes one for all places.
 * `read`: those of the list that are read already.
 */
function itemsOf(schema: Schema, work: Work, depth: number, read: Schema[] = []): Schema {
  const places = [schema.items, schema.prefixItems].find(Array.isArray)
  const parts = read.length > 0 ? read : (cleanedList(places, work, depth) ?? [])
  const [first, ...others] = parts
  return others.some((one) => !isDeepStrictEqual(one, first))
    ? { anyOf: parts }
    : (first ?? anything(work))
}

/** The types of JSON Schema that a schema names, or that its keywords imply; undefined if any. */
function typeOf(schema: Schema): string | string[] | undefined {
  const given = Array.isArray(schema.type) ? schema.type : [schema.type]
  const names = given.flatMap((name) => {
    const lower = asText(name).toLowerCase()
    const known = TYPE_NAMES[lower] ?? lower
    return TYPES.has(known) ? [known] : []
  })
  const types = [...new Set(names)]
  if (types.length > 1) return types
  const [only] = types
  if (only !== undefined) return Array.isArray(schema.type) ? types : only
  return schema.type !== undefined && isRecord(schema.properties) ? 'object' : undefined
}

/** Expressions with look-around or back references, or that are none, make some servers refuse the whole request. */
function isPlainPattern(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > 500 || /\(\?[=!<]|\\[1-9pPkb]/.test(value))
    return false
  try {
    new RegExp(value, 'u')
    return true
  } catch {
    return false
  }
}

/** The schema with what it combines: the properties of all parts, or else the keywords of the first one. */
function withoutAllOf(schema: Schema, work: Work, depth: number): Schema {
  const { allOf: parts, ...own } = schema
  const { properties, required } = withMerged(schema, work, depth)
  const [first] = schemasIn(parts)
  const whole =
    Object.keys(properties).length > 0 ? { ...own, type: 'object', properties, required } : own
  return { ...first, ...whole }
}

/** What Google's API reads: one type, no other keywords, and texts as the values of an enumeration. */
function forGemini(kept: Schema, depth: number): Schema {
  const types = [kept.type].flat().filter((type): type is string => typeof type === 'string')
  const choices = [...schemasIn(kept.anyOf), ...schemasIn(kept.oneOf)]
  const isNullable =
    kept.nullable === true || types.includes('null') || choices.some(({ type }) => type === 'null')
  const common = {
    ...(typeof kept.description === 'string' ? { description: kept.description } : {}),
    ...(isNullable ? { nullable: true } : {}),
  }
  const options = choices.filter(({ type }) => type !== 'null')
  const [option] = options
  if (options.length === 1) return { ...option, ...common }
  if (options.length > 1) return { anyOf: options, ...common }
  const real = types.filter((type) => type !== 'null')
  // An alternative, which the union around it turns into `nullable`.
  if (types.length > 0 && real.length === 0) return { type: 'null' }
  if (real.length > 1)
    return { anyOf: real.map((type) => geminiOf({ ...kept, type }, {})), ...common }
  const [type] = real
  if (type !== undefined) return geminiOf({ ...kept, type }, common)
  const implied = isRecord(kept.properties) ? 'object' : 'string'
  // Only the top may have no type here: it gets one later.
  return depth === 0 ? geminiOf(kept, common) : geminiOf({ ...kept, type: implied }, common)
}

const ONLY_FOR: Readonly<Record<string, string>> = {
  properties: 'object',
  required: 'object',
  items: 'array',
  minItems: 'array',
  maxItems: 'array',
}

/** A schema with one type, without the keywords of other types. */
function geminiOf(schema: Schema, common: Schema): Schema {
  const listed = Array.isArray(schema.enum) ? schema.enum : [schema.const]
  const values = listed.filter((value) => value !== undefined && value !== null && value !== '')
  if (values.length > 0)
    return { type: 'string', enum: [...new Set(values.map(String))], ...common }
  const kept = Object.entries(schema).filter(([key, value]) => {
    if (key === 'format') return GEMINI_FORMATS.has(asText(value))
    const only = Object.hasOwn(ONLY_FOR, key) ? ONLY_FOR[key] : undefined
    return GEMINI_KEYS.has(key) && (only === undefined || only === schema.type)
  })
  return { ...Object.fromEntries(kept), ...common }
}
