// The part of a client's address that one client can't change at will.
import ipaddr from 'ipaddr.js'

/** An IPv4 address as it is; of IPv6 the /64 network, within which any host has addresses without number. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}
