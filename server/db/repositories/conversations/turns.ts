// The turns of a conversation: a question with its answer, or another answer, from the send to the end of the run. Every send runs these
// statements.
import { and, type Column, eq, getTableColumns, isNull, type SQL, sql } from 'drizzle-orm'
import type { ConversationId, MessageId, UserId } from '../../../protocol/ids.ts'
import type { RunOrigin } from '../../../protocol/runs/origin.ts'
import type { Database, Writer } from '../../database.ts'
import { foldCase, inParallel, prepareOnEach, prepareUpdates } from '../../fragments.ts'
import { createSearchIndex } from '../search/index-writer.ts'
import { createAttachmentRepository } from './attachments.ts'
import type { LaterColumns, MessageRow } from './branches.ts'
import { type StoredOrInline, toAttachmentRow } from './new-attachments.ts'

/** A message, or a question with its answer. */
type Turn = readonly [MessageRow] | readonly [MessageRow, MessageRow]
type ConversationRow = Database['tables']['conversations']['$inferSelect']

/** Locks and returns the shown leaf of a conversation; undefined when the conversation was deleted. */
type LockLeaf = (
  tx: Writer,
  conversationId: ConversationId,
) => Promise<{ leafId: MessageId | null } | undefined>

/** What is stored of messages. Uses the tables `messages`, `attachments` and `conversations`. */
export function createTurnWriter(database: Database, lockLeaf: LockLeaf) {
  return {
    ...leaves(database, lockLeaf),
    ...addTurns(database),
    ...answers(database),
  }
}

/** Which branch a conversation shows. */
function leaves(database: Database, lockLeaf: LockLeaf) {
  const { messages, conversations } = database.tables

  /** The value, if there is one, until the conversation has a real title. */
  const untilTitled = (column: Column, name: string): SQL =>
    sql`case when ${conversations.titled} then ${column} else coalesce(${sql.placeholder(name)}, ${column}) end`
  const leafStatement = prepareOnEach((tx) =>
    tx
      .update(conversations)
      .set({
        leafId: sql`${sql.placeholder('leafId')}`,
        updatedAt: sql`${sql.param(sql.placeholder('at'), conversations.updatedAt)}`,
        messageCount: sql`${conversations.messageCount} + ${sql.placeholder('added')}`,
        title: untilTitled(conversations.title, 'title'),
        titleKey: untilTitled(conversations.titleKey, 'titleKey'),
      })
      .where(
        and(
          eq(conversations.id, sql.placeholder('conversationId')),
          isNull(conversations.deletedAt),
          sql`${conversations.leafId} is not distinct from ${sql.placeholder('expected')}`,
        ),
      )
      .returning(getTableColumns(conversations))
      .prepare('show leaf'),
  )

  return {
    /**
     * Locks a conversation and shows a new leaf, whose turn the caller adds in the same transaction. Returns the leaf that
     * was shown before, and the conversation as it is now; undefined when the conversation was deleted.
     * @param turn `expected`: the leaf as it was read before; if it is still shown, this takes one statement. `leafId`: null
     * keeps the leaf. `title`: a provisional one, which the first real one replaces; null for none.
     */
    async moveLeaf(
      tx: Writer,
      conversationId: ConversationId,
      turn: {
        expected: MessageId | null
        leafId: MessageId | null
        added: number
        title: string | null
        at: Date
      },
    ): Promise<{ leafId: MessageId | null; conversation: ConversationRow } | undefined> {
      const move = (expected: MessageId | null) =>
        leafStatement(tx).execute({
          ...turn,
          conversationId,
          expected,
          leafId: turn.leafId ?? expected,
          titleKey: turn.title === null ? null : foldCase(turn.title),
        })
      const [shown] = await move(turn.expected)
      if (shown !== undefined) return { leafId: turn.expected, conversation: shown }
      const locked = await lockLeaf(tx, conversationId)
      if (locked === undefined) return undefined
      const [moved] = await move(locked.leafId)
      return moved === undefined ? undefined : { leafId: locked.leafId, conversation: moved }
    },

    /** Moves a message of this transaction, stored below the expected leaf, to below the leaf that was really shown. */
    async moveUnder(tx: Writer, id: MessageId, parentId: MessageId | null): Promise<void> {
      await tx.update(messages).set({ parentId }).where(eq(messages.id, id))
    },
  }
}

/** New messages. */
function addTurns(database: Database) {
  const { messages, attachments, conversations } = database.tables
  const searchIndex = createSearchIndex(database)
  const { copy: copyAttachments } = createAttachmentRepository(database)
  /** Placeholders for the message at this position of its turn. */
  const placeholders = (index: number) => {
    const of = (name: keyof MessageRow) => sql.placeholder(`${name}${index}`)
    return {
      id: of('id'),
      conversationId: of('conversationId'),
      parentId: of('parentId'),
      role: of('role'),
      text: of('text'),
      tokenCount: of('tokenCount'),
      model: of('model'),
      runId: of('runId'),
      status: of('status'),
      error: of('error'),
      // As text, because a prepared statement would store null as the JSON value.
      origin: sql<RunOrigin>`${of('origin')}`,
      createdAt: of('createdAt'),
    } satisfies Record<keyof MessageRow, unknown>
  }
  /** A statement that inserts this many messages at once. */
  const insertStatement = (count: number) =>
    prepareOnEach((tx) =>
      tx
        .insert(messages)
        .values(Array.from({ length: count }, (_, index) => placeholders(index)))
        .returning({ row: messages.row })
        .prepare(`insert ${count} messages`),
    )
  const insertStatements = [insertStatement(1), insertStatement(2)] as const
  /**
   * Adds the messages of one turn, each the child of the previous one.
   * @param userId the owner of the conversation.
   * @param files attachments of the first message: new ones, or those of another message.
   */
  async function add(
    tx: Writer,
    userId: UserId,
    turn: Turn,
    files: readonly StoredOrInline[] | { of: MessageId } = [],
  ): Promise<void> {
    const [first] = turn
    const values = turn.flatMap((message, index) =>
      Object.entries({
        ...message,
        origin: message.origin === null ? null : JSON.stringify(message.origin),
      }).map(([name, value]) => [`${name}${index}`, value]),
    )
    let rows: { row: number }[] = []
    await inParallel(
      async () => {
        const insert = insertStatements[turn.length === 1 ? 0 : 1](tx)
        rows = await insert.execute(Object.fromEntries(values))
      },
      async () => {
        // The text of an answer is indexed with its steps.
        if (first.role === 'user') await searchIndex.indexQuestion(tx, userId, first)
      },
    )
    if ('of' in files) await copyAttachments(tx, files.of, first.id)
    else if (files.length > 0)
      await tx
        .insert(attachments)
        .values(files.map((file, position) => toAttachmentRow(first.id, position, file)))
    else return
    // SQLite returns rows in any order; their numbers are in the order of the values.
    const [row] = rows.map((inserted) => inserted.row).sort((one, other) => one - other)
    if (row !== undefined) await searchIndex.indexFiles(tx, { row, userId }, first.id)
  }

  return {
    add,

    /**
     * Adds the messages of one turn and shows the last as the leaf. The leaf must be locked and the parent of the first
     * checked.
     */
    async insert(
      tx: Writer,
      userId: UserId,
      turn: Turn,
      files: readonly StoredOrInline[] | { of: MessageId } = [],
    ): Promise<void> {
      await add(tx, userId, turn, files)
      const leaf = turn.at(-1) ?? turn[0]
      await tx
        .update(conversations)
        .set({
          leafId: leaf.id,
          updatedAt: leaf.createdAt,
          messageCount: sql`${conversations.messageCount} + ${turn.length}`,
        })
        .where(eq(conversations.id, leaf.conversationId))
    },
  }
}

/** The answer of a turn, while it is written. */
function answers(database: Database) {
  const { messages } = database.tables

  const updateStatement = prepareUpdates('update message', messages, (tx, set, name) =>
    tx
      .update(messages)
      .set(set)
      .where(eq(messages.id, sql.placeholder('updated')))
      .prepare(name),
  )

  return {
    /** Updates a message inside the caller's transaction. */
    async update(
      tx: Writer,
      id: MessageId,
      changes: Partial<
        Pick<
          MessageRow & LaterColumns,
          | 'text'
          | 'tokenCount'
          | 'model'
          | 'runId'
          | 'status'
          | 'error'
          | 'receipt'
          | 'plan'
          | 'citations'
          | 'quiet'
        >
      >,
    ): Promise<void> {
      await updateStatement(tx, changes).execute({ ...changes, updated: id })
    },
  }
}

/** What a run changes of its conversation when it ends. Uses the table `conversations`. */
export function createTurnEnds(database: Database) {
  const { conversations } = database.tables
  const searchIndex = createSearchIndex(database)

  const titleStatement = prepareUpdates('title conversation', conversations, (tx, set, name) =>
    tx
      .update(conversations)
      .set(set)
      .where(and(eq(conversations.id, sql.placeholder('updated')), eq(conversations.titled, false)))
      .returning({ userId: conversations.userId })
      .prepare(name),
  )

  const updateStatement = prepareUpdates('update conversation', conversations, (tx, set, name) =>
    tx
      .update(conversations)
      .set(set)
      .where(eq(conversations.id, sql.placeholder('updated')))
      .prepare(name),
  )

  /** Sets a title with other changes, unless the conversation already has a title: then changes nothing and returns false. */
  async function setFirstTitle(
    tx: Writer,
    id: ConversationId,
    title: string,
    changes: { updatedAt?: Date } = {},
  ): Promise<boolean> {
    const set = { ...changes, title, titleKey: foldCase(title), titled: true }
    const [titled] = await titleStatement(tx, set).execute({ ...set, updated: id })
    if (titled !== undefined) await searchIndex.indexTitle(tx, { id, userId: titled.userId, title })
    return titled !== undefined
  }

  return {
    /** Moves a conversation to the top of the list. */
    async touch(tx: Writer, id: ConversationId, updatedAt: Date): Promise<void> {
      await updateStatement(tx, { updatedAt }).execute({ updatedAt, updated: id })
    },

    /** Sets a generated title, unless the conversation already has a title: then returns false. */
    setGeneratedTitle: (tx: Writer, id: ConversationId, title: string): Promise<boolean> =>
      setFirstTitle(tx, id, title),

    /** After a turn: moves the conversation to the top of the list, and sets a generated title. */
    async endTurn(
      tx: Writer,
      id: ConversationId,
      { endedAt, title }: { endedAt: Date; title: string | null },
    ): Promise<void> {
      const isMoved = title !== null && (await setFirstTitle(tx, id, title, { updatedAt: endedAt }))
      if (!isMoved) await this.touch(tx, id, endedAt)
    },
  }
}
