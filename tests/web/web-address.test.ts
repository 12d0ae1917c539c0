// Addresses of sources come from tools and imports.
import { expect, test } from 'vitest'
import { isWebAddress } from '../../web/src/lib/web-address.ts'

test('only addresses of the web become links', () => {
  expect(['https://example.com/a', 'HTTP://example.com'].map(isWebAddress)).toEqual([true, true])
  const others = [
    ['java', 'script:alert(1)'].join(''),
    ' https://example.com',
    'data:text/html,x',
    'file:///etc/passwd',
    '/api/admin',
    '//example.com',
  ]
  expect(others.filter(isWebAddress)).toEqual([])
})
