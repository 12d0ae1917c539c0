// Tables of groups of accounts, of quotas, and of usage that only quotas count.

import type { PatchQuota, PatchSharedQuota } from '../../../protocol/accounts/quota.ts'
import type { GroupId, GroupPermissions } from '../../../protocol/admin/group.ts'
import type { Columns } from '../../columns/postgres.ts'
import { ownedBy } from '../owner.ts'
import type { defineAccountTables } from './accounts.ts'

/** Defines `groups`, `groupMembers`, `userQuotas` and `resourceUsage`. */
export function defineGroupTables(
  c: Columns,
  { users }: Pick<ReturnType<typeof defineAccountTables>, 'users'>,
) {
  const groups = c.table(
    'groups',
    {
      id: c.key<GroupId>('id').primaryKey(),
      name: c.text('name').notNull(),
      /** The name folded for comparison. */
      nameKey: c.text('name_key').notNull(),
      description: c.text('description').notNull(),
      permissions: c.json<GroupPermissions>('permissions').notNull(),
      /** The quota of each member; null: no limits. */
      quota: c.json<PatchQuota>('quota'),
      /** The quota that all members share; null: no limits. */
      sharedQuota: c.json<PatchSharedQuota>('shared_quota'),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [c.uniqueIndex('groups_name_key').on(t.nameKey)],
  )

  const groupMembers = c.table(
    'group_members',
    {
      groupId: c
        .key<GroupId>('group_id')
        .notNull()
        .references(() => groups.id, { onDelete: 'cascade' }),
      userId: ownedBy(c, users),
    },
    (t) => [
      c.primaryKey({ columns: [t.groupId, t.userId] }),
      c.index('group_members_user').on(t.userId),
    ],
  )

  /** Individual quotas of users. */
  const userQuotas = c.table('user_quotas', {
    userId: ownedBy(c, users).primaryKey(),
    quota: c.json<PatchQuota>('quota').notNull(),
  })

  /** Usage of a day that no other table counts. */
  const resourceUsage = c.table(
    'resource_usage',
    {
      userId: ownedBy(c, users),
      /** `YYYY-MM-DD`, UTC. */
      day: c.text('day').notNull(),
      kind: c.choice<'program_seconds' | 'messages'>('kind').notNull(),
      amount: c.real('amount').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.userId, t.day, t.kind] })],
  )

  return { groups, groupMembers, userQuotas, resourceUsage }
}
