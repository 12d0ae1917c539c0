// Single sign-on as configured, over the guarded outbound connection.
import { changedGroups } from '../administration/groups.ts'
import { createIssuer, type IssuerFetch, IssuerUnreachable } from '../auth/oidc/issuer.ts'
import type { OidcSettings } from '../auth/oidc/settings.ts'
import { createOidcSignIn, type OidcSignIn } from '../auth/oidc/sign-in.ts'
import type { Config } from '../config/schema.ts'
import type { OpenConnections } from '../http/open-connections.ts'
import { createAddressRules } from '../net/addresses.ts'
import { createGuardedFetch } from '../net/guarded-fetch.ts'
import type { Services } from '../services.ts'
import type { Base } from './base.ts'

const TIMEOUT_MS = 10_000
/** Maximum size of an issuer's response: metadata, keys, tokens with many groups. */
const MAX_BYTES = 1_000_000

/** Null without single sign-on in the configuration. `connections` are the open requests of users at all instances. */
export function createConfiguredOidc(
  { config, store, database, access, box, log, now }: Base,
  {
    connections,
    membership,
  }: Pick<Services, 'membership'> & {
    connections: Pick<OpenConnections, 'end'>
  },
): OidcSignIn | null {
  const { oidc, public_url: publicUrl } = config
  if (oidc === undefined || publicUrl === undefined) return null
  const guarded = createGuardedFetch({
    rules: createAddressRules({ allowPrivate: [], allowPorts: [443] }),
  })
  const settings = settingsOf(oidc)
  const issuer = createIssuer({ settings, fetch: issuerFetch(guarded), log, now })
  const signIn = createOidcSignIn({
    settings,
    issuer,
    users: store.users,
    audit: store.audit,
    identities: store.identities,
    groups: store.groups,
    onGroupsChanged: (userId, groups) => changedGroups(userId, groups, { access, membership }),
    async confirmAddress(userId, address) {
      const { unconfirmed, add } = store.confirmedAddresses
      if ((await unconfirmed(userId, [address])).length > 0)
        await database.write((tx) => add(tx, userId, address, now()))
    },
    confirmedAccount: store.confirmedAddresses.findAccount,
    mayLink: (username) => username.toLowerCase() !== oidc.break_glass?.toLowerCase(),
    endRequests: (userId) => connections.end(userId),
    box,
    publicUrl,
    log,
    now,
  })
  return {
    ...signIn,
    close() {
      signIn.close()
      void guarded.close()
    },
  }
}

const settingsOf = (oidc: NonNullable<Config['oidc']>): OidcSettings => ({
  issuer: oidc.issuer,
  clientId: oidc.client_id,
  clientSecret: oidc.client_secret,
  name: oidc.name,
  scopes: oidc.scopes,
  claims: oidc.claims,
  adminGroups: oidc.admin_groups,
  allowedGroups: oidc.allowed_groups,
  groups: new Map(Object.entries(oidc.groups)),
  autoCreate: oidc.auto_create,
  linkByEmail: oidc.link_by_email,
})

/** The operator chose the issuer, so it may be on a private network. */
const issuerFetch =
  (guarded: ReturnType<typeof createGuardedFetch>): IssuerFetch =>
  async (url, { method, body, headers }) => {
    const response = await guarded(url, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      maxRedirects: 0,
      trusted: true,
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body === null ? {} : { body }),
    })
    if (!response.ok) throw new IssuerUnreachable(response.error)
    if (response.status >= 500) throw new IssuerUnreachable(`It responded with ${response.status}.`)
    if (response.truncated) throw new IssuerUnreachable('The response is too large.')
    const hasBody = ![204, 205, 304].includes(response.status)
    return new Response(hasBody ? Buffer.from(response.body) : null, {
      status: response.status,
      headers: response.headers,
    })
  }
