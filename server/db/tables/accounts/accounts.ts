// Tables of accounts and of the data of a single user.
import type { Preferences } from '../../../protocol/accounts/preferences.ts'
import type { PatchQuota } from '../../../protocol/accounts/quota.ts'
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

  /** Links that an administrator hands to a person: to register, or to choose a new password. */
  const accountLinks = c.table(
    'account_links',
    {
      id: c.text('id').primaryKey(),
      kind: c.choice<'invitation' | 'reset' | 'confirmation'>('kind').notNull(),
      /** SHA-256 of the token in the link. */
      hash: c.text('hash').notNull(),
      /** The role of the account that an invitation creates. */
      role: c.choice<'admin' | 'user'>('role').notNull(),
      /** The limits of that account; null: none of its own. */
      quota: c.json<PatchQuota>('quota'),
      /** With a confirmation, the email address. */
      note: c.text('note'),
      /** The administrator who created it: it ends with their role. Null: created on the command line. */
      createdBy: c.key<UserId>('created_by').references(() => users.id, { onDelete: 'cascade' }),
      /** The account of a reset; with an invitation, the account that it created. */
      userId: c.key<UserId>('user_id').references(() => users.id, { onDelete: 'cascade' }),
      createdAt: c.time('created_at').notNull(),
      expiresAt: c.time('expires_at').notNull(),
      usedAt: c.time('used_at'),
    },
    (t) => [
      c.uniqueIndex('account_links_hash').on(t.hash),
      c.index('account_links_created').on(t.kind, t.createdAt, t.id),
      c.index('account_links_user').on(t.userId),
      c.index('account_links_creator').on(t.createdBy),
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

  return { users, accountLinks, preferences, memories }
}
