// Messages of a conversation: the branch that is shown, page by page, and what hangs on each message.
import { and, asc, eq, getTableColumns, inArray, isNull, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import type { Page } from '../../protocol/envelope.ts'
import { type ConversationId, MessageId } from '../../protocol/ids.ts'
import type { Attachment } from '../../protocol/message.ts'
import type { Step } from '../../protocol/step.ts'
import { decodeCursor, encodeCursor } from '../cursor.ts'
import type { Database, Reader, Writer } from '../database.ts'
import { branchUpFrom, leafUnder, newestLeaf, subtreeIds } from './message-tree.ts'
import { toStep } from './steps.ts'

export type MessageRow = Omit<Database['tables']['messages']['$inferSelect'], 'row'>

/** A message with everything that hangs on it. */
export type FullMessage = MessageRow & {
  attachments: Attachment[]
  steps: Step[]
  /** The ids of all messages at this place, oldest first, this one among them. */
  siblings: MessageId[]
}

export type MessageRepository = ReturnType<typeof createMessageRepository>

/** Messages deleted by one statement. */
const deletedAtOnce = 500

const MessagePlace = z.tuple([MessageId])

export function createMessageRepository(database: Database) {
  const { read, tables } = database
  const { messages, attachments, conversations, runs, steps } = tables
  const { row: _row, ...columns } = getTableColumns(messages)

  /** The branch that ends at `leaf`, oldest first, its newest `length` messages. */
  const branchRows = async (
    conversationId: ConversationId,
    leaf: MessageId,
    length: number,
  ): Promise<MessageRow[]> =>
    read
      .select(columns)
      .from(branchUpFrom(messages, conversationId, leaf, length))
      // Not an inner join: SQLite keeps the order of a cross join, and so begins with the few rows of the branch.
      .crossJoin(messages)
      .where(sql`${messages.id} = branch.id`)
      .orderBy(sql`branch.depth desc`)

  async function attachmentsOf(ids: MessageId[]): Promise<Map<MessageId, Attachment[]>> {
    const found = new Map<MessageId, Attachment[]>()
    const rows = await read
      .select()
      .from(attachments)
      .where(inArray(attachments.messageId, ids))
      .orderBy(asc(attachments.messageId), asc(attachments.position))
    for (const row of rows)
      found.set(row.messageId, [...(found.get(row.messageId) ?? []), toAttachment(row)])
    return found
  }

  async function stepsOf(ids: MessageId[]): Promise<Map<MessageId, Step[]>> {
    const found = new Map<MessageId, Step[]>()
    const rows = await read
      .select()
      .from(steps)
      .where(inArray(steps.messageId, ids))
      .orderBy(asc(steps.messageId), asc(steps.position))
    for (const row of rows) {
      const list = found.get(row.messageId) ?? []
      list.push(toStep(row))
      found.set(row.messageId, list)
    }
    return found
  }

  /** By parent: the ids of its children, oldest first. The roots are found under null. */
  async function childrenOf(
    conversationId: ConversationId,
    parents: (MessageId | null)[],
  ): Promise<Map<MessageId | null, MessageId[]>> {
    const named = parents.filter((parent) => parent !== null)
    const rows = await read
      .select({ id: messages.id, parentId: messages.parentId })
      .from(messages)
      .where(
        and(
          eq(messages.conversationId, conversationId),
          or(
            named.length > 0 ? inArray(messages.parentId, named) : undefined,
            named.length < parents.length ? isNull(messages.parentId) : undefined,
          ),
        ),
      )
      .orderBy(asc(messages.row))
    const found = new Map<MessageId | null, MessageId[]>()
    for (const { id, parentId } of rows) found.set(parentId, [...(found.get(parentId) ?? []), id])
    return found
  }

  /** Three queries, whatever the number of messages. */
  async function complete(
    conversationId: ConversationId,
    rows: MessageRow[],
  ): Promise<FullMessage[]> {
    if (rows.length === 0) return []
    const ids = rows.map(({ id }) => id)
    const [files, made, children] = await Promise.all([
      attachmentsOf(ids),
      stepsOf(ids),
      childrenOf(
        conversationId,
        rows.map(({ parentId }) => parentId),
      ),
    ])
    return rows.map((row) => ({
      ...row,
      attachments: files.get(row.id) ?? [],
      steps: made.get(row.id) ?? [],
      siblings: children.get(row.parentId) ?? [row.id],
    }))
  }

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

    /** @throws AppError `not_found`. */
    async get(conversationId: ConversationId, id: MessageId): Promise<FullMessage> {
      const row = await find(conversationId, id)
      const [message] = row === undefined ? [] : await complete(conversationId, [row])
      if (message === undefined) throw new AppError('not_found', 'There is no such message.')
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
      const rows = await branchRows(conversationId, from, limit + 1)
      if (rows.length === 0 && cursor !== undefined)
        throw new AppError('bad_cursor', 'What this cursor points at is gone: begin again.')
      const hasMore = rows.length > limit
      const [older] = rows
      return {
        items: await complete(conversationId, hasMore ? rows.slice(1) : rows),
        nextCursor: hasMore && older !== undefined ? encodeCursor([older.id]) : null,
        hasMore,
      }
    },

    /** The branch that ends at `leaf`, oldest first, its newest `length` messages. */
    async branch(
      conversationId: ConversationId,
      leaf: MessageId,
      length: number,
    ): Promise<FullMessage[]> {
      return complete(conversationId, await branchRows(conversationId, leaf, length))
    },

    /** Where the newest branch through a message ends; null when there is no such message. */
    leafUnder: (conversationId: ConversationId, id: MessageId): Promise<MessageId | null> =>
      leafUnder(read, messages, conversationId, id),

    /** Inside the caller's transaction: adds a message as the shown leaf. Its parent must have been checked. */
    async insert(
      tx: Writer,
      message: MessageRow,
      files: readonly Attachment[] = [],
    ): Promise<void> {
      await tx.insert(messages).values(message)
      const rows = files.map((file, position) => toRow(message.id, position, file))
      if (rows.length > 0) await tx.insert(attachments).values(rows)
      await tx
        .update(conversations)
        .set({
          leafId: message.id,
          updatedAt: message.createdAt,
          messageCount: sql`${conversations.messageCount} + 1`,
        })
        .where(eq(conversations.id, message.conversationId))
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

type AttachmentRow = Database['tables']['attachments']['$inferSelect']

function toAttachment(row: AttachmentRow): Attachment {
  const { name, content } = row
  if (row.kind === 'text') return { name, extension: row.extension ?? undefined, content }
  // Checked against the list of image types when it came in.
  return { name, mime: row.mime as 'image/png', data: content }
}

const toRow = (messageId: MessageId, position: number, file: Attachment): AttachmentRow =>
  'data' in file
    ? {
        messageId,
        position,
        kind: 'image',
        name: file.name,
        extension: null,
        mime: file.mime,
        content: file.data,
      }
    : {
        messageId,
        position,
        kind: 'text',
        name: file.name,
        extension: file.extension ?? null,
        mime: null,
        content: file.content,
      }
