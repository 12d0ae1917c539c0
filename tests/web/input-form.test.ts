// The values of a form that an MCP server asks to fill in: before a person changes it, and as they are sent.
import { expect, test } from 'vitest'
import type { InputForm } from '../../server/protocol/runs/input.ts'
import {
  contentOf,
  countFault,
  firstValues,
  keypadFor,
} from '../../web/src/features/chat/inputs/form-values.ts'

const form: InputForm = {
  type: 'object',
  properties: {
    arrival: { type: 'string', format: 'date-time', default: '2026-12-01T18:30:00.000Z' },
    departure: { type: 'string', format: 'date-time', default: 'tomorrow' },
  },
}

test('the default of a time is shown in local time and sent as the same moment, and one that is no time is left out', () => {
  const values = firstValues(form)
  expect(values.arrival).toMatch(/^2026-1[12]-\d\dT\d\d:\d\d$/)
  expect(contentOf(form, values)).toEqual({ arrival: '2026-12-01T18:30:00.000Z' })
})

test('too few or too many chosen values are refused, but an optional list may stay empty', () => {
  const limits = { minItems: 2, maxItems: 3 }
  expect(countFault(limits, 0, false)).toBeNull()
  expect(countFault(limits, 0, true)).toEqual({ reason: 'chooseMin', min: 2 })
  expect(countFault(limits, 1, false)).toEqual({ reason: 'chooseMin', min: 2 })
  expect(countFault(limits, 3, true)).toBeNull()
  expect(countFault(limits, 4, true)).toEqual({ reason: 'chooseMax', max: 3 })
})

test('a number that may be negative gets the whole keyboard, because the keypads of phones have no minus sign', () => {
  expect(keypadFor({ type: 'number' })).toBe('text')
  expect(keypadFor({ type: 'integer', minimum: -1 })).toBe('text')
  expect(keypadFor({ type: 'integer', minimum: 0 })).toBe('numeric')
  expect(keypadFor({ type: 'number', minimum: 0.5 })).toBe('decimal')
})
