// Who may do what in a project, as SQL: the one place that decides it. Used by every query that finds projects for a user.
import { and, type Column, eq, exists, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { ProjectRole } from '../../../protocol/projects/member.ts'
import type { Database } from '../../database.ts'

/** A role gives what the ones before it give. */
const ROLES = ['use', 'edit', 'own'] as const satisfies readonly ProjectRole[]

/** Whether a role gives what `needed` gives. */
export const givesRole = (role: ProjectRole, needed: ProjectRole): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed)

/** A user in a query: an id, or a column or placeholder with one. */
type UserInQuery = UserId | Column | SQL.Aliased | SQL

/**
 * The conditions on rows of `projects` that say what a user may do there: the highest role of user, groups and `everyone` counts.
 * Uses the tables `projects`, `projectMembers` and `groupMembers`.
 */
export function createMembership({
  read,
  tables: { projects, projectMembers, groupMembers },
}: Pick<Database, 'read' | 'tables'>) {
  /** SQL for: this entry of `projectMembers` names the user, alone, by a group or as everyone. */
  const namesUser = (user: UserInQuery) =>
    or(
      sql`${projectMembers.userId} = ${user}`,
      eq(projectMembers.principal, 'everyone'),
      inArray(
        projectMembers.groupId,
        read
          .select({ id: groupMembers.groupId })
          .from(groupMembers)
          .where(sql`${groupMembers.userId} = ${user}`),
      ),
    )

  /** SQL for: the user has this role in the project of the row, or a higher one. */
  const hasRole = (user: UserInQuery, role: ProjectRole) => {
    const roles = ROLES.filter((one) => givesRole(one, role))
    return or(
      and(sql`${projects.userId} = ${user}`, inArray(projects.creatorRole, roles)),
      exists(
        read
          .select({ one: sql`1` })
          .from(projectMembers)
          .where(
            and(
              eq(projectMembers.projectId, projects.id),
              inArray(projectMembers.role, roles),
              namesUser(user),
            ),
          ),
      ),
    )
  }

  /** SQL for: the user may see the project of the row. Reads the user's projects instead of asking about each of everybody's, for lists. */
  const isAmongThoseOf = (user: UserId) =>
    inArray(
      projects.id,
      read
        .select({ id: projects.id })
        .from(projects)
        .where(and(eq(projects.userId, user), inArray(projects.creatorRole, [...ROLES])))
        .unionAll(
          read.select({ id: projectMembers.projectId }).from(projectMembers).where(namesUser(user)),
        ),
    )

  return {
    namesUser,
    hasRole,
    isAmongThoseOf,
    /** SQL for: the user may see the project of the row. */
    isMember: (user: UserInQuery) => hasRole(user, 'use'),
    /** The role of a user who is a member. Wrapped, so that a query of one table keeps the names of the tables in it. */
    roleOf: (user: UserInQuery) =>
      sql<ProjectRole>`${sql`case when ${hasRole(user, 'own')} then 'own' when ${hasRole(user, 'edit')} then 'edit' else 'use' end`}`,
  }
}
