// The part of a client's address that the client cannot freely choose.
import ipaddr from 'ipaddr.js'

/** An IPv4 address unchanged, or the /64 network of an IPv6 address, because a host can use any address in it. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}
