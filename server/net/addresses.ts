// Decides which addresses and ports requests on behalf of a model or page may reach.
import ipaddr from 'ipaddr.js'

/** Decides which addresses the server connects to on behalf of users and models. */
export interface AddressRules {
  /**
   * Why a request to this host and port is refused; null if it is allowed. `addresses` are all addresses of the host; if
   * one is refused, the request is refused.
   */
  refusal(host: string, port: number, addresses: readonly string[]): string | null
}

/** The operator's exceptions. */
export interface AddressSettings {
  /** Host names, addresses or CIDR ranges that are allowed, at any port, although they are private. */
  allowPrivate: readonly string[]
  /** Allowed ports on all other hosts. */
  allowPorts: readonly number[]
}

/** Public addresses that serve cloud metadata of this machine. */
const METADATA_SERVICES = new Set(['168.63.129.16'])

/** IPv6 ranges that embed IPv4 addresses, which could be private. */
const IPV4_IN_IPV6: [ipaddr.IPv6, number][] = [
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
  'fec0::/10',
].map((range) => {
  const [address, bits] = ipaddr.IPv6.parseCIDR(range)
  return [address, bits]
})

/** Whether an address is on the public internet; false when in doubt. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text) // converts ::ffff:a.b.c.d to IPv4
  if (address.range() !== 'unicast' || METADATA_SERVICES.has(address.toString())) return false
  return address.kind() === 'ipv4' || !IPV4_IN_IPV6.some((range) => address.match(range))
}

/** A URL's host without brackets and trailing dot, in lower case. */
export const bareHost = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()

/** Compares hosts without brackets, trailing dot and case. */
export function createAddressRules(settings: AddressSettings): AddressRules {
  const hosts = new Set<string>()
  const ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][] = []
  for (const entry of settings.allowPrivate) {
    if (ipaddr.isValidCIDR(entry)) ranges.push(ipaddr.parseCIDR(entry))
    else hosts.add(bareHost(entry))
  }
  const ports = new Set(settings.allowPorts)

  const listed = (address: string): boolean => {
    if (!ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    if (hosts.has(parsed.toString())) return true
    return ranges.some((range) => parsed.kind() === range[0].kind() && parsed.match(range))
  }

  return {
    refusal: (host, port, addresses) => {
      if (hosts.has(bareHost(host))) return null
      if (addresses.length > 0 && addresses.every(listed)) return null
      if (!addresses.every((address) => listed(address) || isPublicAddress(address)))
        return `${host} is not a public address. Only pages on the public internet can be fetched.`
      if (!ports.has(port)) return `Port ${port} can't be used. Allowed: ${[...ports].join(', ')}.`
      return null
    },
  }
}
