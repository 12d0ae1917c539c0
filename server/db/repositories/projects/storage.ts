// The storage used by a user's projects, documents and files, for the quota.
import { and, asc, eq, gt, isNull, max, notExists, sql } from 'drizzle-orm'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'

/** Stores and sums the bytes that users store. */
export type StorageRepository = ReturnType<typeof createStorageRepository>

/** Bytes that an account stores. */
export interface StoredByUser {
  userId: UserId
  username: string
  projects: number
  documents: number
  files: number
}

/** Uses the tables `documents`, `files`, `projects` and `users`. */
export function createStorageRepository(database: Database) {
  const { read, tables } = database
  const { checkpoints, documents, files, projects, users } = tables
  const sum = (
    column:
      | typeof projects.size
      | typeof projects.historySize
      | typeof documents.size
      | typeof files.size,
  ) => sql`coalesce(sum(${column}), 0)`.mapWith(Number)
  /**
   * The condition that a document was not made from a file that the user still stores: such a document counts with the
   * file.
   */
  const isNoFile = notExists(
    read
      .select({ id: files.id })
      .from(files)
      .where(and(eq(files.sha256, documents.sha256), eq(files.userId, documents.userId))),
  )

  return {
    /**
     * Total bytes of all documents, all files, and all projects of known size, without the history of projects. A document
     * and a file with the same content count once.
     */
    async used(userId: UserId): Promise<number> {
      const [inProjects, inDocuments, inFiles] = await Promise.all([
        read
          .select({ bytes: sum(projects.size) })
          .from(projects)
          .where(eq(projects.userId, userId)),
        read
          .select({ bytes: sum(documents.size) })
          .from(documents)
          .where(and(eq(documents.userId, userId), isNoFile)),
        read
          .select({ bytes: sum(files.size) })
          .from(files)
          .where(eq(files.userId, userId)),
      ])
      return (inProjects[0]?.bytes ?? 0) + (inDocuments[0]?.bytes ?? 0) + (inFiles[0]?.bytes ?? 0)
    },

    /** Total bytes of the earlier contents of files in the user's projects, as far as they are counted. */
    async history(userId: UserId): Promise<number> {
      const [row] = await read
        .select({ bytes: sum(projects.historySize) })
        .from(projects)
        .where(eq(projects.userId, userId))
      return row?.bytes ?? 0
    },

    /** The user's projects with a history, least recently changed first. */
    async histories(userId: UserId): Promise<{ id: ProjectId; bytes: number }[]> {
      const rows = await read
        .select({ id: projects.id, bytes: projects.historySize })
        .from(projects)
        .leftJoin(checkpoints, eq(checkpoints.projectId, projects.id))
        .where(and(eq(projects.userId, userId), gt(projects.historySize, 0)))
        .groupBy(projects.id, projects.historySize)
        .orderBy(asc(max(checkpoints.id)), asc(projects.id))
      return rows.map(({ id, bytes }) => ({ id, bytes: bytes ?? 0 }))
    },

    /** Projects whose history is not counted. */
    async uncounted(userId: UserId): Promise<ProjectId[]> {
      const rows = await read
        .select({ id: projects.id })
        .from(projects)
        .where(and(eq(projects.userId, userId), isNull(projects.historySize)))
      return rows.map(({ id }) => id)
    },

    setHistory: (projectId: ProjectId, bytes: number): Promise<void> =>
      database.write(async (tx) => {
        await tx.update(projects).set({ historySize: bytes }).where(eq(projects.id, projectId))
      }),

    /** The stored bytes of each account that stores anything, by kind. */
    async byUser(): Promise<StoredByUser[]> {
      const [inProjects, inDocuments, inFiles, accounts] = await Promise.all([
        read
          .select({ userId: projects.userId, bytes: sum(projects.size) })
          .from(projects)
          .groupBy(projects.userId),
        read
          .select({ userId: documents.userId, bytes: sum(documents.size) })
          .from(documents)
          .where(isNoFile)
          .groupBy(documents.userId),
        read
          .select({ userId: files.userId, bytes: sum(files.size) })
          .from(files)
          .groupBy(files.userId),
        read.select({ id: users.id, username: users.username }).from(users),
      ])
      const found = new Map<UserId, StoredByUser>()
      const names = new Map(accounts.map(({ id, username }) => [id, username]))
      for (const [kind, rows] of [
        ['projects', inProjects],
        ['documents', inDocuments],
        ['files', inFiles],
      ] as const)
        for (const { userId, bytes } of rows) {
          const username = names.get(userId) ?? ''
          const stored = { userId, username, projects: 0, documents: 0, files: 0 }
          found.set(userId, { ...(found.get(userId) ?? stored), [kind]: bytes })
        }
      return [...found.values()]
    },

    /** All projects with their owners. `measured`: whether their size is known. */
    projects: (): Promise<{ id: ProjectId; userId: UserId; measured: boolean }[]> =>
      read
        .select({
          id: projects.id,
          userId: projects.userId,
          measured: sql<boolean>`${projects.size} is not null`.mapWith(Boolean),
        })
        .from(projects),

    /** Projects whose size is not known. */
    async unmeasured(userId: UserId): Promise<ProjectId[]> {
      const rows = await read
        .select({ id: projects.id })
        .from(projects)
        .where(and(eq(projects.userId, userId), isNull(projects.size)))
      return rows.map(({ id }) => id)
    },

    /** Stores a measured size, unless a change has stored one meanwhile. */
    setMeasured: (projectId: ProjectId, bytes: number): Promise<void> =>
      database.write(async (tx) => {
        await tx
          .update(projects)
          .set({ size: bytes })
          .where(and(eq(projects.id, projectId), isNull(projects.size)))
      }),
  }
}
