// Tables of ways to sign in besides the password.
import type { UserId } from '../../protocol/ids.ts'
import type { Columns } from '../columns/postgres.ts'
import type { defineAccountTables } from './accounts.ts'

type Accounts = Pick<ReturnType<typeof defineAccountTables>, 'users' | 'sessions'>

export function defineSignInTables(c: Columns, { users, sessions }: Accounts) {
  const owner = () =>
    c
      .key<UserId>('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' })

  /** Accounts as issuers of single sign-on know them. */
  const identities = c.table(
    'identities',
    {
      issuer: c.text('issuer').notNull(),
      subject: c.text('subject').notNull(),
      userId: owner(),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.issuer, t.subject] }),
      c.index('identities_user').on(t.userId),
    ],
  )

  /** The ID tokens of sessions that began at an issuer, sealed: signing out there takes them. */
  const idTokens = c.table('id_tokens', {
    sessionId: c
      .text('session_id')
      .primaryKey()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    sealed: c.text('sealed').notNull(),
  })

  return { identities, idTokens }
}
