// Shared copies of conversations: at most one per conversation, with its messages and files.
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  lt,
  ne,
  sql,
} from 'drizzle-orm'
import { firstIdOf } from '../../../lib/ids.ts'
import type { LongText } from '../../../lib/json-pieces.ts'
import type { Page } from '../../../protocol/envelope.ts'
import type { ConversationId, MessageId, UserId } from '../../../protocol/ids.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database, Writer } from '../../database.ts'
import { afterMoment, readLongText } from '../../fragments.ts'

/** A row of `shares`. */
export type ShareRow = Database['tables']['shares']['$inferSelect']
/** A file of a shared copy. */
export type ShareFile = {
  kind: 'text' | 'image'
  name: string
  mime: string | null
  /** The blob with the content; null when `content` has it. */
  sha256: string | null
  content: LongText
}

/** Messages of a copy that one query reads. */
const READ_BATCH_SIZE = 4

/** How a copy is stored: part by part, then activated or discarded. */
function createShareCopies(database: Pick<Database, 'read' | 'write' | 'tables'>) {
  return {
    ...fillCopies(database),
    ...endCopies(database),
  }
}

/** What a copy holds. */
function fillCopies({ tables }: Pick<Database, 'read' | 'write' | 'tables'>) {
  const { shareMessages, shareFiles, attachments, files } = tables
  return {
    /** Adds a message to a copy that is not shown yet. */
    async addMessage(
      tx: Writer,
      row: { shareId: string; revision: string; position: number; content: string },
    ): Promise<void> {
      await tx.insert(shareMessages).values(row)
    },

    /** Adds an attachment to a copy that is not shown yet. The database copies it; nothing is read into memory. */
    async addFile(
      tx: Writer,
      to: { shareId: string; revision: string; position: number },
      from: { messageId: MessageId; position: number },
    ): Promise<void> {
      await tx.insert(shareFiles).select(
        tx
          .select({
            shareId: sql<string>`cast(${to.shareId} as text)`.as('share_id'),
            revision: sql<string>`cast(${to.revision} as text)`.as('revision'),
            position: sql<number>`cast(${to.position} as integer)`.as('position'),
            kind: attachments.kind,
            name: attachments.name,
            mime: attachments.mime,
            content: attachments.content,
            sha256: files.sha256,
            size: files.size,
          })
          .from(attachments)
          .leftJoin(files, eq(files.id, attachments.fileId))
          .where(
            and(eq(attachments.messageId, from.messageId), eq(attachments.position, from.position)),
          ),
      )
    },

    /** Adds a file of an app to a copy that is not shown yet. */
    async addAppFile(
      tx: Writer,
      to: { shareId: string; revision: string; position: number },
      { path, sha256, size }: { path: string; sha256: string; size: number },
    ): Promise<void> {
      await tx
        .insert(shareFiles)
        .values({ ...to, kind: 'app', name: path, mime: null, content: '', sha256, size })
    },
  }
}

/** How copying ends. */
function endCopies({ read, write, tables }: Pick<Database, 'read' | 'write' | 'tables'>) {
  const { shares, shareMessages, shareFiles } = tables
  /** Removes a copy that was given up, and its share if nothing was ever shown. */
  async function discard(tx: Writer, shareId: string, revision: string): Promise<void> {
    await tx
      .delete(shareMessages)
      .where(and(eq(shareMessages.shareId, shareId), eq(shareMessages.revision, revision)))
    await tx
      .delete(shareFiles)
      .where(and(eq(shareFiles.shareId, shareId), eq(shareFiles.revision, revision)))
    await tx.delete(shares).where(and(eq(shares.id, shareId), isNull(shares.revision)))
  }

  return {
    discard,

    /**
     * Removes what is left of copies that were begun before a given time and never completed, because their process died.
     * Until then it counts as the user's storage.
     */
    async removeUnfinished(before: Date): Promise<void> {
      // A renewal that was shown has removed all others, so what is newer than the shown copy is incomplete.
      const renewals = await read
        .selectDistinct({ shareId: shareMessages.shareId, revision: shareMessages.revision })
        .from(shares)
        .innerJoin(
          shareMessages,
          and(eq(shareMessages.shareId, shares.id), gt(shareMessages.revision, shares.revision)),
        )
        .where(lt(shareMessages.revision, firstIdOf(before)))
      for (const { shareId, revision } of renewals)
        await write((tx) => discard(tx, shareId, revision))
      const first = await read
        .select({ id: shares.id })
        .from(shares)
        .where(and(isNull(shares.revision), lt(shares.createdAt, before)))
      // Each with its messages, and in a transaction of its own, because they may be long.
      for (const { id } of first)
        await write(async (tx) => void (await tx.delete(shares).where(eq(shares.id, id))))
    },

    /** Shows a complete copy and removes every other one. */
    async activate(
      tx: Writer,
      id: string,
      set: Pick<
        ShareRow,
        'revision' | 'title' | 'include' | 'passwordHash' | 'expiresAt' | 'renewedAt'
      >,
    ): Promise<ShareRow | undefined> {
      const [row] = await tx.update(shares).set(set).where(eq(shares.id, id)).returning()
      const revision = set.revision ?? ''
      await tx
        .delete(shareMessages)
        .where(and(eq(shareMessages.shareId, id), ne(shareMessages.revision, revision)))
      await tx
        .delete(shareFiles)
        .where(and(eq(shareFiles.shareId, id), ne(shareFiles.revision, revision)))
      return row
    },
  }
}

/** The contents of a copy. */
function createShareReader({ read, tables }: Pick<Database, 'read' | 'tables'>) {
  const { shareMessages, shareFiles } = tables
  /** The messages of the copy that is shown. */
  const shown = ({ id, revision }: ShareRow) =>
    and(eq(shareMessages.shareId, id), eq(shareMessages.revision, revision ?? ''))

  return {
    /** Streams the JSON of each message of the shown copy in order, with few of them in memory at a time. */
    async *readMessages(share: ShareRow): AsyncGenerator<string> {
      for (let last = -1; ; ) {
        const rows = await read
          .select({ position: shareMessages.position, content: shareMessages.content })
          .from(shareMessages)
          .where(and(shown(share), gt(shareMessages.position, last)))
          .orderBy(asc(shareMessages.position))
          .limit(READ_BATCH_SIZE)
        for (const { position, content } of rows) {
          yield content
          last = position
        }
        if (rows.length < READ_BATCH_SIZE) return
      }
    },

    /** A file of an app, by its path in the project. */
    async findAppFile(
      share: ShareRow,
      path: string,
    ): Promise<{ sha256: string; size: number } | undefined> {
      const [row] = await read
        .select({ sha256: shareFiles.sha256, size: shareFiles.size })
        .from(shareFiles)
        .where(
          and(
            eq(shareFiles.shareId, share.id),
            eq(shareFiles.revision, share.revision ?? ''),
            eq(shareFiles.kind, 'app'),
            eq(shareFiles.name, path),
          ),
        )
      return row?.sha256 == null ? undefined : { sha256: row.sha256, size: row.size ?? 0 }
    },

    async findFile(share: ShareRow, position: number): Promise<ShareFile | undefined> {
      const condition = and(
        eq(shareFiles.shareId, share.id),
        eq(shareFiles.revision, share.revision ?? ''),
        eq(shareFiles.position, position),
      )
      const [row] = await read
        .select({
          kind: shareFiles.kind,
          name: shareFiles.name,
          mime: shareFiles.mime,
          sha256: shareFiles.sha256,
        })
        .from(shareFiles)
        .where(condition)
      return row === undefined || row.kind === 'app'
        ? undefined
        : {
            ...row,
            kind: row.kind,
            content: readLongText(read, shareFiles, shareFiles.content, condition),
          }
    },
  }
}

/** Uses the tables `shares`, `shareMessages`, `shareFiles`, `users`, `attachments`, `conversations` and `files`. */
export function createShareRepository({ read, write, tables }: Database) {
  const { shares, users, conversations } = tables

  return {
    ...createShareCopies({ read, write, tables }),
    ...createShareReader({ read, tables }),

    async find(userId: UserId, conversationId: ConversationId): Promise<ShareRow | undefined> {
      const [row] = await read
        .select()
        .from(shares)
        .where(and(eq(shares.conversationId, conversationId), eq(shares.userId, userId)))
      return row
    },

    /** The share of a link: complete, not expired, of an active user and a conversation outside the trash. */
    async findByToken(tokenHash: string, now: Date): Promise<ShareRow | undefined> {
      const [row] = await read
        .select({ share: shares })
        .from(shares)
        .innerJoin(users, eq(users.id, shares.userId))
        .innerJoin(conversations, eq(conversations.id, shares.conversationId))
        .where(
          and(
            eq(shares.tokenHash, tokenHash),
            eq(users.isActive, true),
            isNull(conversations.deletedAt),
          ),
        )
      if (row === undefined || row.share.revision === null) return undefined
      const { expiresAt } = row.share
      return expiresAt !== null && expiresAt <= now ? undefined : row.share
    },

    /** A user's shares, newest first. */
    async list(
      userId: UserId,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<ShareRow>> {
      const [moment, id] = cursor === undefined ? [] : decodeCursor(MomentCursor, cursor)
      const rows = await read
        .select(getTableColumns(shares))
        .from(shares)
        .innerJoin(conversations, eq(conversations.id, shares.conversationId))
        .where(
          and(
            eq(shares.userId, userId),
            isNotNull(shares.revision),
            isNull(conversations.deletedAt),
            moment === undefined || id === undefined
              ? undefined
              : afterMoment(shares.createdAt, shares.id, new Date(moment), id),
          ),
        )
        .orderBy(desc(shares.createdAt), desc(shares.id))
        .limit(limit + 1)
      return toPage(rows, limit, (row) => [row.createdAt.getTime(), row.id])
    },

    async insert(tx: Writer, row: ShareRow): Promise<void> {
      await tx.insert(shares).values(row)
    },

    /** False when the user has not shared the conversation. */
    async remove(tx: Writer, userId: UserId, conversationId: ConversationId): Promise<boolean> {
      const removed = await tx
        .delete(shares)
        .where(and(eq(shares.conversationId, conversationId), eq(shares.userId, userId)))
        .returning({ id: shares.id })
      return removed.length > 0
    },

    async countView(tx: Writer, id: string): Promise<void> {
      await tx
        .update(shares)
        .set({ views: sql`${shares.views} + 1` })
        .where(eq(shares.id, id))
    },
  }
}
