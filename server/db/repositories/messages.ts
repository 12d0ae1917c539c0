// Messages of a conversation: the branch that is shown, page by page, and what hangs on each message.
import { and, eq, getTableColumns, inArray, sql } from 'drizzle-orm'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import type { Page } from '../../protocol/envelope.ts'
import { type ConversationId, MessageId } from '../../protocol/ids.ts'
import type { Attachment } from '../../protocol/message.ts'
import { decodeCursor, encodeCursor } from '../cursor.ts'
import type { Database, Reader, Writer } from '../database.ts'
import { toAttachmentRow } from './attachments.ts'
import { createBranchReader, type FullMessage, type MessageRow } from './branches.ts'
import { apart, leafUnder, newestLeaf, subtreeIds } from './message-tree.ts'

export type { FullMessage, MessageRow }

/** Messages deleted by one statement. */
const deletedAtOnce = 500

const MessagePlace = z.tuple([MessageId])

export function createMessageRepository(database: Database) {
  const { read, tables } = database
  const { messages, attachments, conversations, runs } = tables
  const { row: _row, ...columns } = getTableColumns(messages)

  const readBranch = createBranchReader(database)

  async function find(
    conversationId: ConversationId,
    id: MessageId,
    door: Reader = read,
  ): Promise<MessageRow | undefined> {
    const [message] = await door
      .select(columns)
      .from(messages)
      .where(and(eq(messages.id, id), eq(messages.conversationId, conversationId)))
    return message
  }

  return {
    find,

    /** @throws AppError `not_found`, also for a message that stands apart. */
    async get(conversationId: ConversationId, id: MessageId): Promise<FullMessage> {
      const [message] = await readBranch(conversationId, id, 1)
      if (message === undefined || message.parentId === apart(id))
        throw new AppError('not_found', 'There is no such message.')
      return message
    },

    /**
     * The branch that ends at `leaf` (null: an empty conversation), newest page first, oldest message first within a page.
     * Its price does not grow with the length of the conversation.
     */
    async page(
      conversationId: ConversationId,
      leaf: MessageId | null,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<FullMessage>> {
      const from = cursor === undefined ? leaf : decodeCursor(MessagePlace, cursor)[0]
      if (from === null) return { items: [], nextCursor: null, hasMore: false }
      const rows = await readBranch(conversationId, from, limit + 1)
      if (rows.length === 0 && cursor !== undefined)
        throw new AppError('bad_cursor', 'What this cursor points at is gone: begin again.')
      const hasMore = rows.length > limit
      const [older] = rows
      return {
        items: hasMore ? rows.slice(1) : rows,
        nextCursor: hasMore && older !== undefined ? encodeCursor([older.id]) : null,
        hasMore,
      }
    },

    branch: readBranch,

    /** Where the newest branch through a message ends; null when there is no such message. */
    leafUnder: (conversationId: ConversationId, id: MessageId): Promise<MessageId | null> =>
      leafUnder(read, messages, conversationId, id),

    /**
     * Inside the caller's transaction: adds the messages of one turn, each hanging on the one before, and shows the last
     * as the leaf. The parent of the first must have been checked.
     * @param files of the first.
     */
    async insert(
      tx: Writer,
      turn: readonly [MessageRow, ...MessageRow[]],
      files: readonly Attachment[] = [],
    ): Promise<void> {
      await tx.insert(messages).values([...turn])
      const [first] = turn
      const leaf = turn.at(-1) ?? first
      const rows = files.map((file, position) => toAttachmentRow(first.id, position, file))
      if (rows.length > 0) await tx.insert(attachments).values(rows)
      await tx
        .update(conversations)
        .set({
          leafId: leaf.id,
          updatedAt: leaf.createdAt,
          messageCount: sql`${conversations.messageCount} + ${turn.length}`,
        })
        .where(eq(conversations.id, leaf.conversationId))
    },

    /** Inside the caller's transaction: stores a message beside every branch, where nobody sees it until it is attached. */
    async insertApart(tx: Writer, message: MessageRow): Promise<void> {
      await tx.insert(messages).values({ ...message, parentId: apart(message.id) })
    },

    /** Inside the caller's transaction: hangs a message stored apart under the shown leaf and shows it. */
    async attach(
      tx: Writer,
      conversationId: ConversationId,
      id: MessageId,
      at: Date,
    ): Promise<void> {
      await tx.lock(`leaf ${conversationId}`)
      const message = await find(conversationId, id, tx)
      // It was attached before: a run that failed, was announced and then resumed.
      if (message?.parentId !== apart(id)) return
      const [conversation] = await tx
        .select({ leafId: conversations.leafId })
        .from(conversations)
        .where(eq(conversations.id, conversationId))
      await tx
        .update(messages)
        .set({ parentId: conversation?.leafId ?? null, createdAt: at })
        .where(eq(messages.id, id))
      await tx
        .update(conversations)
        .set({
          leafId: id,
          updatedAt: at,
          messageCount: sql`${conversations.messageCount} + 1`,
        })
        .where(eq(conversations.id, conversationId))
    },

    /** Inside the caller's transaction. */
    async update(
      tx: Writer,
      id: MessageId,
      changes: Partial<
        Pick<MessageRow, 'text' | 'tokenCount' | 'model' | 'runId' | 'status' | 'error'>
      >,
    ): Promise<void> {
      await tx.update(messages).set(changes).where(eq(messages.id, id))
    },

    /**
     * Inside the caller's transaction: removes a message and what hangs on it, with the runs that made it. The newest
     * branch beside it is shown instead where it was the shown one. Answers how many messages went.
     */
    async removeSubtree(
      tx: Writer,
      conversationId: ConversationId,
      id: MessageId,
    ): Promise<number> {
      const message = await find(conversationId, id, tx)
      if (message === undefined) return 0
      const subtree = await subtreeIds(tx, messages, conversationId, id)
      for (let from = 0; from < subtree.length; from += deletedAtOnce) {
        const ids = subtree.slice(from, from + deletedAtOnce)
        await tx
          .delete(runs)
          .where(and(eq(runs.conversationId, conversationId), inArray(runs.messageId, ids)))
        await tx.delete(messages).where(inArray(messages.id, ids))
      }
      const [conversation] = await tx
        .select({ leafId: conversations.leafId })
        .from(conversations)
        .where(eq(conversations.id, conversationId))
      const wasShown = subtree.some((gone) => gone === conversation?.leafId)
      const leaf = message.parentId
        ? await leafUnder(tx, messages, conversationId, message.parentId)
        : await newestLeaf(tx, messages, conversationId)
      await tx
        .update(conversations)
        .set({
          messageCount: sql`${conversations.messageCount} - ${subtree.length}`,
          ...(wasShown ? { leafId: leaf } : {}),
        })
        .where(eq(conversations.id, conversationId))
      return subtree.length
    },
  }
}
