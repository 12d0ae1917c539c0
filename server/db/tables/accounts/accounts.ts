// Tables of accounts and of the data of a single user.
import type { Preferences } from '../../../protocol/accounts/preferences.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'
import { ownedBy } from '../owner.ts'

/** The tables that nearly all others refer to: defined first. */
export function defineAccountTables(c: Columns) {
  const users = c.table(
    'users',
    {
      id: c.key<UserId>('id').primaryKey(),
      username: c.text('username').notNull(),
      /** The name folded for comparison, so that names that differ only in case are the same. */
      usernameKey: c.text('username_key').notNull(),
      /** Null: nobody can sign in with a password (the user of single mode). */
      passwordHash: c.text('password_hash'),
      email: c.text('email'),
      emailKey: c.text('email_key'),
      avatar: c.text('avatar'),
      role: c.choice<'admin' | 'user'>('role').notNull(),
      isActive: c.boolean('is_active').notNull(),
      /** Incremented to revoke every token issued before. */
      tokenVersion: c.integer('token_version').notNull(),
      /**
       * The `jti` of the one older token that stays valid after the last increment: the session that changed the
       * password.
       */
      keptToken: c.text('kept_token'),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('users_username_key').on(t.usernameKey),
      c.uniqueIndex('users_email_key').on(t.emailKey),
    ],
  )

  const preferences = c.table('preferences', {
    userId: ownedBy(c, users).primaryKey(),
    value: c.json<Preferences>('value').notNull(),
  })

  const memories = c.table('memories', {
    userId: ownedBy(c, users).primaryKey(),
    content: c.text('content').notNull(),
    updatedAt: c.time('updated_at').notNull(),
  })

  return { users, preferences, memories }
}
