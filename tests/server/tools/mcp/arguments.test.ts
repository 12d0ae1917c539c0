// Arguments of remote tools: repaired and completed by the schema of the server where their meaning is clear.
import { describe, expect, test } from 'vitest'
import { fittingArguments } from '../../../../server/tools/mcp/tool/fitting-arguments.ts'
import { startScriptedMcpServer } from '../../../fixtures/mcp-scripted-server.ts'
import { call, start } from './use-servers.ts'

async function toolWith(inputSchema: object) {
  const server = await startScriptedMcpServer({ tools: [{ name: 'take', inputSchema }] })
  const { tools, connected } = start({ odd: { url: server.url } })
  await connected('odd')
  return async (input: Record<string, unknown>) => {
    await call(tools.get('mcp__odd__take'), input)
    return server.calls.at(-1)?.input
  }
}

const typed = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    ratio: { type: 'number' },
    flag: { type: 'boolean' },
    filter: { type: 'object', properties: { limit: { type: 'integer' } } },
    tags: { type: 'array', items: { type: 'string' } },
    note: { type: 'string' },
    either: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    rows: { type: 'array', items: { $ref: '#/$defs/row' } },
  },
  required: ['id'],
  $defs: { row: { type: 'object', properties: { n: { type: 'number' } } } },
}

describe('values that a model wrote as texts', () => {
  test.each([
    [{ id: '5' }, { id: 5 }],
    [
      { id: 5, ratio: '0.5' },
      { id: 5, ratio: 0.5 },
    ],
    [
      { id: 5, flag: 'True' },
      { id: 5, flag: true },
    ],
    [
      { id: 5, filter: '{"limit":"3"}' },
      { id: 5, filter: { limit: 3 } },
    ],
    [
      { id: 5, tags: '["x"]' },
      { id: 5, tags: ['x'] },
    ],
    [{ id: 5, filter: '' }, { id: 5 }],
    [{ id: 5, filter: null, note: null }, { id: 5 }],
    [
      { id: 5, either: '8' },
      { id: 5, either: 8 },
    ],
    [
      { id: 5, either: 'null' },
      { id: 5, either: null },
    ],
    [
      { id: 5, rows: [{ n: '1.5' }] },
      { id: 5, rows: [{ n: 1.5 }] },
    ],
    [
      { id: '5', note: '6' },
      { id: 5, note: '6' },
    ],
  ])('%o reach the server as %o', async (given, expected) => {
    const take = await toolWith(typed)
    expect(await take(given)).toEqual(expected)
  })

  test.each([
    { id: 'five' },
    { id: '5.5' },
    // As a number, it would be rounded to another one.
    { id: '12345678901234567890' },
    { id: 5, flag: 'yes' },
    { id: 5, tags: 'x, y' },
    { id: '' },
    {},
  ])('%o are refused, because their meaning is not clear', async (given) => {
    const take = await toolWith(typed)
    await expect(take(given)).rejects.toThrow(/Invalid arguments/)
  })

  test('are repaired for a schema that only the server can check, too', async () => {
    const take = await toolWith({
      type: 'object',
      properties: { count: { type: 'integer' }, next: { $ref: '#' } },
    })
    expect(await take({ count: '3', next: { count: '4' } })).toEqual({
      count: 3,
      next: { count: 4 },
    })
  })

  test('are repaired beside a property whose schema refers to itself many times', () => {
    const again = Array.from({ length: 6 }, () => ({ $ref: '#/$defs/again' }))
    const schema = {
      type: 'object',
      properties: { count: { type: 'integer' }, again: { $ref: '#/$defs/again' } },
      $defs: { again: { anyOf: again } },
    }
    expect(fittingArguments({ count: '3', again: '4' }, schema, null)).toEqual({
      ok: true,
      value: { count: 3, again: '4' },
    })
  })

  test('are repaired by a schema that several alternatives refer to', () => {
    const count = { $ref: '#/$defs/count' }
    const schema = {
      type: 'object',
      properties: { count: { anyOf: [count, { allOf: [count] }] } },
      $defs: { count: { type: 'integer' } },
    }
    expect(fittingArguments({ count: '3' }, schema, null)).toEqual({
      ok: true,
      value: { count: 3 },
    })
  })

  test('stay texts where a text is accepted', async () => {
    const take = await toolWith({
      type: 'object',
      properties: { any: {}, both: { type: ['string', 'integer'] }, text: { type: 'string' } },
    })
    const given = { any: '5', both: '5', text: '{"a":1}' }
    expect(await take(given)).toEqual(given)
  })
})

describe('defaults of the schema', () => {
  const schema = {
    type: 'object',
    properties: {
      unit: { type: 'string', default: 'km' },
      limit: { type: 'integer', default: 10 },
      page: { type: 'object', properties: { size: { type: 'integer', default: 20 } } },
      broken: { type: 'integer' },
      none: { type: ['string', 'null'], default: null },
    },
    required: ['unit'],
  }

  test('are filled in for what the model left out, also inside objects', async () => {
    const take = await toolWith(schema)
    expect(await take({})).toEqual({ unit: 'km', limit: 10 })
    expect(await take({ limit: 3, page: {} })).toEqual({ unit: 'km', limit: 3, page: { size: 20 } })
  })

  test('that are themselves invalid are not used', async () => {
    const take = await toolWith({
      type: 'object',
      properties: { a: { type: 'integer', default: 'many' } },
    })
    expect(await take({})).toEqual({})
  })
})
