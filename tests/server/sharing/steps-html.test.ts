// How the steps of an answer are grouped in shared copies and exports.
import { expect, test } from 'vitest'
import { documentTexts } from '../../../server/sharing/document-texts.ts'
import { foldOf, groupSteps } from '../../../server/sharing/steps-html.ts'

const call = (name: string, id: number) => ({ type: 'tool_call', name, id })
const result = (name: string, id: number) => ({ type: 'tool_result', name, id })
const text = { type: 'text', name: undefined, id: 0 }

test('steps between two texts are one group, in which each result follows its call', () => {
  const groups = groupSteps([
    { type: 'thinking', name: undefined, id: 0 },
    call('a', 1),
    call('b', 2),
    call('a', 3),
    result('a', 1),
    result('b', 2),
    result('a', 3),
    text,
    call('b', 4),
    result('b', 4),
  ])
  expect(groups.map((group) => group.map(({ type, id }) => `${type} ${id}`))).toEqual([
    [
      'thinking 0',
      'tool_call 1',
      'tool_result 1',
      'tool_call 2',
      'tool_result 2',
      'tool_call 3',
      'tool_result 3',
    ],
    ['text 0'],
    ['tool_call 4', 'tool_result 4'],
  ])
})

test('results without a call are not lost', () => {
  const lone = [result('a', 1), call('b', 2), result('b', 2)]
  expect(groupSteps(lone).flat()).toHaveLength(3)
})

test('a line of its own says how many steps there are, and one step needs none', () => {
  const texts = documentTexts('de')
  expect(foldOf([call('a', 1), result('a', 1)], texts)).toBeNull()
  expect(foldOf([call('a', 1), call('b', 2), result('a', 1)], texts)?.start).toContain(
    '<summary>Schritte: 2</summary>',
  )
})
