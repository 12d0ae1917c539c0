// Messages of a conversation: the shown branch, page by page, with everything that belongs to each message.
import { and, eq, getTableColumns, inArray, isNull, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { appError } from '../../../errors.ts'
import type { Feedback } from '../../../protocol/conversations/message.ts'
import type { Page } from '../../../protocol/envelope.ts'
import { type ConversationId, MessageId, type RunId } from '../../../protocol/ids.ts'
import { decodeCursor, encodeCursor } from '../../cursor.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { createRunRecordRepository } from '../runs/run-records.ts'
import { createBranchHistory, createHistoryCache } from './branch-history.ts'
import { createBranchReader, type FullMessage, type MessageRow } from './branches.ts'
import { createFilesOfMessages } from './files-of-messages.ts'
import { detachedParent, isAttached, leafUnder, newestLeaf, subtreeIds } from './message-tree.ts'
import { createTurnWriter } from './turns.ts'

// Purging deleted messages, after which they can no longer be restored.

/** Messages deleted by one statement. */
const PURGE_BATCH_SIZE = 500

/** Purges messages deleted before a given time, the runs that wrote them and the records of these, batch by batch. */
function createMessagePurge(database: Database): (before: Date) => Promise<void> {
  const { read, write, tables } = database
  const { messages, runs } = tables
  const records = createRunRecordRepository(database)
  const files = createFilesOfMessages(database)
  return async (before) => {
    for (;;) {
      const some = await read
        .select({ id: messages.id })
        .from(messages)
        .where(lt(messages.deletedAt, before))
        .limit(PURGE_BATCH_SIZE)
      if (some.length === 0) return
      const ids = some.map(({ id }) => id)
      const used = await files.find(inArray(messages.id, ids))
      await write(async (tx) => {
        const purged = await tx
          .delete(runs)
          .where(inArray(runs.messageId, ids))
          .returning({ conversationId: runs.conversationId })
        await tx.delete(messages).where(inArray(messages.id, ids))
        for (const id of new Set(purged.map(({ conversationId }) => conversationId)))
          await records.removeUnused(tx, id)
      })
      await files.removeUnused(used)
    }
  }
}

// Marks of an answer: the answer that it was edited from, and the person's feedback.

/** Uses the table `messages`. */
function createMessageMarks(database: Database) {
  const { messages } = database.tables
  return {
    /** Stores the given marks; the others stay unchanged. */
    async setMarks(
      tx: Writer,
      id: MessageId,
      marks: { editedFrom?: MessageId | undefined; feedback?: Feedback | undefined },
    ): Promise<void> {
      if (marks.editedFrom !== undefined || marks.feedback !== undefined)
        await tx.update(messages).set(marks).where(eq(messages.id, id))
    },

    /** Copies what an answer did, planned and cited to another one with the same calls. */
    async copyDeeds(tx: Writer, from: MessageId, to: MessageId): Promise<void> {
      const { receipt, plan, citations } = messages
      const [deeds] = await tx
        .select({ receipt, plan, citations })
        .from(messages)
        .where(eq(messages.id, from))
      if (deeds !== undefined) await tx.update(messages).set(deeds).where(eq(messages.id, to))
    },

    /** Stores the person's feedback on an answer; null removes it. Resolves with false when there is no such answer. */
    async setFeedback(
      conversationId: ConversationId,
      id: MessageId,
      feedback: Feedback | null,
    ): Promise<boolean> {
      const rows = await database.write((tx) =>
        tx
          .update(messages)
          .set({ feedback })
          .where(
            and(
              eq(messages.id, id),
              eq(messages.conversationId, conversationId),
              eq(messages.role, 'assistant'),
              isNull(messages.deletedAt),
            ),
          )
          .returning({ id: messages.id }),
      )
      return rows.length > 0
    },
  }
}

export type { FullMessage, MessageRow }

/** A page of messages ends with the one that reaches this size. */
const PAGE_BYTES = 1_000_000
/** Maximum bytes of a text that is read with its message. */
const INLINE_BYTES = 128_000
/** Messages deleted by one statement. */
const DELETE_BATCH_SIZE = 500

const MessageCursor = z.tuple([MessageId])

/** Uses the tables `messages`, `conversations` and `runs`. */
export function createMessageRepository(database: Database) {
  const parts = messageStatements(database)
  return {
    ...readMessages(database, parts),
    ...subtrees(database, parts),
    ...writeMessages(database, parts),
  }
}

/** The statements that reading and writing messages share. */
function messageStatements(database: Database) {
  const { read, tables } = database
  const { messages, conversations } = tables
  const {
    row: _row,
    deletedAt: _at,
    deletedWith: _with,
    editedFrom: _from,
    feedback: _feedback,
    receipt: _receipt,
    plan: _plan,
    citations: _citations,
    ...columns
  } = getTableColumns(messages)

  async function find(
    conversationId: ConversationId,
    id: MessageId,
    reader: Reader = read,
  ): Promise<MessageRow | undefined> {
    const [message] = await reader
      .select(columns)
      .from(messages)
      .where(
        and(
          eq(messages.id, id),
          eq(messages.conversationId, conversationId),
          isNull(messages.deletedAt),
        ),
      )
    return message
  }

  async function lockLeaf(
    tx: Writer,
    conversationId: ConversationId,
  ): Promise<{ leafId: MessageId | null } | undefined> {
    // Writing to the row locks it on both databases.
    const [row] = await tx
      .update(conversations)
      .set({ leafId: sql`${conversations.leafId}` })
      .where(and(eq(conversations.id, conversationId), isNull(conversations.deletedAt)))
      .returning({ leafId: conversations.leafId })
    return row
  }

  return { find, lockLeaf }
}

type MessageStatements = ReturnType<typeof messageStatements>

/** Single messages, pages of them, and the branches that they form. */
function readMessages(database: Database, { find }: MessageStatements) {
  const { read, tables } = database
  const { messages } = tables

  const readBranch = createBranchReader(database)
  const history = createHistoryCache(database, createBranchHistory(database))
  return {
    find,

    /** A message with everything that belongs to it but its siblings; undefined when it does not exist or is detached. */
    async findFull(
      conversationId: ConversationId,
      id: MessageId,
    ): Promise<FullMessage | undefined> {
      const [message] = await readBranch(conversationId, id, 1, {
        inlineBytes: INLINE_BYTES,
        withSiblings: false,
      })
      return message?.parentId === detachedParent(id) ? undefined : message
    },

    /** @throws AppError `message_not_found`, also for a detached message. */
    async get(conversationId: ConversationId, id: MessageId): Promise<FullMessage> {
      const [message] = await readBranch(conversationId, id, 1, { inlineBytes: INLINE_BYTES })
      if (message === undefined || message.parentId === detachedParent(id))
        throw appError('message_not_found')
      return message
    },

    /**
     * The branch that ends at `leaf` (null: an empty conversation), newest page first, oldest message first within a
     * page. The cost does not grow with the length of the conversation. A page of long messages is shorter than
     * `limit`.
     */
    async page(
      conversationId: ConversationId,
      leaf: MessageId | null,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<FullMessage>> {
      const from = cursor === undefined ? leaf : decodeCursor(MessageCursor, cursor)[0]
      if (from === null) return { items: [], nextCursor: null, hasMore: false }
      const items = await readBranch(conversationId, from, limit, {
        maxBytes: PAGE_BYTES,
        inlineBytes: INLINE_BYTES,
      })
      if (items.length === 0 && cursor !== undefined) throw appError('cursor_gone')
      const next = items[0]?.parentId ?? null
      return {
        items,
        nextCursor: next === null ? null : encodeCursor([next]),
        hasMore: next !== null,
      }
    },

    /** Reads what a run needs of a branch, newest messages first. Create one for each reading. */
    history,

    /** Where the newest branch through a message ends; null when there is no such message. */
    leafUnder: (conversationId: ConversationId, id: MessageId): Promise<MessageId | null> =>
      leafUnder(read, messages, conversationId, id),

    /** A message that can have children, as the open transaction sees it. */
    async findAttached(
      tx: Writer,
      conversationId: ConversationId,
      id: MessageId,
    ): Promise<MessageRow | undefined> {
      const message = await find(conversationId, id, tx)
      return message?.parentId === detachedParent(id) ? undefined : message
    },

    /** The number of messages that would be deleted with this one, including itself; 0 when it does not exist. */
    subtreeSize: async (conversationId: ConversationId, id: MessageId): Promise<number> =>
      (await subtreeIds(read, messages, conversationId, id)).length,
  }
}

/** Messages with all that follow: into the trash and back. */
function subtrees(database: Database, { find, lockLeaf }: MessageStatements) {
  const { tables } = database
  const { messages, conversations, runs } = tables
  return {
    /**
     * Deletes a message and its descendants. Nothing reads them any more, but until they are purged they can be
     * restored. If they were shown, the newest remaining branch is shown. Returns the number of deleted messages.
     */
    async removeSubtree(
      tx: Writer,
      conversationId: ConversationId,
      id: MessageId,
    ): Promise<number> {
      await lockLeaf(tx, conversationId)
      const message = await find(conversationId, id, tx)
      if (message === undefined) return 0
      const subtree = await subtreeIds(tx, messages, conversationId, id)
      const deletion = { deletedAt: new Date(), deletedWith: id }
      for (let from = 0; from < subtree.length; from += DELETE_BATCH_SIZE) {
        const ids = subtree.slice(from, from + DELETE_BATCH_SIZE)
        // The client's ids are free again: sending the same message again starts a new run.
        await tx
          .update(runs)
          .set({ clientId: null })
          .where(and(eq(runs.conversationId, conversationId), inArray(runs.messageId, ids)))
        await tx.update(messages).set(deletion).where(inArray(messages.id, ids))
      }
      const [conversation] = await tx
        .select({ leafId: conversations.leafId })
        .from(conversations)
        .where(eq(conversations.id, conversationId))
      const wasShown = subtree.some((deletedId) => deletedId === conversation?.leafId)
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

    /**
     * Restores what was deleted with a message, and shows its newest branch. Returns the number of restored messages; 0
     * when nothing was deleted with it, it is purged, or its parent is deleted.
     */
    async restoreSubtree(
      tx: Writer,
      conversationId: ConversationId,
      id: MessageId,
    ): Promise<number> {
      await lockLeaf(tx, conversationId)
      const [root] = await tx
        .select({ parentId: messages.parentId })
        .from(messages)
        .where(
          and(
            eq(messages.id, id),
            eq(messages.conversationId, conversationId),
            eq(messages.deletedWith, id),
          ),
        )
      if (root === undefined) return 0
      const { parentId } = root
      if (parentId !== null && (await find(conversationId, parentId, tx)) === undefined) return 0
      const restored = await tx
        .update(messages)
        .set({ deletedAt: null, deletedWith: null })
        .where(and(eq(messages.deletedWith, id), eq(messages.conversationId, conversationId)))
        .returning({ id: messages.id })
      await tx
        .update(conversations)
        .set({
          messageCount: sql`${conversations.messageCount} + ${restored.length}`,
          leafId: await leafUnder(tx, messages, conversationId, id),
        })
        .where(eq(conversations.id, conversationId))
      return restored.length
    },

    purge: createMessagePurge(database),
  }
}

/** New messages, and what changes about them. */
function writeMessages(database: Database, { find, lockLeaf }: MessageStatements) {
  const { tables } = database
  const { messages, conversations, runs } = tables

  /** Where the branch of a run's answer ends: at the shown leaf if it is part of it. Null: the answer is in no branch. */
  async function endOfBranch(
    tx: Writer,
    conversationId: ConversationId,
    run: RunId | null,
    shown: MessageId | null,
  ): Promise<MessageId | null> {
    if (run === null) return null
    const [answer] = await tx
      .select({ id: messages.id })
      .from(runs)
      .innerJoin(messages, eq(messages.id, runs.messageId))
      .where(and(eq(runs.id, run), isAttached(messages)))
    return answer === undefined
      ? null
      : await leafUnder(tx, messages, conversationId, answer.id, shown)
  }

  return {
    /**
     * Locks and returns the shown leaf of a conversation; undefined when the conversation was deleted. Until the
     * transaction ends, no other one adds, removes or shows messages in it. Everything that adds a message calls this
     * first.
     */
    lockLeaf,

    ...createTurnWriter(database, lockLeaf),

    /** Stores a detached message, which is invisible until it is attached. */
    async insertDetached(tx: Writer, message: MessageRow): Promise<void> {
      await tx.insert(messages).values({ ...message, parentId: detachedParent(message.id) })
    },

    /**
     * Attaches a detached message where the branch of an answer ends, and shows it if that is the shown branch. Does nothing
     * when the conversation was deleted.
     * @param answeredBy the run of the answer; null or without an answer in the conversation: the shown branch.
     */
    async attach(
      tx: Writer,
      conversationId: ConversationId,
      id: MessageId,
      time: Date,
      answeredBy: RunId | null = null,
    ): Promise<void> {
      const conversation = await lockLeaf(tx, conversationId)
      const message = await find(conversationId, id, tx)
      // Already attached: the run failed, its answer was attached, and the run was resumed.
      if (conversation === undefined || message?.parentId !== detachedParent(id)) return
      const { leafId } = conversation
      const parentId = (await endOfBranch(tx, conversationId, answeredBy, leafId)) ?? leafId
      await tx.update(messages).set({ parentId, createdAt: time }).where(eq(messages.id, id))
      await tx
        .update(conversations)
        .set({
          ...(parentId === leafId ? { leafId: id } : {}),
          updatedAt: time,
          messageCount: sql`${conversations.messageCount} + 1`,
        })
        .where(eq(conversations.id, conversationId))
    },

    ...createMessageMarks(database),
  }
}
