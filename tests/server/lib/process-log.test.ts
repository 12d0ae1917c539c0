// The readable form of log lines.
import { expect, test } from 'vitest'
import { readableLine } from '../../../server/lib/process-log.ts'

const time = new Date(2026, 2, 1, 9, 5, 7, 12).getTime()
const lineOf = (fields: object): string => JSON.stringify({ level: 40, time, ...fields })

test('a log line for a person has the local time, the level in words, the message, the fields, and the stack of an error', () => {
  const error = { type: 'Error', message: 'broken', stack: 'Error: broken\n    at here' }
  expect(
    readableLine(lineOf({ port: 3000, name: 'a name', err: error, msg: 'it failed' }), false),
  ).toBe(
    '2026-03-01 09:05:07.012 WARN  it failed port=3000 name="a name"\n    Error: broken\n        at here\n',
  )
  expect(readableLine(lineOf({ msg: 'it failed' }), true)).toContain(
    '\u001b[33mWARN \u001b[0m it failed',
  )
})

test('a client cannot write lines or commands for the terminal into the log', () => {
  const hostile = 'x\n2026-03-01 INFO ok\u001b[2J\u202e'
  const line = readableLine(lineOf({ account: hostile, nested: { hostile }, msg: hostile }), false)
  expect(line.trimEnd()).toMatch(/^[\x20-\x7e]+$/)
})

test('a line that is not of the log stays as it is', () => {
  expect(readableLine('something else\n', false)).toBe('something else\n')
})
