// Which links of an answer show where they lead.
import { expect, test } from 'vitest'
import { addressToShow } from '../../../../server/protocol/markdown/link-address.ts'

test('a link whose address carries data that its text does not show, shows the address', () => {
  expect(addressToShow('https://attacker.test/?d=secret', 'Help')).toBe('attacker.test/?d=secret')
  expect(addressToShow(`https://${'s'.repeat(40)}.attacker.test/`, 'Help')).toContain(
    'attacker.test',
  )
  expect(addressToShow(`https://attacker.test/${'s'.repeat(400)}`, 'Help')).toMatch(
    /^attacker\.test\/s+…$/,
  )
  expect(addressToShow(`https://attacker.test${'/secret'.repeat(10)}`, 'Help')).toContain(
    'attacker.test/secret/secret',
  )
  expect(addressToShow(`https://${'secret.'.repeat(10)}attacker.test/`, 'Help')).toContain(
    'secret.secret.',
  )
  expect(addressToShow(`https://attacker.test/#${'s'.repeat(40)}`, 'Help')).toContain('#sss')
  expect(addressToShow('https://user:word@attacker.test/', 'Help')).toContain('word@')
})

test('a link that carries nothing, or whose text is its address, shows nothing more', () => {
  expect(addressToShow('https://example.org/guide', 'Guide')).toBeNull()
  expect(addressToShow('https://example.org/guide/start#first-steps', 'Guide')).toBeNull()
  expect(addressToShow('https://example.org/?q=1', 'https://example.org/?q=1')).toBeNull()
  expect(addressToShow('mailto:a@example.org?subject=x', 'Write')).toBeNull()
  expect(addressToShow('not an address', 'x')).toBeNull()
})
