// The default model that the administration names is the one that the server takes.
import { expect, test } from 'vitest'
import { configuredDefault } from '../../web/src/features/admin/configured-default.ts'

const lost = { id: 'lost', needs_key: true }
const usable = { id: 'usable', needs_key: false }
const last = { id: 'last', needs_key: false }

test('without a named default it is the first model whose key can be read', () => {
  expect(configuredDefault([lost, usable, last], null)).toBe(usable)
  expect(configuredDefault([lost], null)).toBe(lost)
  expect(configuredDefault([], null)).toBeUndefined()
})

test('a named default is taken as it is, and one that is gone counts as none', () => {
  expect(configuredDefault([usable, lost], 'lost')).toBe(lost)
  expect(configuredDefault([lost, usable], 'gone')).toBe(usable)
})
