// In multi-user mode, only administrators and named addresses see the metrics and the API reference.
import type { FastifyRequest } from 'fastify'
import { inRanges } from '../lib/address-ranges.ts'

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
export const mayReadReference = (address: string, { isPublic, allow }: ReferenceRules): boolean =>
  isPublic || inRanges(allow)(address)
