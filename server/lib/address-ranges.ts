// Whether an IP address is in one of the named addresses and CIDR ranges.
import ipaddr from 'ipaddr.js'

const withAllBits = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`

/**
 * @param ranges IPv4 and IPv6 addresses and CIDR ranges. @returns whether an address is in one of them; an IPv4 address in
 * its IPv6 form (`::ffff:127.0.0.1`) counts as the IPv4 address, and what is no address is in none.
 */
export function inRanges(ranges: readonly string[]): (address: string) => boolean {
  const parsed = ranges.map((entry) =>
    ipaddr.parseCIDR(entry.includes('/') ? entry : withAllBits(entry)),
  )
  return (address) => {
    if (!ipaddr.isValid(address)) return false
    const found = ipaddr.process(address)
    return parsed.some(([range, bits]) => range.kind() === found.kind() && found.match(range, bits))
  }
}
