// Which addresses and ports a request may go to that was asked for by a model or a page.
import ipaddr from 'ipaddr.js'

export interface AddressRules {
  /**
   * Why a request to this host and port is refused, or null when it may go.
   * `addresses` are all that the name stands for; one that is refused refuses them all.
   */
  refusal(host: string, port: number, addresses: readonly string[]): string | null
}

export interface AddressSettings {
  /** Host names, addresses or CIDR ranges that may be reached although private, then at any port. */
  allowPrivate: readonly string[]
  /** Ports that may be reached elsewhere. */
  allowPorts: readonly number[]
}

/** Public by the tables, yet answering for the machine's own cloud account. */
const metadataServices = new Set(['168.63.129.16'])

/** Ways of writing an IPv4 address as an IPv6 one: what lies behind is not what it seems. */
const embeddings: [ipaddr.IPv6, number][] = [
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

/** Whether an address belongs to the open internet; anything that is not surely so does not. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text) // takes ::ffff:a.b.c.d for the IPv4 address that it is
  if (address.range() !== 'unicast' || metadataServices.has(address.toString())) return false
  return address.kind() === 'ipv4' || !embeddings.some((range) => address.match(range))
}

/** A URL's host without brackets and final dot, in lower case. */
export const bareHost = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()

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
        return `${host} is not a public address. Only pages on the open internet can be fetched.`
      if (!ports.has(port)) return `Port ${port} can't be used. Allowed: ${[...ports].join(', ')}.`
      return null
    },
  }
}
