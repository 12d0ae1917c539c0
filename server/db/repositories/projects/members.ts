// The members of projects: who they are, how they change, and what somebody who is none any more has left there.
import {
  and,
  asc,
  count,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  ne,
  not,
  notExists,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { z } from 'zod'
import type { Page } from '../../../protocol/envelope.ts'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Member, MemberPrincipal, ProjectRole } from '../../../protocol/projects/member.ts'
import { decodeCursor, toPage } from '../../cursor.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { createMembership } from './membership.ts'
import type { ProjectRow } from './projects.ts'

/** A row of `project_members`. */
export type MemberRow = Database['tables']['projectMembers']['$inferSelect']

/** Somebody who has something in a project, but no longer the role that it needs. */
export interface LostAccess {
  projectId: ProjectId
  userId: UserId
}

const PrincipalCursor = z.tuple([z.string().max(100)])

/** Stores members of projects. The user who stores a project is one by the project's `creatorRole`. */
export function createMemberRepository(database: Database) {
  const ofProject = rowsOfProject(database)
  return {
    ...membersOfProject(database, ofProject),
    ...changeMembers(database, ofProject),
    ...owners(database, ofProject),
    ...sharedProjects(database, ofProject),
    ...lostAccess(database),
  }
}

/** Which rows are of a project. */
const rowsOfProject =
  ({ tables: { projectMembers } }: Database) =>
  (id: ProjectId) =>
    eq(projectMembers.projectId, id)

type RowsOfProject = ReturnType<typeof rowsOfProject>

/** The members of one project. */
function membersOfProject(database: Database, ofProject: RowsOfProject) {
  const { read, tables } = database
  const { projectMembers, groups, users } = tables

  async function creatorOf({
    userId,
    creatorRole,
  }: Pick<ProjectRow, 'userId' | 'creatorRole'>): Promise<Member[]> {
    if (creatorRole === null) return []
    const [user] = await read
      .select({ name: users.username })
      .from(users)
      .where(eq(users.id, userId))
    return [{ principal: `user:${userId}`, name: user?.name ?? '', role: creatorRole }]
  }

  return {
    /** By principal; the user who stores the project first. */
    async list(
      project: Pick<ProjectRow, 'id' | 'userId' | 'creatorRole'>,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<Member>> {
      const [after] = cursor === undefined ? [] : decodeCursor(PrincipalCursor, cursor)
      const creator = after === undefined ? await creatorOf(project) : []
      const rows = await read
        .select({
          userId: projectMembers.userId,
          groupId: projectMembers.groupId,
          role: projectMembers.role,
          name: sql<string>`coalesce(${users.username}, ${groups.name}, '')`,
        })
        .from(projectMembers)
        .leftJoin(users, eq(users.id, projectMembers.userId))
        .leftJoin(groups, eq(groups.id, projectMembers.groupId))
        .where(
          and(
            ofProject(project.id),
            after === undefined || after === '' ? undefined : gt(projectMembers.principal, after),
          ),
        )
        .orderBy(asc(projectMembers.principal))
        .limit(limit + 1 - creator.length)
      const members = rows.map(
        ({ userId, groupId, role, name }): Member => ({
          principal: principalOf({ userId, groupId }),
          name,
          role,
        }),
      )
      // The creator is at the beginning, whatever the principal is: the next page begins with the first of the others.
      return toPage([...creator, ...members], limit, ({ principal }) => [
        creator[0]?.principal === principal ? '' : principal,
      ])
    },

    /** The role that a principal itself has; null without one. */
    async roleOf(
      tx: Reader,
      project: ProjectRow,
      principal: MemberPrincipal,
    ): Promise<ProjectRole | null> {
      if (principal === `user:${project.userId}`) return project.creatorRole
      const [entry] = await tx
        .select({ role: projectMembers.role })
        .from(projectMembers)
        .where(and(ofProject(project.id), eq(projectMembers.principal, principal)))
      return entry?.role ?? null
    },

    /** The name of an account or group; undefined if there is none. */
    async nameOf(
      tx: Reader,
      { userId, groupId }: Pick<MemberRow, 'userId' | 'groupId'>,
    ): Promise<string | undefined> {
      if (userId !== null) {
        const [user] = await tx
          .select({ name: users.username })
          .from(users)
          .where(eq(users.id, userId))
        return user?.name
      }
      if (groupId === null) return ''
      const [group] = await tx
        .select({ name: groups.name })
        .from(groups)
        .where(eq(groups.id, groupId))
      return group?.name
    },
  }
}

/** How members and their roles change. */
function changeMembers(database: Database, ofProject: RowsOfProject) {
  const { tables } = database
  const { projects, projectMembers } = tables
  return {
    /** Does `work` while the members of the project stay as they are; undefined when it no longer exists. */
    change: <T>(
      id: ProjectId,
      work: (tx: Writer, project: ProjectRow) => Promise<T>,
    ): Promise<T | undefined> =>
      database.write(async (tx) => {
        // Written to, so that it is locked on both databases.
        const [project] = await tx
          .update(projects)
          .set({ creatorRole: sql`${projects.creatorRole}` })
          .where(eq(projects.id, id))
          .returning()
        return project === undefined ? undefined : await work(tx, project)
      }),

    /** Gives a principal a role, or takes it away (null). */
    async set(
      tx: Writer,
      project: ProjectRow,
      member: Pick<MemberRow, 'userId' | 'groupId'>,
      role: ProjectRole | null,
    ): Promise<void> {
      if (member.userId === project.userId) {
        await tx.update(projects).set({ creatorRole: role }).where(eq(projects.id, project.id))
        return
      }
      const principal = principalOf(member)
      const entry = and(ofProject(project.id), eq(projectMembers.principal, principal))
      if (role === null) await tx.delete(projectMembers).where(entry)
      else
        await tx
          .insert(projectMembers)
          .values({ projectId: project.id, principal, ...member, role })
          .onConflictDoUpdate({
            target: [projectMembers.projectId, projectMembers.principal],
            set: { role },
          })
    },
  }
}

/** Who owns projects. */
function owners(database: Database, ofProject: RowsOfProject) {
  const { read, tables } = database
  const { projects, projectMembers, users } = tables

  /** The accounts that own a project by themselves, the one that stores it first. */
  async function ownersWho(
    id: ProjectId,
    condition: SQL | undefined,
    reader: Reader = read,
  ): Promise<UserId[]> {
    const creators = await reader
      .select({ id: users.id })
      .from(projects)
      .innerJoin(users, eq(users.id, projects.userId))
      .where(and(eq(projects.id, id), eq(projects.creatorRole, 'own'), condition))
    const others = await reader
      .select({ id: users.id })
      .from(projectMembers)
      .innerJoin(users, eq(users.id, projectMembers.userId))
      .where(and(ofProject(id), eq(projectMembers.role, 'own'), condition))
      .orderBy(asc(users.createdAt), asc(users.id))
    return [...creators, ...others].map((user) => user.id)
  }

  return {
    /** The projects that a user owns without storing them. */
    async ownedBy(userId: UserId): Promise<{ projectId: ProjectId; storedBy: UserId }[]> {
      return await read
        .select({ projectId: projects.id, storedBy: projects.userId })
        .from(projectMembers)
        .innerJoin(projects, eq(projects.id, projectMembers.projectId))
        .where(and(eq(projectMembers.userId, userId), eq(projectMembers.role, 'own')))
    },

    /** Makes a user an owner, without asking whether there are others. */
    makeOwner: (id: ProjectId, userId: UserId): Promise<void> =>
      database.write(async (tx) => {
        const principal = `user:${userId}` as const
        const entry = { projectId: id, principal, userId, groupId: null, role: 'own' as const }
        const stored = await tx
          .update(projects)
          .set({ creatorRole: 'own' })
          .where(and(eq(projects.id, id), eq(projects.userId, userId)))
          .returning({ id: projects.id })
        if (stored.length > 0)
          await tx
            .delete(projectMembers)
            .where(and(ofProject(id), eq(projectMembers.principal, principal)))
        else
          await tx
            .insert(projectMembers)
            .values(entry)
            .onConflictDoUpdate({
              target: [projectMembers.projectId, projectMembers.principal],
              set: { role: 'own' },
            })
      }),

    /** The entries of a project, without the user who stores it. */
    async total(tx: Reader, id: ProjectId): Promise<number> {
      const [row] = await tx.select({ total: count() }).from(projectMembers).where(ofProject(id))
      return row?.total ?? 0
    },

    /** The accounts that own the project by themselves and can sign in, the one that stores it first. */
    owners: (id: ProjectId, reader?: Reader) => ownersWho(id, eq(users.isActive, true), reader),

    /** Owners who cannot sign in now, without the account that is being deleted. */
    disabledOwners: (id: ProjectId, deleted: UserId) =>
      ownersWho(id, and(eq(users.isActive, false), ne(users.id, deleted))),
  }
}

/** What is shared, and with whom. */
function sharedProjects(database: Database, ofProject: RowsOfProject) {
  const { read, tables } = database
  const { projects, projectMembers, users } = tables
  const { hasRole } = createMembership(database)
  return {
    /** Everybody who can sign in and see the project. */
    async people(id: ProjectId, reader: Reader = read): Promise<UserId[]> {
      const rows = await reader
        .select({ id: users.id })
        .from(users)
        .innerJoin(projects, eq(projects.id, id))
        .where(and(eq(users.isActive, true), hasRole(sql`${users.id}`, 'use')))
      return rows.map((user) => user.id)
    },

    /** Whether others than the user who stores a project are members. */
    async isShared(id: ProjectId): Promise<boolean> {
      const [entry] = await read
        .select({ role: projectMembers.role })
        .from(projectMembers)
        .where(ofProject(id))
        .limit(1)
      return entry !== undefined
    },

    /** How many projects that a user stores have other members. */
    async shared(userId: UserId, reader: Reader = read): Promise<number> {
      const rows = await reader
        .selectDistinct({ id: projects.id })
        .from(projectMembers)
        .innerJoin(projects, eq(projects.id, projectMembers.projectId))
        .where(eq(projects.userId, userId))
      return rows.length
    },

    /** The projects with other members than the user who stores them, or without that user. */
    async sharedIds(): Promise<ProjectId[]> {
      const rows = await read
        .selectDistinct({ id: projects.id })
        .from(projects)
        .leftJoin(projectMembers, eq(projectMembers.projectId, projects.id))
        .where(or(isNotNull(projectMembers.principal), isNull(projects.creatorRole)))
      return rows.map((row) => row.id)
    },

    /** The projects of which a group is a member. */
    async ofGroups(groupIds: readonly NonNullable<MemberRow['groupId']>[]): Promise<ProjectId[]> {
      const rows = await read
        .selectDistinct({ id: projectMembers.projectId })
        .from(projectMembers)
        .where(inArray(projectMembers.groupId, [...groupIds]))
      return rows.map((row) => row.id)
    },
  }
}

/** What ends with access to a project. */
function lostAccess(database: Database) {
  const { read, tables } = database
  const { projects } = tables
  const { conversations, schedules, apps, appNetworks, grants, runs } = tables
  const { hasRole } = createMembership(database)

  /** What a table has of people who lack a role in its project. */
  const lostIn = (
    table: typeof conversations | typeof schedules | typeof apps | typeof grants | typeof runs,
    ids: readonly ProjectId[],
    role: ProjectRole,
    also?: SQL,
  ) =>
    read
      .selectDistinct({ projectId: projects.id, userId: table.userId })
      .from(table)
      .innerJoin(projects, eq(projects.id, table.projectId))
      .where(
        and(
          inArray(projects.id, [...ids]),
          not(hasRole(sql`${table.userId}`, role) ?? sql`true`),
          also,
        ),
      )

  return {
    /** Who has conversations, schedules, apps, grants or unfinished runs in these projects without the role for it. */
    async lost(ids: readonly ProjectId[]): Promise<LostAccess[]> {
      if (ids.length === 0) return []
      const found = await Promise.all([
        lostIn(conversations, ids, 'use'),
        lostIn(schedules, ids, 'edit', eq(schedules.enabled, true)),
        lostIn(apps, ids, 'use'),
        lostIn(grants, ids, 'use', isNotNull(grants.projectId)),
        // Their conversations may be elsewhere, or nowhere: a program names the project in its request.
        lostIn(runs, ids, 'use', isNull(runs.endedAt)),
      ])
      const pairs = new Map(found.flat().map((one) => [`${one.projectId} ${one.userId}`, one]))
      return [...pairs.values()]
    },

    /**
     * Ends what somebody has in a project without the role for it: conversations stay theirs without the project, schedules are
     * disabled, apps and grants end. Returns the conversations.
     */
    end: ({ projectId, userId }: LostAccess) =>
      database.write(async (tx) => {
        const hasNot = (role: ProjectRole) =>
          notExists(
            tx
              .select({ one: sql`1` })
              .from(projects)
              .where(and(eq(projects.id, projectId), hasRole(userId, role))),
          )
        const changed = await tx
          .update(conversations)
          .set({ projectId: null })
          .where(
            and(
              eq(conversations.userId, userId),
              eq(conversations.projectId, projectId),
              hasNot('use'),
            ),
          )
          .returning({ id: conversations.id })
        await tx
          .update(schedules)
          .set({ enabled: false, nextAt: null, disabledReason: 'owner' })
          .where(
            and(
              eq(schedules.userId, userId),
              eq(schedules.projectId, projectId),
              eq(schedules.enabled, true),
              hasNot('edit'),
            ),
          )
        for (const table of [apps, appNetworks, grants])
          await tx
            .delete(table)
            .where(and(eq(table.userId, userId), eq(table.projectId, projectId), hasNot('use')))
        return changed.map(({ id }) => id)
      }),
  }
}

/** How a member is named. */
export const principalOf = ({
  userId,
  groupId,
}: Pick<MemberRow, 'userId' | 'groupId'>): MemberPrincipal => {
  if (userId !== null) return `user:${userId}`
  return groupId === null ? 'everyone' : `group:${groupId}`
}
