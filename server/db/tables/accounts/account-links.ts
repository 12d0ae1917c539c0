// The table of one-time links of accounts: invitations, reset links and confirmations.
import type { PatchQuota } from '../../../protocol/accounts/quota.ts'
import type { GroupId } from '../../../protocol/admin/group.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { AnyColumn, Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from './accounts.ts'
import type { defineGroupTables } from './groups.ts'

type Accounts = Pick<ReturnType<typeof defineAccountTables>, 'users'>
type Groups = Pick<ReturnType<typeof defineGroupTables>, 'groups'>

/** Defines `accountLinks`. */
export function defineAccountLinkTables(c: Columns, { users, groups }: Accounts & Groups) {
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
      /** The group that the account joins; null: none, or the group was deleted. */
      groupId: c
        .key<GroupId>('group_id')
        .references((): AnyColumn => groups.id, { onDelete: 'set null' }),
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

  return { accountLinks }
}
