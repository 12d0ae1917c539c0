// Schemas of tools as providers accept them: OpenAI, Anthropic and Google each refuse the whole request for one odd schema.
import { describe, expect, test } from 'vitest'
import {
  type SchemaRules,
  sendableSchema,
  sendableTool,
} from '../../../server/llm/sendable-schema.ts'

const ALL: readonly SchemaRules[] = ['common', 'claude', 'gemini']
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const sent = (schema: object, rules: SchemaRules = 'common') =>
  sendableSchema({ ...schema }, rules).schema
const text = { type: 'string' }

describe('alternatives at the top', () => {
  const either = {
    type: 'object',
    anyOf: [
      object({ content: text }, { required: ['content'] }),
      object({ url: text, title: text }, { required: ['url', 'title'] }),
    ],
  }

  test.each(ALL)('become optional properties for %s, with a note what is required', (rules) => {
    const { schema, notes } = sendableSchema(either, rules)
    expect(schema).toEqual(object({ content: text, url: text, title: text }))
    expect(notes).toEqual(['Requires (content) or (url and title).'])
  })

  test('require what each of them requires, and everything of allOf', () => {
    expect(
      sent({
        type: 'object',
        properties: { id: text },
        required: ['id'],
        allOf: [object({ a: text }, { required: ['a'] })],
        oneOf: [
          object({ kind: text, b: text }, { required: ['kind', 'b'] }),
          object({ kind: text }, { required: ['kind'] }),
        ],
      }),
    ).toEqual(object({ id: text, a: text, kind: text, b: text }, { required: ['id', 'a', 'kind'] }))
  })

  test('behind a reference are found', () => {
    const schema = sent({
      type: 'object',
      $ref: '#/$defs/input',
      $defs: { input: object({ a: text }, { required: ['a'] }) },
    })
    expect(schema).toMatchObject(object({ a: text }, { required: ['a'] }))
    expect(schema).not.toHaveProperty('$ref')
  })

  test.each(['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'if', 'then', 'const'])(
    'and any other %s at the top are not sent',
    (keyword) => {
      const value = /Of$/.test(keyword) ? [object({ a: text })] : keyword === 'enum' ? [{}] : {}
      expect(sent({ type: 'object', [keyword]: value })).not.toHaveProperty(keyword)
    },
  )
})

describe('inside a schema', () => {
  test.each([
    ['a list without items', { type: 'array' }, { type: 'array', items: {} }],
    ['a list in a union', { type: ['array', 'null'] }, { type: ['array', 'null'], items: {} }],
    [
      'a list of schemas by place',
      { type: 'array', items: [text, { type: 'integer' }] },
      { type: 'array', items: { anyOf: [text, { type: 'integer' }] } },
    ],
    ['true', true, {}],
    ['null', null, {}],
    ['a text', 'string', {}],
    ['a type of another language', { type: 'int' }, { type: 'integer' }],
    ['an unknown type', { type: 'file', description: 'd' }, { description: 'd' }],
    ['an empty enumeration', { type: 'string', enum: [] }, text],
    ['an enumeration that is null', { type: 'string', enum: null }, text],
    [
      'a draft 4 limit',
      { type: 'number', minimum: 3, exclusiveMinimum: true },
      { type: 'number', minimum: 3, exclusiveMinimum: 3 },
    ],
    ['a draft 3 requirement', { type: 'string', required: true }, text],
    ['look-ahead', { type: 'string', pattern: '^(?!x).*$' }, text],
    ['an expression that is none', { type: 'string', pattern: '(' }, text],
    [
      'a plain expression',
      { type: 'string', pattern: '^[a-z]+$' },
      { type: 'string', pattern: '^[a-z]+$' },
    ],
    ['properties of a text', { type: 'string', properties: {}, required: ['a'] }, text],
    ['a reference to nothing', { $ref: '#/$defs/none', description: 'd' }, { description: 'd' }],
    ['a reference to another document', { $ref: 'https://example.org/s' }, {}],
    ['its own address', { ...text, $schema: 'x', $id: 'y', id: 'z' }, text],
  ])('%s is adapted', (_what, given, expected) => {
    expect(sent(object({ a: given })).properties).toEqual({ a: expected })
  })

  test('a property that accepts nothing is left out, and one that is only required is added', () => {
    expect(sent(object({ a: false, b: text }, { required: ['b', 'c', 7] }))).toEqual(
      object({ b: text, c: {} }, { required: ['b', 'c'] }),
    )
  })

  test('references between properties are resolved, and a cycle ends', () => {
    expect(sent(object({ a: text, b: { $ref: '#/properties/a' } })).properties).toEqual({
      a: text,
      b: text,
    })
    const tree = object({ next: { $ref: '#' }, name: text })
    expect(sent(tree)).toEqual(object({ next: object({ next: {}, name: text }), name: text }))
  })

  test('definitions that every provider follows stay, byte for byte', () => {
    const parameters = object(
      { a: { $ref: '#/$defs/node' } },
      { required: ['a'], $defs: { node: object({ next: { $ref: '#/$defs/node' } }) } },
    )
    const tool = { type: 'function' as const, function: { name: 't', description: '', parameters } }
    expect(sendableTool(tool, 'common')).toBe(tool)
  })

  test('a schema that multiplies ends', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `l${at}`,
        object({ a: { $ref: `#/$defs/l${at + 1}` }, b: { $ref: `#/$defs/l${at + 1}` } }),
      ]),
    )
    const schema = sent(object({ a: { $ref: '#/$defs/l0' } }, { $defs }), 'gemini')
    expect(JSON.stringify(schema).length).toBeLessThan(100_000)
    let deep: object = text
    for (let level = 0; level < 5_000; level += 1) deep = { type: 'array', items: deep }
    expect(JSON.stringify(sent(object({ a: deep }))).length).toBeLessThan(5_000)
  })

  test.each(ALL)(
    'lists of places and combinations within each other do not multiply for %s',
    (rules) => {
      let places: object = { type: 'string', title: 'innermost' }
      let parts: object = object({ b: { type: 'string', title: 'innermost' } })
      for (let level = 0; level < 20; level += 1) {
        places = { type: 'array', prefixItems: [places] }
        parts = { allOf: [parts] }
      }
      for (const nested of [places, parts]) {
        const text = JSON.stringify(sent(object({ a: nested }), rules))
        expect(text.length).toBeLessThan(5_000)
        expect(text).toContain('innermost')
      }
    },
  )
})

test('a property whose name Anthropic refuses is named in words instead', () => {
  const { schema, notes } = sendableSchema(
    object({ $filter: text, 'a.b': text, ok: text }),
    'claude',
  )
  expect(schema).toEqual(object({ 'a.b': text, ok: text }))
  expect(notes).toEqual(['Further arguments: "$filter".'])
  expect(sent(object({ $filter: text }))).toEqual(object({ $filter: text }))
})

describe('for Gemini', () => {
  test.each([
    ['two types', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
    [
      'a union with null',
      { anyOf: [text, { type: 'null' }], description: 'd' },
      { type: 'string', description: 'd', nullable: true },
    ],
    ['oneOf', { oneOf: [text, { type: 'integer' }] }, { anyOf: [text, { type: 'integer' }] }],
    ['several types', { type: ['string', 'integer'] }, { anyOf: [text, { type: 'integer' }] }],
    ['a constant', { const: 'a' }, { type: 'string', enum: ['a'] }],
    [
      'numbers to choose from',
      { type: 'integer', enum: [1, 2] },
      { type: 'string', enum: ['1', '2'] },
    ],
    ['another format', { type: 'string', format: 'uri' }, text],
    ['a date', { type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }],
    ['a map', { type: 'object', additionalProperties: text }, { type: 'object' }],
    [
      'exclusive limits',
      { type: 'number', exclusiveMinimum: 0, multipleOf: 2 },
      { type: 'number' },
    ],
    ['anything', {}, text],
    ['a list of anything', { type: 'array' }, { type: 'array', items: text }],
    [
      'a nullable object',
      { type: ['object', 'null'], properties: { b: text } },
      { type: 'object', properties: { b: text }, nullable: true },
    ],
    ['allOf', { allOf: [object({ b: text }), object({ c: text })] }, object({ b: text, c: text })],
    ['a definition', { $ref: '#/$defs/x' }, { type: 'string', description: 'X' }],
    ['true', true, text],
    ['a list of true', { type: 'array', items: true }, { type: 'array', items: text }],
    ['a reference to nothing', { $ref: '#/$defs/none' }, text],
    [
      'a reference that leads back',
      { $ref: '#/$defs/loop' },
      { type: 'object', properties: { next: text } },
    ],
  ])('%s is written in the subset of OpenAPI that it reads', (_what, given, expected) => {
    const $defs = {
      x: { type: 'string', description: 'X', examples: ['y'] },
      loop: object({ next: { $ref: '#/$defs/loop' } }),
    }
    expect(sent(object({ a: given }, { $defs, additionalProperties: false }), 'gemini')).toEqual(
      object({ a: expected }),
    )
  })
})
