// The default model that the administration names is the one that the server takes.
import { expect, test } from 'vitest'
import { configuredDefault } from '../../web/src/features/admin/configured-default.ts'

const lost = { id: 'lost', needs_key: true }
const usable = { id: 'usable', needs_key: false }
const last = { id: 'last', needs_key: false }

test('without a configured default, the first model whose key can be read is the default', () => {
  expect(configuredDefault([lost, usable, last], null)).toBe(usable)
  expect(configuredDefault([lost], null)).toBe(lost)
  expect(configuredDefault([], null)).toBeUndefined()
})

test('a configured default is used, and one that no longer exists counts as none', () => {
  expect(configuredDefault([usable, lost], 'lost')).toBe(lost)
  expect(configuredDefault([lost, usable], 'gone')).toBe(usable)
})
