// Which addresses count as the public internet, and what an operator may allow in addition.
import { describe, expect, test } from 'vitest'
import { createAddressRules, isPublicAddress } from '../../../server/net/addresses.ts'

describe('addresses', () => {
  test.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1:248:1893:25c8:1946', '::ffff:8.8.8.8'])(
    '%j is public',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )

  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::7f00:1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
  ])('%j is not public', (address) => expect(isPublicAddress(address)).toBe(false))

  test('an operator may allow hosts, addresses and ranges, at any port', () => {
    const rules = createAddressRules({
      allowPrivate: ['Wiki.internal', '10.0.0.0/8', '::1'],
      allowPorts: [80, 443],
    })
    expect(rules.refusal('wiki.internal.', 8080, ['192.168.1.5'])).toBeNull()
    expect(rules.refusal('any.test', 8080, ['10.2.3.4'])).toBeNull()
    expect(rules.refusal('::1', 9000, ['::1'])).toBeNull()
    expect(rules.refusal('other.internal', 80, ['192.168.1.5'])).toContain('not a public address')
    expect(rules.refusal('notwiki.internal', 80, ['192.168.1.5'])).toContain('not a public')
  })

  test('one private address among several refuses them all, and other ports are refused', () => {
    const rules = createAddressRules({ allowPrivate: [], allowPorts: [80, 443] })
    expect(rules.refusal('mixed.test', 443, ['8.8.8.8', '127.0.0.1'])).toContain('not a public')
    expect(rules.refusal('fine.test', 443, ['8.8.8.8'])).toBeNull()
    expect(rules.refusal('fine.test', 22, ['8.8.8.8'])).toContain('Port 22')
  })
})
