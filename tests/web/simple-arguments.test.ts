// Which arguments of a call can be changed in a form, and what the form makes of them.
import { expect, test } from 'vitest'
import {
  readField,
  simpleArguments,
} from '../../web/src/features/chat/approvals/simple-arguments.ts'

test('texts, numbers and switches are changed in fields', () => {
  expect(simpleArguments('{"path":"a.md","timeout":5,"all":true}')).toEqual([
    { name: 'path', value: 'a.md' },
    { name: 'timeout', value: 5 },
    { name: 'all', value: true },
  ])
  expect(readField('5', '7')).toBe('7')
  expect(readField(5, ' 7.5 ')).toBe(7.5)
  expect(readField(5, 'seven')).toBeNull()
})

test.each([
  ['a list', '{"paths":["a"]}'],
  ['nothing', '{"path":null}'],
  ['a hidden character', '{"path":"a\\u202eb"}'],
  ['a hidden character in a name', '{"pa\\u202eth":"a"}'],
  ['a line end of Windows', '{"content":"a\\r\\nb"}'],
  ['a number with more digits than the page can keep', '{"id":12345678901234567890}'],
  ['no argument', '{}'],
  ['no JSON', '{"path"'],
])('arguments with %s stay JSON', (_what, json) => {
  expect(simpleArguments(json)).toBeNull()
})
