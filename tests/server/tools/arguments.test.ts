// The arguments of tool calls as models write them.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { checkArguments } from '../../../server/tools/definition.ts'

const schema = z.object({
  path: z.string().min(1).default('.'),
  pattern: z.string().min(1).optional(),
  old: z.string().optional(),
  limit: z.int().min(1).max(100).default(10),
  all: z.boolean().default(false),
  names: z.array(z.string()).optional(),
  query: z.string().min(1),
})

const accepted = (value: Record<string, unknown>) => {
  const checked = checkArguments(schema, { query: 'tea', ...value })
  return checked.ok ? checked.value : checked.error
}

test('null or an empty text for an optional argument means that it is left out', () => {
  expect(accepted({ path: '', pattern: null, limit: null, names: null })).toEqual({
    path: '.',
    limit: 10,
    all: false,
    query: 'tea',
  })
})

test('an empty text stays where it is allowed', () => {
  expect(accepted({ old: '' })).toMatchObject({ old: '' })
})

test('numbers, booleans and lists that were written as texts are read', () => {
  expect(accepted({ limit: '20', all: 'true', names: '["a", "b"]' })).toMatchObject({
    limit: 20,
    all: true,
    names: ['a', 'b'],
  })
})

test('a text stays a text even if it looks like a number', () => {
  expect(accepted({ path: '2026', query: '42' })).toMatchObject({ path: '2026', query: '42' })
})

test.each([
  ['a required argument', { query: '' }, 'query: '],
  ['a required argument', { query: null }, 'query: '],
  ['a number out of range', { limit: '2000' }, 'limit: '],
  ['a text that is no number', { limit: 'many' }, 'limit: '],
  ['a list of other things', { names: '[1]' }, 'names: '],
])('%s is refused, and the error names it: %j', (_, value, error) => {
  expect(accepted(value)).toMatch(`Invalid arguments: ${error}`)
})
