// Who else decides the approval requests of a project: accounts, and groups with all of their members.
import { and, asc, eq, inArray, or, sql } from 'drizzle-orm'
import type { GroupId } from '../../../protocol/admin/group.ts'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Principal } from '../../../protocol/projects/project.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { foldCase } from '../../fragments.ts'

/** An approver as stored: one of the two ids is set. */
export interface Approver {
  principal: Principal
  userId: UserId | null
  groupId: GroupId | null
}

/** An approver with the name of the account or group. */
export interface NamedApprover {
  principal: Principal
  name: string
}

/** Stores the approvers of projects. Uses the tables `projectApprovers`, `users`, `groups` and `groupMembers`. */
export function createApproverRepository(database: Database) {
  return {
    ...approversOfProjects(database),
    ...whoApproves(database),
  }
}

/** Who is named, and how that changes. */
function approversOfProjects(database: Database) {
  const { read, tables } = database
  const { projectApprovers, users, groups } = tables
  return {
    /** The approvers of a project, sorted. @param reader the connection or transaction to read from. */
    async list(projectId: ProjectId, reader: Reader = read): Promise<NamedApprover[]> {
      const rows = await reader
        .select({
          userId: projectApprovers.userId,
          groupId: projectApprovers.groupId,
          name: sql<string>`coalesce(${users.username}, ${groups.name}, '')`,
        })
        .from(projectApprovers)
        .leftJoin(users, eq(users.id, projectApprovers.userId))
        .leftJoin(groups, eq(groups.id, projectApprovers.groupId))
        .where(eq(projectApprovers.projectId, projectId))
        .orderBy(asc(projectApprovers.principal))
      return rows.flatMap(({ userId, groupId, name }): NamedApprover[] => {
        if (userId !== null) return [{ principal: `user:${userId}`, name }]
        return groupId === null ? [] : [{ principal: `group:${groupId}`, name }]
      })
    },

    /** The account or group that has this name; undefined if there is none. */
    async named(tx: Reader, kind: 'user' | 'group', name: string): Promise<Principal | undefined> {
      const [found] =
        kind === 'user'
          ? await tx
              .select({ id: users.id })
              .from(users)
              .where(eq(users.usernameKey, foldCase(name)))
          : await tx
              .select({ id: groups.id })
              .from(groups)
              .where(eq(groups.nameKey, foldCase(name)))
      return found === undefined ? undefined : `${kind}:${found.id}`
    },

    /** Replaces the approvers of a project. Returns those that name no account and no group; none is stored then. */
    async replace(
      tx: Writer,
      projectId: ProjectId,
      approvers: readonly Approver[],
    ): Promise<Principal[]> {
      const userIds = approvers.flatMap(({ userId }) => userId ?? [])
      const groupIds = approvers.flatMap(({ groupId }) => groupId ?? [])
      const accounts = await tx
        .select({ id: users.id })
        .from(users)
        .where(inArray(users.id, userIds))
      const known = await tx
        .select({ id: groups.id })
        .from(groups)
        .where(inArray(groups.id, groupIds))
      const unknown = approvers.filter(
        ({ userId, groupId }) =>
          !accounts.some(({ id }) => id === userId) && !known.some(({ id }) => id === groupId),
      )
      if (unknown.length > 0) return unknown.map(({ principal }) => principal)
      await tx.delete(projectApprovers).where(eq(projectApprovers.projectId, projectId))
      if (approvers.length > 0)
        await tx
          .insert(projectApprovers)
          .values(approvers.map((approver) => ({ projectId, ...approver })))
      return []
    },
  }
}

/** Which people that makes approvers. */
function whoApproves(database: Database) {
  const { read, tables } = database
  const { projectApprovers, users, groupMembers } = tables

  /** SQL for the entries that name the user, alone or by a group. */
  const namesUser = (userId: UserId) =>
    or(
      eq(projectApprovers.userId, userId),
      inArray(
        projectApprovers.groupId,
        read
          .select({ id: groupMembers.groupId })
          .from(groupMembers)
          .where(eq(groupMembers.userId, userId)),
      ),
    )

  return {
    /** The projects whose requests the user may decide, those of others. */
    async projectsOf(userId: UserId): Promise<ProjectId[]> {
      const rows = await read
        .selectDistinct({ id: projectApprovers.projectId })
        .from(projectApprovers)
        .where(namesUser(userId))
      return rows.map(({ id }) => id)
    },

    /** Whether the user is among the approvers of the project. */
    async includes(projectId: ProjectId, userId: UserId): Promise<boolean> {
      const [found] = await read
        .select({ principal: projectApprovers.principal })
        .from(projectApprovers)
        .where(and(eq(projectApprovers.projectId, projectId), namesUser(userId)))
        .limit(1)
      return found !== undefined
    },

    /** Everybody who is among the approvers of the project, alone or by a group, and can sign in. */
    async people(projectId: ProjectId): Promise<UserId[]> {
      const rows = await read
        .selectDistinct({ id: users.id })
        .from(projectApprovers)
        .leftJoin(groupMembers, eq(groupMembers.groupId, projectApprovers.groupId))
        .innerJoin(
          users,
          eq(users.id, sql`coalesce(${projectApprovers.userId}, ${groupMembers.userId})`),
        )
        .where(and(eq(projectApprovers.projectId, projectId), eq(users.isActive, true)))
      return rows.map(({ id }) => id)
    },
  }
}
