// Files of users: their metadata, their text, and which blobs are still in use.
import { and, desc, eq, getTableColumns, inArray, isNull, lt, notExists, sql } from 'drizzle-orm'
import type { ConversationId, FileId, UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { createMembership } from './membership.ts'

type StoredFile = Database['tables']['files']['$inferSelect']
/** A file without its text, and without the encoding of that. */
export type FileRow = Omit<StoredFile, 'text' | 'encoding'>
/** What was read from the bytes of a text. */
export type ReadText = Pick<StoredFile, 'text' | 'characters' | 'encoding'>

/** Stores the rows of uploaded files. */
export type FileRepository = ReturnType<typeof createFileRepository>

/** Unused files removed in one transaction. */
const REMOVE_BATCH_SIZE = 100

/** Uses the tables `files`, `attachments`, `messages`, `projects`, its members, and `shareFiles`. */
export function createFileRepository(database: Database) {
  return {
    ...findFiles(database),
    ...filesInUse(database),
    ...textsOfFiles(database),
  }
}

/** Files of users. */
function findFiles(database: Database) {
  const { read, tables } = database
  const { files, projects } = tables
  const { isMember } = createMembership(database)
  const { text: _text, encoding: _encoding, ...columns } = getTableColumns(files)
  return {
    async insert(tx: Writer, row: StoredFile): Promise<void> {
      await tx.insert(files).values(row)
    },

    async find(userId: UserId, id: FileId): Promise<FileRow | undefined> {
      const [row] = await read
        .select(columns)
        .from(files)
        .where(and(eq(files.id, id), eq(files.userId, userId)))
      return row
    },

    /** The image of a project of which the user is a member, whoever has uploaded it. */
    async findIcon(userId: UserId, id: FileId): Promise<FileRow | undefined> {
      const [row] = await read
        .select(columns)
        .from(files)
        .innerJoin(projects, eq(projects.icon, files.id))
        .where(and(eq(files.id, id), eq(files.kind, 'image'), isMember(userId)))
        .limit(1)
      return row
    },

    /** The newest file of the user with this name and content. */
    async findSame(
      userId: UserId,
      { name, sha256 }: Pick<StoredFile, 'name' | 'sha256'>,
    ): Promise<FileRow | undefined> {
      const [row] = await read
        .select(columns)
        .from(files)
        .where(and(eq(files.sha256, sha256), eq(files.userId, userId), eq(files.name, name)))
        .orderBy(desc(files.createdAt))
        .limit(1)
      return row
    },

    /** The given files that belong to the user, in any order. */
    async findAll(userId: UserId, ids: readonly FileId[]): Promise<FileRow[]> {
      if (ids.length === 0) return []
      return await read
        .select(columns)
        .from(files)
        .where(and(inArray(files.id, [...ids]), eq(files.userId, userId)))
    },

    /** Whether there is any file, of any user. */
    async any(): Promise<boolean> {
      return (await read.select({ id: files.id }).from(files).limit(1)).length > 0
    },
  }
}

/** What refers to files, and the removal of those that nothing refers to. */
function filesInUse(database: Database) {
  const { read, tables } = database
  const { files, attachments, projects, shareFiles } = tables
  const uses = (db: Pick<Writer, 'select'>) =>
    db
      .select({ id: sql<string>`${attachments.fileId}` })
      .from(attachments)
      .where(eq(attachments.fileId, files.id))
      .unionAll(
        db
          .select({ id: sql<string>`${projects.icon}` })
          .from(projects)
          .where(eq(projects.icon, files.id)),
      )

  return {
    /** Removes a file that neither a message nor a project uses. @returns `used` when one does. */
    remove: (userId: UserId, id: FileId): Promise<'removed' | 'used' | 'missing'> =>
      database.write(async (tx) => {
        const own = and(eq(files.id, id), eq(files.userId, userId))
        const gone = await tx
          .delete(files)
          .where(and(own, notExists(uses(tx))))
          .returning({ id: files.id })
        if (gone.length > 0) return 'removed'
        const [left] = await tx.select({ id: files.id }).from(files).where(own)
        return left === undefined ? 'missing' : 'used'
      }),

    /** Removes files without a message that were created before `before`. @returns how many. */
    async removeUnused(before: Date): Promise<number> {
      for (let removed = 0; ; ) {
        const unused = await read
          .select({ id: files.id })
          .from(files)
          .where(and(lt(files.createdAt, before), notExists(uses(read))))
          .limit(REMOVE_BATCH_SIZE)
        const ids = unused.map(({ id }) => id)
        if (ids.length === 0) return removed
        const gone = await database.write((tx) =>
          tx
            .delete(files)
            // A message may have used one meanwhile.
            .where(and(inArray(files.id, ids), notExists(uses(tx))))
            .returning({ id: files.id }),
        )
        if (gone.length === 0) return removed
        removed += gone.length
      }
    },

    /** The given blobs that a file, a thumbnail or a shared copy refers to. */
    async referenced(hashes: readonly string[]): Promise<Set<string>> {
      const of = [...hashes]
      if (of.length === 0) return new Set()
      const rows = await read
        .select({ hash: sql<string>`${files.sha256}` })
        .from(files)
        .where(inArray(files.sha256, of))
        .union(
          read
            .select({ hash: sql<string>`${files.thumbnailSha256}` })
            .from(files)
            .where(inArray(files.thumbnailSha256, of)),
        )
        .union(
          read
            .select({ hash: sql<string>`${shareFiles.sha256}` })
            .from(shareFiles)
            .where(inArray(shareFiles.sha256, of)),
        )
      return new Set(rows.map(({ hash }) => hash))
    },
  }
}

/** The texts of files, and how they were decoded. */
function textsOfFiles(database: Database) {
  const { readOffThread, tables } = database
  const { files, attachments, messages } = tables
  return {
    /** The text that was read from a file, and in which encoding; undefined without such a file of the user. */
    async text(
      userId: UserId,
      id: FileId,
    ): Promise<Pick<StoredFile, 'name' | 'text' | 'encoding'> | undefined> {
      const [row] = await readOffThread
        .select({ name: files.name, text: files.text, encoding: files.encoding })
        .from(files)
        .where(and(eq(files.id, id), eq(files.userId, userId)))
      return row
    },

    /** The encoding in which a text was read; null for other files. */
    async encoding(userId: UserId, id: FileId): Promise<string | null> {
      const [row] = await readOffThread
        .select({ encoding: files.encoding })
        .from(files)
        .where(and(eq(files.id, id), eq(files.userId, userId)))
      return row?.encoding ?? null
    },

    /** Replaces what was read from a file. @returns false when the file was removed. */
    async setText(tx: Writer, id: FileId, read: ReadText): Promise<boolean> {
      const changed = await tx
        .update(files)
        .set({ ...read, failure: null })
        .where(eq(files.id, id))
        .returning({ id: files.id })
      return changed.length > 0
    },

    /** The text of a file that a message of the conversation has attached. */
    async textIn(conversationId: ConversationId, fileId: FileId): Promise<string | undefined> {
      const [row] = await readOffThread
        .select({ text: files.text })
        .from(attachments)
        .innerJoin(messages, eq(messages.id, attachments.messageId))
        .innerJoin(files, eq(files.id, attachments.fileId))
        .where(
          and(
            eq(attachments.fileId, fileId),
            eq(messages.conversationId, conversationId),
            isNull(messages.deletedAt),
          ),
        )
        .limit(1)
      return row?.text ?? undefined
    },
  }
}
