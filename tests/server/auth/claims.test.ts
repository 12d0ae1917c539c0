// What the claims of an issuer say about a person, where its two sources differ.
import { expect, test } from 'vitest'
import { readPerson, togetherOf } from '../../../server/auth/oidc/claims.ts'
import type { OidcSettings } from '../../../server/auth/oidc/settings.ts'

const settings: OidcSettings = {
  issuer: 'https://issuer.example',
  clientId: 'nanoclaw',
  clientSecret: undefined,
  name: 'SSO',
  scopes: 'openid',
  claims: { username: 'preferred_username', email: 'email', groups: 'groups' },
  adminGroups: [],
  allowedGroups: [],
  groups: new Map(),
  autoCreate: true,
  linkByEmail: true,
  breakGlass: undefined,
}

test.each([
  ['both from the token', { email: 'a@x.org', email_verified: true }, {}, 'a@x.org'],
  ['both from UserInfo', {}, { email: 'a@x.org', email_verified: true }, 'a@x.org'],
  [
    'verified only where the other address is',
    { email: 'a@x.org' },
    { email: 'b@x.org', email_verified: true },
    null,
  ],
  ['verified only where no address is', { email_verified: true }, { email: 'a@x.org' }, null],
  [
    'refused by UserInfo',
    { email_verified: true },
    { email: 'a@x.org', email_verified: false },
    null,
  ],
])('an address is verified by the source that names it: %s', (_what, signed, more, email) => {
  expect(readPerson(togetherOf(signed, more, settings), settings).email).toBe(email)
})
