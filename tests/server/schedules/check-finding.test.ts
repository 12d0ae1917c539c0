// What a failed check has found, stored in English, is recognised again, so that people are told in their language.
import { expect, test } from 'vitest'
import { findingText, readFinding } from '../../../server/protocol/schedules/check-finding.ts'

test('every finding is recognised in its stored text, with its numbers', () => {
  for (const finding of [
    'noMatch',
    'unchanged',
    'noFile',
    'noValue',
    'notFound',
    'notSent',
    'notAccepted',
  ] as const)
    expect(readFinding(findingText(finding))).toEqual({ finding, number: '', all: '' })
  expect(readFinding('3 calls')).toEqual({ finding: 'calls', number: '3', all: '' })
  expect(readFinding('2 of 13 calls succeeded')).toEqual({
    finding: 'succeeded',
    number: '2',
    all: '13',
  })
  expect(readFinding(findingText('exitCode', { number: -1 }))).toMatchObject({ number: '-1' })
})

test('names of files, values and errors are left as they are', () => {
  for (const detail of ['notes/not found.md', '"not found"', '12', 'exit code 1, then 2', ''])
    expect(readFinding(detail)).toBeNull()
})
