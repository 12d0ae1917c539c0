// In multi-user mode, only administrators and named addresses see the metrics and the API reference.
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'

/** Who may see metrics and the reference. */
export interface ReferenceRules {
  /** Everybody may see them. */
  isPublic: boolean
  /** Addresses or CIDR ranges that need no token. */
  allow: readonly string[]
}

const GUARDED = /^\/(metrics|openapi\.json|docs(\/.*)?)$/

/** Whether the request is for the metrics or the reference. */
export const isReference = ({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean =>
  GUARDED.test(routeOptions.url ?? '')

/** Whether the address may see them without a token. */
export function mayReadReference(address: string, rules: ReferenceRules): boolean {
  if (rules.isPublic) return true
  const client = ipaddr.process(address)
  return rules.allow.some((entry) => {
    const [range, bits] = ipaddr.parseCIDR(entry.includes('/') ? entry : withAllBits(entry))
    return range.kind() === client.kind() && client.match(range, bits)
  })
}

const withAllBits = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`
