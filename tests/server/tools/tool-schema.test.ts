// The form in which models receive tools.
import { expect, test } from 'vitest'
import { programSchema } from '../../../server/tools/definition.ts'

const tool = (description: string) => ({
  name: 'look_up',
  description,
  parameters: { type: 'object', properties: { word: { type: 'string', description } } },
})

test('a tool that a program sends again is the same object, and one that differs anywhere is another', () => {
  const first = programSchema(tool('a word'))
  expect(first).toEqual({ type: 'function', function: tool('a word') })
  expect(programSchema(tool('a word'))).toBe(first)
  const other = programSchema({ ...tool('a word'), parameters: { type: 'object' } })
  expect(other.function.parameters).toEqual({ type: 'object' })
  expect(programSchema(tool('two words')).function.description).toBe('two words')
})
