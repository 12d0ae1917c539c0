// The table of projects.
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { ProjectSettings } from '../../../protocol/projects/project.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import { ownedBy } from '../owner.ts'

/** The files of a project are in its folder. */
export function defineProjectTables(
  c: Columns,
  { users }: Pick<ReturnType<typeof defineAccountTables>, 'users'>,
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
      settings: c.json<ProjectSettings>('settings'),
      createdAt: c.time('created_at').notNull(),
      updatedAt: c.time('updated_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('projects_user_name').on(t.userId, t.name),
      c.index('projects_user_updated').on(t.userId, t.updatedAt, t.id),
    ],
  )

  /** Removed projects whose folders may still exist: written with the removal, deleted once the folders are gone. */
  const removedProjects = c.table('removed_projects', {
    id: c.key<ProjectId>('id').primaryKey(),
    /** Without a reference: the user may be removed before the folders. */
    userId: c.key<UserId>('user_id').notNull(),
  })

  return { projects, removedProjects }
}
