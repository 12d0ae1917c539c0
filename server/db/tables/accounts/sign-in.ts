// Tables of ways to sign in besides the password.

import type { PasskeyTransport } from '../../../protocol/accounts/second-factor.ts'
import type { Columns } from '../../columns/postgres.ts'
import { ownedBy } from '../owner.ts'
import type { defineAccountTables } from './accounts.ts'
import type { defineSessionTables } from './sessions.ts'

type Accounts = Pick<ReturnType<typeof defineAccountTables>, 'users'> &
  Pick<ReturnType<typeof defineSessionTables>, 'sessions'>

/** Defines `identities`, `idTokens`, `totps`, `recoveryCodes`, `passkeys` and `confirmedAddresses`. */
export function defineSignInTables(c: Columns, { users, sessions }: Accounts) {
  /** Identities of accounts at issuers of single sign-on. */
  const identities = c.table(
    'identities',
    {
      issuer: c.text('issuer').notNull(),
      subject: c.text('subject').notNull(),
      userId: ownedBy(c, users),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.issuer, t.subject] }),
      c.index('identities_user').on(t.userId),
    ],
  )

  /** The ID tokens of sessions that began at an issuer, sealed: signing out there requires them. */
  const idTokens = c.table('id_tokens', {
    sessionId: c
      .text('session_id')
      .primaryKey()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    sealed: c.text('sealed').notNull(),
  })

  /** One-time codes of an authenticator app. */
  const totps = c.table('totps', {
    userId: ownedBy(c, users).primaryKey(),
    sealedSecret: c.text('sealed_secret').notNull(),
    /** Null while it is being set up: no code is requested yet. */
    confirmedAt: c.time('confirmed_at'),
    /** The time step of the last code that was used: each works once. */
    lastStep: c.bigInteger('last_step').notNull(),
  })

  /** Recovery codes for a lost second factor; each works once. */
  const recoveryCodes = c.table(
    'recovery_codes',
    { userId: ownedBy(c, users), hash: c.text('hash').notNull() },
    (t) => [c.primaryKey({ columns: [t.userId, t.hash] })],
  )

  const passkeys = c.table(
    'passkeys',
    {
      /** The credential id, as the authenticator chose it. */
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      name: c.text('name').notNull(),
      /** COSE, base64url. */
      publicKey: c.text('public_key').notNull(),
      counter: c.bigInteger('counter').notNull(),
      transports: c.json<PasskeyTransport[]>('transports').notNull(),
      createdAt: c.time('created_at').notNull(),
      lastUsedAt: c.time('last_used_at'),
    },
    (t) => [c.index('passkeys_user').on(t.userId)],
  )

  /** Email addresses whose owners agreed to receive mail of a user. */
  const confirmedAddresses = c.table(
    'confirmed_addresses',
    {
      userId: ownedBy(c, users),
      /** Folded for comparison. */
      address: c.text('address').notNull(),
      confirmedAt: c.time('confirmed_at').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.userId, t.address] })],
  )

  return { identities, idTokens, totps, recoveryCodes, passkeys, confirmedAddresses }
}
