// The part of a client's address that the client cannot freely choose.
import ipaddr from 'ipaddr.js'

/** Some proxies add the client's port, which differs with each connection: `203.0.113.7:50123`, `[2001:db8::1]:50123`. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/

/** An IPv4 address unchanged, or the /64 network of an IPv6 address, because a host can use any address in it. */
export function networkOf(given: string): string {
  const [, bracketed, plain] = WITH_PORT.exec(given) ?? []
  const address = bracketed ?? plain ?? given
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}
