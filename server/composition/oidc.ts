// Single sign-on as configured, over the guarded outbound connection.
import { changedGroups } from '../administration/groups.ts'
import { createIssuer } from '../auth/oidc/issuer.ts'
import { createIssuerFetch } from '../auth/oidc/issuer-fetch.ts'
import { createOidcSignIn, type OidcSignIn } from '../auth/oidc/sign-in.ts'
import { oidcSettings } from '../config/settings.ts'
import type { OpenConnections } from '../http/open-connections.ts'
import { createAddressRules } from '../net/addresses.ts'
import { createGuardedFetch } from '../net/guarded-fetch.ts'
import type { Services } from '../services.ts'
import type { Base } from './base.ts'

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
  const settings = oidcSettings(oidc)
  const issuer = createIssuer({ settings, fetch: createIssuerFetch(guarded), log, now })
  const signIn = createOidcSignIn({
    settings,
    issuer,
    users: store.users,
    audit: store.audit,
    identities: store.identities,
    groups: store.groups,
    onGroupsChanged: (userId, groups) => changedGroups(userId, groups, { access, membership }),
    addresses: store.confirmedAddresses,
    write: database.write,
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
