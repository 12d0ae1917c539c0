// Reads what an issuer's claims say about a person. Claims are untrusted data: bounded, and any of them may be missing.
import { z } from 'zod'
import { Email, Username } from '../../protocol/accounts/user.ts'
import type { OidcSettings } from './settings.ts'

/** A person as the issuer describes them. */
export interface Person {
  /** The suggested user name; always a valid one. */
  username: string
  /** Null if the issuer names none or has not verified it. */
  email: string | null
  /** `withheld`: the person has groups, but the issuer left them out because there are too many. */
  groups: readonly string[] | 'withheld'
}

type Claims = Readonly<Record<string, unknown>>

const MAX_GROUPS = 1_000
const Claim = z.record(z.string(), z.unknown())
const Groups = z.union([
  z.string().transform((one) => [one]),
  z.array(z.unknown()).transform((all) => all.filter((one) => typeof one === 'string')),
])

/** The value at a path such as `realm_access.roles`. A claim whose name contains the dots takes precedence. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  return path.split('.').reduce<unknown>((value, name) => {
    const { data } = Claim.safeParse(value)
    return data !== undefined && Object.hasOwn(data, name) ? data[name] : undefined
  }, claims)
}

const textAt = (claims: Claims, path: string): string => {
  const value = claimAt(claims, path)
  return typeof value === 'string' ? value.trim() : ''
}

/** Whether the UserInfo endpoint is needed, too. Some issuers put groups only into the ID token, others only there. */
export const isIncomplete = (claims: Claims, settings: OidcSettings): boolean =>
  claimAt(claims, settings.claims.username) === undefined ||
  claimAt(claims, settings.claims.email) === undefined ||
  (needsGroups(settings) && claimAt(claims, settings.claims.groups) === undefined)

/** Whether any setting depends on a person's groups. */
export const needsGroups = ({ adminGroups, allowedGroups, groups }: OidcSettings): boolean =>
  adminGroups.length + allowedGroups.length + groups.size > 0

/**
 * The claims of an ID token and of the UserInfo endpoint. The token is signed, so it takes precedence; but whether an address
 * is verified is said of the address beside it, never of the one from the other source.
 */
export function togetherOf(
  signed: Claims,
  more: Claims,
  { claims: names }: Pick<OidcSettings, 'claims'>,
): Claims {
  const source = claimAt(signed, names.email) === undefined ? more : signed
  return { ...more, ...signed, email_verified: source.email_verified }
}

/** The person that the claims describe, with a user name derived from them. */
export function readPerson(claims: Claims, { claims: names }: OidcSettings): Person {
  const email = textAt(claims, names.email)
  // Some issuers send it as text.
  const isVerified = claims.email_verified === true || claims.email_verified === 'true'
  return {
    username: usernameFrom([
      textAt(claims, names.username),
      email.split('@')[0] ?? '',
      textAt(claims, 'name'),
    ]),
    email: isVerified && Email.safeParse(email).success ? email : null,
    groups: groupsOf(claims, names.groups),
  }
}

function groupsOf(claims: Claims, path: string): Person['groups'] {
  const found = claimAt(claims, path)
  // Microsoft Entra names the claim here instead if somebody is in more than 200 groups.
  if (found === undefined && claimAt(claims, `_claim_names.${path}`) !== undefined)
    return 'withheld'
  return (Groups.safeParse(found).data ?? []).slice(0, MAX_GROUPS)
}

/** The first candidate that can be turned into a valid user name. */
function usernameFrom(candidates: readonly string[]): string {
  for (const candidate of candidates) {
    const cleaned = candidate
      .replaceAll(/\s+/g, '.')
      .replaceAll(/[^\p{L}\p{N}_.@-]/gu, '')
      .slice(0, 40)
    const { success, data } = Username.safeParse(cleaned)
    if (success) return data
  }
  return 'user'
}
