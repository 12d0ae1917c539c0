// Tables of groups of accounts: what their members may use, and who they are.
import type { GroupId, GroupPermissions } from '../../protocol/group.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { Columns } from '../columns/postgres.ts'
import type { defineAccountTables } from './accounts.ts'

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
      userId: c
        .key<UserId>('user_id')
        .notNull()
        .references(() => users.id, { onDelete: 'cascade' }),
    },
    (t) => [
      c.primaryKey({ columns: [t.groupId, t.userId] }),
      c.index('group_members_user').on(t.userId),
    ],
  )

  return { groups, groupMembers }
}
