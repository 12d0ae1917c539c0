// The tables of projects, of their members, and of those who decide for them.
import type { GroupId } from '../../../protocol/admin/group.ts'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { ProjectRole } from '../../../protocol/projects/member.ts'
import type { StoredProjectSettings } from '../../../protocol/projects/project.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import type { defineGroupTables } from '../accounts/groups.ts'
import { ownedBy } from '../owner.ts'

/** The files of a project are in its folder. */
export function defineProjectTables(
  c: Columns,
  {
    users,
    groups,
  }: Pick<ReturnType<typeof defineAccountTables>, 'users'> &
    Pick<ReturnType<typeof defineGroupTables>, 'groups'>,
) {
  const projects = c.table(
    'projects',
    {
      id: c.key<ProjectId>('id').primaryKey(),
      userId: ownedBy(c, users),
      name: c.text('name').notNull(),
      description: c.text('description'),
      /** Bytes of all its files after the last change; null until measured. */
      size: c.bigInteger('size'),
      /** Bytes of the earlier contents that its checkpoints need, possibly an overestimate; null until counted. */
      historySize: c.bigInteger('history_size'),
      /** Null: all defaults. */
      settings: c.json<StoredProjectSettings>('settings'),
      /** An emoji or the id of an image in `files`; null: none. */
      icon: c.text('icon'),
      /** It holds the files of one conversation, which refers to it, and is in no list. Its name is its id. */
      scratch: c.boolean('scratch').notNull().default(false),
      /** What the user who stores it may do in it; null when other owners have taken that away. */
      creatorRole: c.choice<ProjectRole>('creator_role').default('own'),
      createdAt: c.time('created_at').notNull(),
      updatedAt: c.time('updated_at').notNull(),
    },
    (t) => [
      // Not unique: an editor who renames the project does not learn the names of those that only its storer sees.
      c.index('projects_user_name').on(t.userId, t.name),
      c.index('projects_user_updated').on(t.userId, t.updatedAt, t.id),
      c.index('projects_icon').on(t.icon),
    ],
  )

  /** Who may use a project besides the user who stores it. */
  const projectMembers = c.table(
    'project_members',
    {
      projectId: c
        .key<ProjectId>('project_id')
        .notNull()
        .references(() => projects.id, { onDelete: 'cascade' }),
      /** `user:<id>`, `group:<id>` or `everyone`. */
      principal: c.text('principal').notNull(),
      /** One of the two is set, and neither for `everyone`. */
      userId: c.key<UserId>('user_id').references(() => users.id, { onDelete: 'cascade' }),
      groupId: c.key<GroupId>('group_id').references(() => groups.id, { onDelete: 'cascade' }),
      role: c.choice<ProjectRole>('role').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.projectId, t.principal] }),
      c.index('project_members_principal').on(t.principal),
      c.index('project_members_user').on(t.userId),
      c.index('project_members_group').on(t.groupId),
    ],
  )

  /** Who else decides the approval requests of a project. */
  const projectApprovers = c.table(
    'project_approvers',
    {
      projectId: c
        .key<ProjectId>('project_id')
        .notNull()
        .references(() => projects.id, { onDelete: 'cascade' }),
      /** `user:<id>` or `group:<id>`. */
      principal: c.text('principal').notNull(),
      /** One of the two is set. */
      userId: c.key<UserId>('user_id').references(() => users.id, { onDelete: 'cascade' }),
      groupId: c.key<GroupId>('group_id').references(() => groups.id, { onDelete: 'cascade' }),
    },
    (t) => [
      c.primaryKey({ columns: [t.projectId, t.principal] }),
      c.index('project_approvers_user').on(t.userId),
      c.index('project_approvers_group').on(t.groupId),
    ],
  )

  /** Removed projects whose folders may still exist: written with the removal, deleted once the folders are gone. */
  const removedProjects = c.table('removed_projects', {
    id: c.key<ProjectId>('id').primaryKey(),
    /** Without a reference: the user may be removed before the folders. */
    userId: c.key<UserId>('user_id').notNull(),
  })

  return { projects, projectMembers, projectApprovers, removedProjects }
}
