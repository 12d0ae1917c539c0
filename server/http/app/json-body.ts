// Reads JSON bodies in short turns of the event loop: bounds their depth, lists and values before any code walks them, and validates long lists in pieces.
import type { FastifyInstance, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { validatorCompiler } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { appError } from '../../errors.ts'
import { createTurns } from '../../lib/turns.ts'

export const DEFAULT_JSON_DEPTH = 64
const MAX_ARRAY_LENGTH = 10_000
/** Maximum values of a body, keys and list items counted alike, or of a part that is parsed at once: about 20 ms. */
const MAX_VALUES = 50_000
/** Texts up to this many characters are parsed at once, without looking at them first. */
const SHORT_CHARACTERS = 64_000
/** How deep into a body its lists and objects are parsed one after another. */
const SPLIT_LEVELS = 5
/** Characters between two looks at the clock. */
const SCANNED_AT_ONCE = 16_384

type Parse = (text: string) => Promise<unknown>

/**
 * Parses `application/json`. An empty or missing body becomes `{}` if the route declares a body, so that a route with only
 * optional fields can be called without one, and validation names missing required fields.
 */
export function registerJsonBodies(
  app: Pick<
    FastifyInstance,
    'addHook' | 'addContentTypeParser' | 'getDefaultJsonParser' | 'removeContentTypeParser'
  >,
  maxDepth: number,
): void {
  const parser = app.getDefaultJsonParser('remove', 'remove')
  const parserOf =
    (request: FastifyRequest): Parse =>
    (text) =>
      new Promise((resolve, reject) => {
        void parser(request, text, (error, value) => (error ? reject(error) : resolve(value)))
      })
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    async (request: FastifyRequest, body: string) => {
      if (body.trim() === '') return undefined
      const isLong = request.routeOptions.config.longArrays === true
      return await parseBounded(body, parserOf(request), { maxDepth, isLong })
    },
  )
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined && request.routeOptions.schema?.body !== undefined)
      request.body = {}
  })
}

/**
 * @param bounds.isLong lists may have any length; more values than are parsed at once are parsed part by part.
 * @throws AppError 400 when the text is nested too deep, or contains too many values or a list of more than 10,000 entries.
 */
async function parseBounded(
  text: string,
  parse: Parse,
  { maxDepth, isLong }: { maxDepth: number; isLong: boolean },
): Promise<unknown> {
  const turn = createTurns()

  /** The value in a part of the text, which lies this many levels below the top. */
  async function read(from: number, to: number, level: number): Promise<unknown> {
    if (to - from <= SHORT_CHARACTERS) return bounded(await parse(text.slice(from, to)), level)
    const { values, depth, open, close, commas } = await outline(text, from, to, turn)
    if (level + depth > maxDepth) throw appError('json_too_deep', { levels: maxDepth })
    if (values <= MAX_VALUES) return bounded(await parse(text.slice(from, to)), level)
    if (!isLong || level >= SPLIT_LEVELS)
      throw appError('json_too_many_values', { limit: MAX_VALUES })
    const isList = text[open] === '['
    // Lists may be long; an object with that many fields is none that a route knows.
    if (!isList && commas.length > MAX_VALUES)
      throw appError('json_too_many_values', { limit: MAX_VALUES })
    const isWhole = text[close] === (isList ? ']' : '}') && text.slice(close + 1, to).trim() === ''
    // Fails as the whole text would.
    if (!isWhole || text.slice(from, open).trim() !== '') return await parse('{')
    const ends = [...commas, close]
    const items: unknown[] = []
    const fields: Record<string, unknown> = {}
    for (let index = 0, start = open + 1; index < ends.length; ) {
      // As many short ones as are parsed at once, or a single long one.
      let next = index + 1
      while (next < ends.length && (ends[next] ?? 0) - start <= SHORT_CHARACTERS) next += 1
      const end = ends[next - 1] ?? start
      await turn()
      if (isList) items.push(...(await readItems(start, end, level)))
      else for (const [name, value] of await readFields(start, end, level)) fields[name] = value
      start = end + 1
      index = next
    }
    return isList ? items : fields
  }

  async function readItems(from: number, to: number, level: number): Promise<unknown[]> {
    if (to - from > SHORT_CHARACTERS) return [await read(from, to, level + 1)]
    const some = await parse(`[${text.slice(from, to)}]`)
    // An item is missing: `[1,]`.
    if (!Array.isArray(some) || some.length === 0) return [await parse('{')]
    return bounded(some, level)
  }

  async function readFields(from: number, to: number, level: number): Promise<[string, unknown][]> {
    const name = to - from > SHORT_CHARACTERS ? FIELD_NAME.exec(text.slice(from, from + 500)) : null
    if (name !== null) {
      const key: unknown = await parse(name[1] ?? '')
      const value = await read(from + name[0].length, to, level + 1)
      return typeof key !== 'string' || UNSAFE_NAMES.has(key) ? [] : [[key, value]]
    }
    if (to - from > SHORT_CHARACTERS) {
      const { values, depth } = await outline(text, from, to, turn)
      if (level + 1 + depth > maxDepth) throw appError('json_too_deep', { levels: maxDepth })
      if (values > MAX_VALUES) throw appError('json_too_many_values', { limit: MAX_VALUES })
    }
    const some = bounded(await parse(`{${text.slice(from, to)}}`), level)
    if (typeof some !== 'object' || some === null || text.slice(from, to).trim() === '')
      return [['', await parse('{')]]
    return Object.entries(some)
  }

  /** Checks the depth and the lists of a value whose number of values is bounded. */
  function bounded<T>(value: T, level: number): T {
    const open: { node: unknown; depth: number }[] = [{ node: value, depth: level + 1 }]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, depth } = next
      if (typeof node !== 'object' || node === null) continue
      if (depth > maxDepth) throw appError('json_too_deep', { levels: maxDepth })
      if (Array.isArray(node) && node.length > MAX_ARRAY_LENGTH && !isLong)
        throw appError('json_list_too_long', { entries: MAX_ARRAY_LENGTH })
      for (const child of Object.values(node))
        if (typeof child === 'object' && child !== null)
          open.push({ node: child, depth: depth + 1 })
    }
    return value
  }

  return await read(0, text.length, 0)
}

/** The name of a field and its colon. Longer names are parsed with their value. */
const FIELD_NAME = /^\s*("(?:[^"\\]|\\.){0,200}")\s*:/
/** What Fastify's parser removes, too. */
const UNSAFE_NAMES = new Set(['__proto__', 'constructor'])

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  ...'"\\,[]{}',
].map((character) => character.charCodeAt(0))

/** What a part of a JSON text consists of. Nothing is checked; positions are those in the text. */
interface Outline {
  /** At least as many as there are values: commas and openings. */
  values: number
  depth: number
  /** The bracket with which the outermost list or object begins, and the one with which it ends; -1 without one. */
  open: number
  close: number
  /** The commas between its entries. */
  commas: number[]
}

async function outline(
  text: string,
  from: number,
  to: number,
  turn: () => Promise<void> | undefined,
): Promise<Outline> {
  const found: Outline = { values: 0, depth: 0, open: -1, close: -1, commas: [] }
  let depth = 0
  let inString = false
  for (let index = from; index < to; ) {
    const end = Math.min(to, index + SCANNED_AT_ONCE)
    for (; index < end; index += 1) {
      const code = text.charCodeAt(index)
      if (inString) {
        if (code === BACKSLASH) index += 1
        else if (code === QUOTE) inString = false
      } else if (code === QUOTE) inString = true
      else if (code === COMMA) {
        found.values += 1
        if (depth === 1) found.commas.push(index)
      } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        if (depth === 0 && found.open === -1) found.open = index
        depth += 1
        found.values += 1
        found.depth = Math.max(found.depth, depth)
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        depth -= 1
        if (depth === 0 && found.close === -1) found.close = index
      }
    }
    await turn()
  }
  return found
}

/** Items that are validated at once: a few milliseconds. */
const PIECE = 50

/** What a validator returns. */
interface Outcome {
  value?: unknown
  error?: Error | FastifySchemaValidationError[]
}

/** What validation in pieces found out about a body. */
const outcomes = new WeakMap<object, Outcome>()

/** As the compiler of the type provider, except for bodies that have been validated in pieces. */
export const validatorOfRoutes: typeof validatorCompiler = (route) => {
  const validate = validatorCompiler(route)
  return (data) =>
    (typeof data === 'object' && data !== null ? outcomes.get(data) : undefined) ?? validate(data)
}

/** A route marked `config.longList` names the field of its body whose items are validated in pieces. */
export function validateLongLists(app: Pick<FastifyInstance, 'addHook'>): void {
  const compiled = new WeakMap<object, ListValidator>()
  app.addHook('preValidation', async (request) => {
    const { body, routeOptions } = request
    const name = routeOptions.config.longList
    const schema = routeOptions.schema?.body
    if (name === undefined || !isRecord(body) || !(schema instanceof z.ZodObject)) return
    const list = body[name]
    if (!Array.isArray(list) || list.length <= PIECE) return
    let validator = compiled.get(schema)
    if (validator === undefined) {
      validator = validatorOf(schema, name, request)
      compiled.set(schema, validator)
    }
    outcomes.set(body, await validator(body, list))
  })
}

type ListValidator = (body: Record<string, unknown>, list: readonly unknown[]) => Promise<Outcome>

function validatorOf(
  schema: z.ZodObject,
  name: string,
  { method, routeOptions: { url = '' } }: FastifyRequest,
): ListValidator {
  const field: unknown = schema.shape[name]
  const array = field instanceof z.ZodUnion ? field.options.find(isArray) : field
  if (!isArray(array)) throw new Error(`${method} ${url}: ${name} is no list`)
  const compile = (part: z.ZodType): ((data: unknown) => Outcome) => {
    const validate = validatorCompiler({ schema: part, method, url, httpPart: 'body' })
    return (data) => {
      const outcome = validate(data)
      if (typeof outcome === 'boolean' || 'then' in outcome)
        throw new Error('The validators of the type provider return their outcome at once.')
      return outcome
    }
  }
  // The list itself, without its items: its length, and the other fields.
  const length = array.clone({ ...array._zod.def, element: z.unknown() })
  const others = compile(schema.safeExtend({ [name]: length }))
  const items = compile(z.array(array.element))
  return async (body, list) => {
    const around = others(body)
    if (around.error !== undefined) return around
    const turn = createTurns()
    const values: unknown[] = []
    for (let from = 0; from < list.length; from += PIECE) {
      await turn()
      const piece = items(list.slice(from, from + PIECE))
      if (piece.error !== undefined) return { error: placed(piece.error, name, from) }
      values.push(...Values.parse(piece.value))
    }
    return { value: { ...Fields.parse(around.value), [name]: values } }
  }
}

const Values = z.array(z.unknown())
const Fields = z.record(z.string(), z.unknown())

const isArray = (schema: unknown): schema is z.ZodArray<z.ZodType> => schema instanceof z.ZodArray

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The errors of a piece at the place that they have in the body. */
function placed(
  error: NonNullable<Outcome['error']>,
  name: string,
  from: number,
): NonNullable<Outcome['error']> {
  if (!Array.isArray(error)) return error
  return error.map((one) => ({
    ...one,
    instancePath: one.instancePath.replace(
      /^\/(\d+)/,
      (_all, index: string) => `/${name}/${Number(index) + from}`,
    ),
  }))
}
