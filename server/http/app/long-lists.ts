// Validates bodies with long lists piece by piece, so that no request holds the event loop for long.
import type { FastifyInstance, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { validatorCompiler } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { createTurns } from '../../lib/turns.ts'

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
