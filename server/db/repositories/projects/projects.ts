// Projects of users: those that they store, and those of others that they are members of.
import {
  and,
  desc,
  eq,
  exists,
  getTableColumns,
  isNotNull,
  isNull,
  not,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { appError } from '../../../errors.ts'
import { newId } from '../../../lib/ids.ts'
import { withoutAbsent } from '../../../lib/without-absent.ts'
import type { ConversationId, ProjectId, UserId } from '../../../protocol/ids.ts'
import type { ProjectRole } from '../../../protocol/projects/member.ts'
import {
  type ApprovalBy,
  DEFAULT_PROJECT_SETTINGS,
  type ProjectSettings,
  type StoredProjectSettings,
} from '../../../protocol/projects/project.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { afterMoment, countAll } from '../../fragments.ts'
import { createMembership } from './membership.ts'

/** A row of `projects`. */
export type ProjectRow = Database['tables']['projects']['$inferSelect']

/** A project as a member finds it: `userId` is who stores it. */
export type MemberProject = ProjectRow & {
  /** What the user may do. */
  role: ProjectRole
  /** The name of the account that stores it. */
  ownerName: string
}

/** Projects of one user; each may have documents and a folder of its own. */
const MAX_PROJECTS = 2_000

/** The settings that a project gives its conversations. */
export const settingsOf = ({ settings }: Pick<ProjectRow, 'settings'>): ProjectSettings => {
  const { approval_by: _, ...given }: StoredProjectSettings = settings ?? DEFAULT_PROJECT_SETTINGS
  return { ...DEFAULT_PROJECT_SETTINGS, ...given }
}

/** Whether the person of a run may decide its calls of high risk. */
export const approvalByOf = ({ settings }: Pick<ProjectRow, 'settings'>): ApprovalBy =>
  settings?.approval_by ?? 'anyone'

/** Stores projects. */
export type ProjectRepository = ReturnType<typeof createProjectRepository>

/**
 * Methods that find projects take the id of a member, and projects of which the user is none are not found. Methods that change
 * them take the id of the user who stores the project.
 */
export function createProjectRepository(database: Database) {
  const parts = projectRows(database)
  return {
    ...findProjects(database, parts),
    ...storedProjects(database),
    ...scratchProjects(database, parts),
    ...endScratchProjects(database, parts),
    ...changeProjects(database, parts),
  }
}

/** Which projects are whose, and the statements that finding and changing them share. */
function projectRows(database: Database) {
  const { read, tables } = database
  const { consents, conversations, projects, removedProjects } = tables
  const { isMember } = createMembership(database)
  const owned = (userId: UserId, id: ProjectId) =>
    and(eq(projects.id, id), eq(projects.userId, userId))
  /** The files of one conversation are gone while it is in the trash. */
  const isThere = or(
    eq(projects.scratch, false),
    exists(
      read
        .select({ one: sql`1` })
        .from(conversations)
        .where(
          and(eq(conversations.scratchProjectId, projects.id), isNull(conversations.deletedAt)),
        ),
    ),
  )
  const stored = (userId: UserId) => and(eq(projects.userId, userId), eq(projects.scratch, false))

  async function assertRoom(tx: Reader, userId: UserId): Promise<void> {
    const [own] = await tx.select({ count: countAll }).from(projects).where(stored(userId))
    if ((own?.count ?? 0) >= MAX_PROJECTS)
      throw appError('projects_exhausted', { limit: MAX_PROJECTS })
  }

  async function insert(
    tx: Writer,
    userId: UserId,
    values: { name: string; description: string | null } & Partial<
      Pick<ProjectRow, 'id' | 'size' | 'scratch'>
    >,
  ): Promise<ProjectRow> {
    const now = new Date()
    const project = {
      id: newId<ProjectId>(),
      userId,
      size: 0,
      historySize: 0,
      settings: null,
      icon: null,
      scratch: false,
      creatorRole: 'own' as const,
      ...values,
      createdAt: now,
      updatedAt: now,
    }
    await tx.insert(projects).values(project)
    return project
  }

  const removeIf = (userId: UserId, id: ProjectId, condition: SQL | undefined): Promise<boolean> =>
    database.write(async (tx) => {
      const removed = await tx
        .delete(projects)
        .where(and(owned(userId, id), condition))
        .returning({ id: projects.id })
      if (removed.length === 0) return false
      await tx.insert(removedProjects).values({ id, userId })
      // The decisions outlive the project, the contents do not.
      await tx
        .update(consents)
        .set({ files: null })
        .where(and(eq(consents.projectId, id), isNotNull(consents.files)))
      return true
    })

  /**
   * Names are unique among the projects of one storer that whoever names one can see: what others keep there is not revealed.
   * @throws AppError `project_name_taken`.
   */
  async function assertNameFree(
    tx: Writer,
    name: string,
    { storedBy, namedBy }: { storedBy: UserId; namedBy: UserId },
  ): Promise<void> {
    await tx.lock(`names of projects of ${storedBy}`)
    const taken = await tx
      .select({ id: projects.id })
      .from(projects)
      .where(and(stored(storedBy), eq(projects.name, name), isMember(namedBy)))
      .limit(1)
    if (taken.length > 0) throw appError('project_name_taken')
  }

  return { owned, isThere, stored, assertRoom, insert, removeIf, assertNameFree }
}

type ProjectRows = ReturnType<typeof projectRows>

/** Projects as their members find them. */
function findProjects(database: Database, { isThere, stored }: ProjectRows) {
  const { read, tables } = database
  const { projects, users } = tables
  const { hasRole, isAmongThoseOf, isMember, roleOf } = createMembership(database)
  const asMember = (userId: UserId) => ({
    ...getTableColumns(projects),
    role: roleOf(userId),
    ownerName: users.username,
  })
  const listed = (userId: UserId) => and(isAmongThoseOf(userId), eq(projects.scratch, false))

  return {
    /**
     * The project, if the user is a member of it. Also finds one with the files of one conversation, unless that is in the
     * trash.
     * @param reader the connection or transaction to read from.
     */
    async find(
      userId: UserId,
      id: ProjectId,
      reader: Reader = read,
    ): Promise<MemberProject | undefined> {
      const [project] = await reader
        .select(asMember(userId))
        .from(projects)
        .innerJoin(users, eq(users.id, projects.userId))
        .where(and(eq(projects.id, id), isMember(userId), isThere))
      return project
    },

    /** Whether there is such a project and the user is no member of it. */
    async isClosedTo(userId: UserId, id: ProjectId, reader: Reader = read): Promise<boolean> {
      const found = await reader
        .select({ id: projects.id })
        .from(projects)
        .where(and(eq(projects.id, id), not(isMember(userId) ?? sql`false`)))
      return found.length > 0
    },

    /** The names of all projects that a user is a member of, in no particular order. */
    names: async (userId: UserId): Promise<Pick<ProjectRow, 'id' | 'name'>[]> =>
      read.select({ id: projects.id, name: projects.name }).from(projects).where(listed(userId)),

    /**
     * Most recently changed first, with the total number of projects.
     * @param storedOnly those that the user stores and owns: what an export takes out.
     */
    async list(
      userId: UserId,
      {
        limit,
        cursor,
        storedOnly = false,
      }: { limit: number; cursor?: string | undefined; storedOnly?: boolean },
    ) {
      const which = storedOnly ? and(stored(userId), hasRole(userId, 'own')) : listed(userId)
      const after = cursor === undefined ? undefined : decodeCursor(MomentCursor, cursor)
      const [rows, [all]] = await Promise.all([
        read
          .select(asMember(userId))
          .from(projects)
          .innerJoin(users, eq(users.id, projects.userId))
          .where(
            and(
              which,
              after && afterMoment(projects.updatedAt, projects.id, new Date(after[0]), after[1]),
            ),
          )
          .orderBy(desc(projects.updatedAt), desc(projects.id))
          .limit(limit + 1),
        read.select({ count: countAll }).from(projects).where(which),
      ])
      const page = toPage(rows, limit, (project) => [project.updatedAt.getTime(), project.id])
      return { ...page, total: all?.count ?? 0 }
    },

    /** Whether calls of high risk in the project wait for somebody else than the person of the run. */
    async needsOthers(id: ProjectId): Promise<boolean> {
      const [project] = await read
        .select({ settings: projects.settings })
        .from(projects)
        .where(eq(projects.id, id))
      return project !== undefined && approvalByOf(project) === 'others'
    },
  }
}

/** Who stores a project, and in which state. */
function storedProjects(database: Database) {
  const { read, tables } = database
  const { projects, removedProjects } = tables
  return {
    /** The user who stores a project; undefined when it no longer exists. */
    async ownerOf(id: ProjectId): Promise<UserId | undefined> {
      const [project] = await read
        .select({ userId: projects.userId })
        .from(projects)
        .where(eq(projects.id, id))
      return project?.userId
    },

    /**
     * A text that changes with every stored change of the project, its files and its documents, independent of the
     * instances' clocks: it is built from the transactions that last wrote these rows. Only on PostgreSQL, which instances
     * share.
     */
    async stateOf(id: ProjectId): Promise<string> {
      if (database.dialect !== 'postgres') throw new Error('only instances need it')
      const [found] = await read
        .select({
          state: sql<string>`${projects}.xmin::text || ' ' || (select count(*) || ' ' || coalesce(max(documents.xmin::text::bigint), 0) from documents where documents.project_id = ${projects.id})`,
        })
        .from(projects)
        .where(eq(projects.id, id))
      return found?.state ?? ''
    },

    /** The ids of all projects that a user stores, those with the files of one conversation included. */
    async ids(userId: UserId): Promise<ProjectId[]> {
      const all = await read
        .select({ id: projects.id })
        .from(projects)
        .where(eq(projects.userId, userId))
      return all.map(({ id }) => id)
    },

    /** Removed projects whose folders may still exist. */
    removed: (): Promise<{ id: ProjectId; userId: UserId }[]> =>
      read.select().from(removedProjects),

    /** The folders of a removed project are gone. */
    forgetRemoved: (id: ProjectId): Promise<void> =>
      database.write(
        async (tx) => void (await tx.delete(removedProjects).where(eq(removedProjects.id, id))),
      ),
  }
}

/** The files of one conversation: a project that nobody made. */
function scratchProjects(database: Database, { insert }: ProjectRows) {
  const { read, tables } = database
  const { conversations, runs } = tables
  return {
    /** The project with the files of one conversation; null before the first. */
    async scratchOf(userId: UserId, conversationId: ConversationId): Promise<ProjectId | null> {
      const [conversation] = await read
        .select({ id: conversations.scratchProjectId })
        .from(conversations)
        .where(and(eq(conversations.id, conversationId), eq(conversations.userId, userId)))
      return conversation?.id ?? null
    },

    /**
     * The project in which a conversation writes files: its own, or one with the files of this conversation alone, which is
     * made once, whoever asks at the same time. The runs that have begun without one get it, too.
     * @throws AppError `conversation_gone`.
     */
    forFilesOf: (
      userId: UserId,
      conversationId: ConversationId,
    ): Promise<{ id: ProjectId; isNew: boolean }> =>
      database.write(async (tx) => {
        // Written to, so that it is locked on both databases.
        const [conversation] = await tx
          .update(conversations)
          .set({ leafId: sql`${conversations.leafId}` })
          .where(
            and(
              eq(conversations.id, conversationId),
              eq(conversations.userId, userId),
              isNull(conversations.deletedAt),
            ),
          )
          .returning({
            projectId: conversations.projectId,
            scratchProjectId: conversations.scratchProjectId,
          })
        if (conversation === undefined) throw appError('conversation_gone')
        const there = conversation.projectId ?? conversation.scratchProjectId
        const id = there ?? newId<ProjectId>()
        if (there === null) {
          await insert(tx, userId, { id, name: id, description: null, scratch: true })
          await tx
            .update(conversations)
            .set({ scratchProjectId: id })
            .where(eq(conversations.id, conversationId))
        }
        await tx
          .update(runs)
          .set({ projectId: id })
          .where(
            and(
              eq(runs.conversationId, conversationId),
              isNull(runs.projectId),
              isNull(runs.endedAt),
            ),
          )
        return { id, isNew: there === null }
      }),

    /**
     * Gives a conversation of an import the project with its files. @param size bytes of these.
     * @throws AppError `conversation_gone`: it is gone, or has files of its own already.
     */
    createScratch: (
      userId: UserId,
      conversationId: ConversationId,
      size: number,
    ): Promise<ProjectRow> =>
      database.write(async (tx) => {
        const id = newId<ProjectId>()
        const values = { id, name: id, description: null, scratch: true, size }
        const project = await insert(tx, userId, values)
        const given = await tx
          .update(conversations)
          .set({ scratchProjectId: id })
          .where(
            and(
              eq(conversations.id, conversationId),
              eq(conversations.userId, userId),
              isNull(conversations.deletedAt),
              isNull(conversations.scratchProjectId),
            ),
          )
          .returning({ id: conversations.id })
        if (given.length === 0) throw appError('conversation_gone')
        return project
      }),
  }
}

/** Files of one conversation become an ordinary project, or go. */
function endScratchProjects(
  database: Database,
  { owned, isThere, assertRoom, removeIf, assertNameFree }: ProjectRows,
) {
  const { tables } = database
  const { conversations, projects } = tables
  const found = (userId: UserId, id: ProjectId) => and(owned(userId, id), isThere)

  return {
    /**
     * Makes the files of one conversation an ordinary project and puts the conversation into it. Undefined when the user has no
     * such project.
     * @throws AppError `project_name_taken`, `projects_exhausted`, `project_already_kept`.
     */
    keep: (
      userId: UserId,
      id: ProjectId,
      name: string,
    ): Promise<{ row: ProjectRow; conversationId: ConversationId | null } | undefined> =>
      database.write(async (tx) => {
        const [project] = await tx
          .select({ id: projects.id })
          .from(projects)
          .where(found(userId, id))
        if (project === undefined) return undefined
        await assertRoom(tx, userId)
        await assertNameFree(tx, name, { storedBy: userId, namedBy: userId })
        // Nothing else of the row is written: a change of its files may have measured them meanwhile.
        const [row] = await tx
          .update(projects)
          .set({ name, scratch: false, updatedAt: new Date() })
          .where(and(owned(userId, id), eq(projects.scratch, true)))
          .returning()
        if (row === undefined) throw appError('project_already_kept')
        const [conversation] = await tx
          .update(conversations)
          .set({ projectId: id, scratchProjectId: null })
          .where(eq(conversations.scratchProjectId, id))
          .returning({ id: conversations.id })
        return { row, conversationId: conversation?.id ?? null }
      }),

    /** Like `remove`, but false, and the project stays, if it has become an ordinary one meanwhile. */
    removeScratch: (userId: UserId, id: ProjectId): Promise<boolean> =>
      removeIf(userId, id, eq(projects.scratch, true)),
  }
}

/** Projects as their storers make, change and remove them. */
function changeProjects(
  database: Database,
  { owned, assertRoom, insert, removeIf, assertNameFree }: ProjectRows,
) {
  const { tables } = database
  const { projects } = tables
  return {
    /** @param values `size`: bytes of the initial files, 0 by default. @throws AppError `project_name_taken`, `projects_exhausted`. */
    create: (
      userId: UserId,
      values: { name: string; description: string | null; size?: number },
    ): Promise<ProjectRow> =>
      database.write(async (tx) => {
        await assertRoom(tx, userId)
        await assertNameFree(tx, values.name, { storedBy: userId, namedBy: userId })
        return await insert(tx, userId, values)
      }),

    /**
     * Resolves with undefined when the user has no such project. `also` does the rest of the change in the same transaction.
     * @throws AppError `project_name_taken`.
     */
    update: (
      userId: UserId,
      id: ProjectId,
      changes: {
        name?: string | undefined
        /** Who gives the name. Default: who stores the project. */
        namedBy?: UserId
        description?: string | null | undefined
        icon?: string | null | undefined
        settings?: { [Key in keyof StoredProjectSettings]?: StoredProjectSettings[Key] | undefined }
      },
      also?: (tx: Writer, changed: { before: ProjectRow; after: ProjectRow }) => Promise<void>,
    ): Promise<ProjectRow | undefined> =>
      database.write(async (tx) => {
        // Written to, so that it is locked on both databases, and the settings are added to the current ones.
        const [before] = await tx
          .update(projects)
          .set({ updatedAt: new Date() })
          .where(owned(userId, id))
          .returning()
        if (before === undefined) return undefined
        const { name, namedBy = userId, description, icon } = changes
        if (name !== undefined && name !== before.name)
          await assertNameFree(tx, name, { storedBy: userId, namedBy })
        const [after] = await tx
          .update(projects)
          .set({
            ...withoutAbsent({ name, description, icon }),
            settings: {
              ...(before.settings ?? DEFAULT_PROJECT_SETTINGS),
              ...withoutAbsent(changes.settings ?? {}),
            },
          })
          .where(owned(userId, id))
          .returning()
        if (after === undefined) throw new Error('the locked row is there')
        await also?.(tx, { before, after })
        return after
      }),

    /**
     * Removes a project and notes in the same transaction that its folders are to be removed: call `forgetRemoved` once they
     * are. Its conversations remain, without a project. False when the user has no such project.
     */
    remove: (userId: UserId, id: ProjectId): Promise<boolean> => removeIf(userId, id, undefined),
  }
}
