// Checks of answers against schemas from outside: they accept what has the form, and no schema stops the server.
import { describe, expect, test } from 'vitest'
import { createAnswerCheck } from '../../../server/runs/answer-format.ts'

const checkOf = (schema: Record<string, unknown>) =>
  createAnswerCheck({ type: 'json_schema', name: 'answer', schema })

/** How long it took, in milliseconds, until the result or the failure. */
async function timed(schema: Record<string, unknown>, value: unknown) {
  const check = await checkOf({})
  await check({})
  const began = performance.now()
  const fault = await checkOf(schema).then(
    (made) => made(value),
    (error: unknown) => Object(error).reason,
  )
  return { fault, took: performance.now() - began }
}
/** The limits of both parts, the start of a new thread, and what a busy machine adds. */
const BOUND_MS = 3_000
const HOSTILE = '(a+)+$'
const LONG = `${'a'.repeat(40)}!`

describe('a schema that would take for ever', () => {
  /** `levels` definitions, each of which tries the next one twice. */
  const doubling = (levels: number) => ({
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, at) => {
        const next = { $ref: `#/$defs/d${at + 1}` }
        return [`d${at}`, at === levels - 1 ? { type: 'null' } : { anyOf: [next, next] }]
      }),
    ),
    $ref: '#/$defs/d0',
  })
  const schemas: [name: string, schema: Record<string, unknown>, value: unknown][] = [
    ['tries twice as much with each level', doubling(40), 'x'],
    ['refers to itself', { $ref: '#' }, 'x'],
    [
      'has a definition that is itself',
      { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
      'x',
    ],
    [
      'has patterns where only references lead',
      { parts: { a: { pattern: HOSTILE } }, $ref: '#/parts/a' },
      LONG,
    ],
  ]
  test.each(schemas)('is stopped: one that %s', async (_name, schema, value) => {
    const { fault, took } = await timed(schema, value)
    expect(['answer_schema_invalid', 'It cannot be checked against the schema in time.']).toContain(
      fault,
    )
    expect(took).toBeLessThan(BOUND_MS)
  })

  test('is stopped while it is compiled', async () => {
    const wide = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [`p${at}`, { $ref: '#/$defs/large' }]),
    )
    const large = {
      properties: Object.fromEntries(
        Array.from({ length: 800 }, (_, at) => [`q${at}`, { type: 'string', minLength: at }]),
      ),
    }
    const { fault, took } = await timed({ $defs: { large }, properties: wide }, {})
    expect(fault).toBe('answer_schema_invalid')
    expect(took).toBeLessThan(BOUND_MS)
  })

  test('leaves the checks of others as they are', async () => {
    const check = await checkOf({ type: 'object', required: ['name'] })
    await timed(doubling(40), 'x')
    expect(await check({ name: 'Ada' })).toBeNull()
    expect(await check({})).toContain('name')
  })
})

test('a schema that asks for a promise is checked like others', async () => {
  const check = await checkOf({ $async: true, type: 'object' })
  expect(await check('text')).toContain('object')
  expect(await check({})).toBeNull()
})

test('what is wrong is said in at most 2,000 characters', async () => {
  const required = Array.from({ length: 1_000 }, (_, at) => `field_${at}`)
  const fault = await (await checkOf({ type: 'object', required }))({})
  expect(fault?.length).toBeLessThanOrEqual(2_001)
  expect(fault).toContain('field_0')
})

describe('patterns are not checked', () => {
  test('at the root, below it, and for names of properties', async () => {
    expect(await (await checkOf({ pattern: HOSTILE }))(LONG)).toBeNull()
    expect(await (await checkOf({ items: { pattern: '(?P<year>x)' } }))([LONG])).toBeNull()
    expect(
      await (await checkOf({ patternProperties: { [HOSTILE]: false } }))({ [LONG]: 1 }),
    ).toBeNull()
  })

  test('properties whose names are those of keywords are checked', async () => {
    const check = await checkOf({
      type: 'object',
      properties: { pattern: { type: 'string' }, patternProperties: { type: 'number' } },
      required: ['pattern', 'patternProperties'],
      additionalProperties: false,
    })
    expect(await check({ pattern: 'a', patternProperties: 1 })).toBeNull()
    expect(await check({ pattern: 'a', patternProperties: 'b' })).toContain('number')
  })

  test('values that look like patterns stay', async () => {
    const check = await checkOf({ enum: [{ pattern: 'a' }], items: { pattern: 'b' } })
    expect(await check({ pattern: 'a' })).toBeNull()
    expect(await check({})).not.toBeNull()
  })

  test('and refuse no answer that has the form', async () => {
    const closed = { additionalProperties: false, patternProperties: { '^x': { type: 'number' } } }
    expect(
      await (await checkOf({ properties: { inner: closed } }))({ inner: { x1: 1 } }),
    ).toBeNull()
    const unevaluated = {
      allOf: [{ patternProperties: { '^x': {} } }],
      unevaluatedProperties: false,
    }
    expect(await (await checkOf(unevaluated))({ x1: 1 })).toBeNull()
    expect(await (await checkOf({ not: { pattern: '^x' } }))('y')).toBeNull()
    const either = await checkOf({
      oneOf: [
        { type: 'string', pattern: '^a' },
        { type: 'string', pattern: '^b' },
      ],
    })
    expect(await either('a')).toBeNull()
    expect(await either(1)).not.toBeNull()
    const conditional = JSON.parse('{"if":{"pattern":"^x"},"then":{"maxLength":1}}')
    expect(await (await checkOf(conditional))('yyy')).toBeNull()
  })
})
