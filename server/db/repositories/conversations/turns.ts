// What every send reads of a conversation, and what it stores: the turn, a question with its answer or another answer, from the send to the
// end of the run.
import { and, type Column, eq, getTableColumns, isNull, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { NO_PREFERENCES, type Preferences } from '../../../protocol/accounts/preferences.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../../../protocol/ids.ts'
import type { RunOrigin } from '../../../protocol/runs/origin.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { foldCase, inParallel, prepareOnEach, prepareUpdates } from '../../fragments.ts'
import { fromUnfinishedOfUser } from '../runs/unfinished-runs.ts'
import { createSearchIndex } from '../search/index-writer.ts'
import { createAttachmentRepository } from './attachments.ts'
import type { LaterColumns, MessageRow } from './branches.ts'
import { type StoredOrInline, toAttachmentRow } from './new-attachments.ts'

// What a run reads besides its messages, and what decides whether it may start: each in one statement.

/** What a user has of a skill of their own, without its files. */
export interface OwnSkill {
  name: string
  sha256: string
}

/** The conversation of a run, and its user's memory, preferences and skills. */
export interface RunSetting {
  conversation: Database['tables']['conversations']['$inferSelect']
  /** The user's memory as Markdown; empty when there is none. */
  memory: string
  preferences: Preferences
  /** The user's own skills, by name. */
  ownSkills: readonly OwnSkill[]
}

const OwnSkills = z.array(z.tuple([z.string(), z.string()]))

/** The own skills of the user of the selected conversation. Nested, because drizzle drops table names from a field's own columns. */
function ownSkillsField({
  dialect,
  tables,
}: Pick<Database, 'dialect' | 'tables'>): SQL<OwnSkill[]> {
  const { conversations, userSkills } = tables
  const owned = sql`${userSkills} where ${userSkills.userId} = ${conversations.userId}`
  const list =
    dialect === 'sqlite'
      ? sql`(select json_group_array(json_array(name, sha256)) from (select ${userSkills.name} as name, ${userSkills.sha256} as sha256 from ${owned} order by name))`
      : sql`(select coalesce(json_agg(json_build_array(${userSkills.name}, ${userSkills.sha256}) order by ${userSkills.name}), '[]')::text from ${owned})`
  return sql`${list}`.mapWith((json: unknown) =>
    OwnSkills.parse(JSON.parse(String(json))).map(([name, sha256]): OwnSkill => ({ name, sha256 })),
  )
}

/** What both readers select, and of which conversation: the placeholders are `id` and `userId`. */
function settingOf(database: Database) {
  const { conversations, memories, preferences } = database.tables
  return {
    fields: {
      conversation: conversations,
      memory: memories.content,
      preferences: preferences.value,
      ownSkills: ownSkillsField(database),
    },
    condition: and(
      eq(conversations.id, sql.placeholder('id')),
      eq(conversations.userId, sql.placeholder('userId')),
      isNull(conversations.deletedAt),
    ),
  }
}

/** The row with what a user has who has stored nothing. */
const withDefaults = <Row extends { memory: string | null; preferences: Preferences | null }>(
  row: Row,
) => ({
  ...row,
  memory: row.memory ?? '',
  preferences: { ...NO_PREFERENCES, ...row.preferences },
})

/** The reader returns nothing if the user has no such conversation, or it is in the trash. */
export function createRunSettingReader(database: Database) {
  const { read } = database
  const { conversations, memories, preferences } = database.tables
  const { fields, condition } = settingOf(database)
  const statement = prepareOnEach((read: Reader) =>
    read
      .select(fields)
      .from(conversations)
      .leftJoin(memories, eq(memories.userId, conversations.userId))
      .leftJoin(preferences, eq(preferences.userId, conversations.userId))
      .where(condition)
      .prepare('run setting'),
  )

  return async (
    userId: UserId,
    id: ConversationId,
    reader: Reader = read,
  ): Promise<RunSetting | undefined> => {
    const [found] = await statement(reader).execute({ userId, id })
    return found === undefined ? undefined : withDefaults(found)
  }
}

/** What decides whether a run may start in a conversation, and what the run reads besides its messages. */
export interface RunSite extends RunSetting {
  /** The active run of the conversation, except background tasks; of two answers beside each other, one. */
  activeRunId: RunId | null
  /** Unfinished runs of the user in all conversations. */
  unfinishedRuns: number
  /** The run that was started with this client id. */
  duplicateRunId: RunId | null
}

/** The reader returns nothing if the user has no such conversation, or it is in the trash. */
export function createRunSiteReader(database: Database) {
  const { read, tables } = database
  const { conversations, runs, memories, preferences } = tables
  const { fields, condition } = settingOf(database)
  /** A value from the runs that meet the condition. Nested, because drizzle drops table names from a field's own columns. */
  const fromRuns = (value: SQL, condition: SQL, table = sql`${runs}`) =>
    sql`${sql`(select ${value} from ${table} where ${condition})`}`
  const inConversation = sql`${runs.conversationId} = ${conversations.id}`
  const runSiteStatement = read
    .select({
      ...fields,
      activeRunId: fromRuns(
        sql`${runs.id}`,
        // Exactly the condition of the partial unique index, so that it is used and there are at most two rows.
        sql`${inConversation} and ${runs.kind} = 'chat' and ${runs.endedAt} is null
          order by ${runs.beside} limit 1`,
      ).mapWith(runs.id),
      unfinishedRuns: fromRuns(
        sql`count(*)`,
        sql`${runs.userId} = ${conversations.userId} and ${runs.endedAt} is null`,
        fromUnfinishedOfUser(tables),
      ).mapWith(Number),
      duplicateRunId: fromRuns(
        sql`${runs.id}`,
        sql`${inConversation} and ${runs.clientId} = ${sql.placeholder('clientId')}`,
      ).mapWith(runs.id),
    })
    .from(conversations)
    .leftJoin(memories, eq(memories.userId, conversations.userId))
    .leftJoin(preferences, eq(preferences.userId, conversations.userId))
    .where(condition)
    .prepare('run site')

  return async (
    userId: UserId,
    id: ConversationId,
    clientId: string | undefined,
  ): Promise<RunSite | undefined> => {
    const [site] = await runSiteStatement.execute({ userId, id, clientId: clientId ?? null })
    return site === undefined ? undefined : withDefaults(site)
  }
}

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
