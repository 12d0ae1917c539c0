// The part of a client's address that the client cannot change at will.
import ipaddr from 'ipaddr.js'

/** An IPv4 address unchanged; of an IPv6 address the /64 network, in which any host has countless addresses. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}
