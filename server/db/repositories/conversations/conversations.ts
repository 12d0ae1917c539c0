// Conversations of a user: creating, finding and changing them.
import { and, eq, inArray, isNull, max, type SQL, sql } from 'drizzle-orm'
import { appError } from '../../../errors.ts'
import { newId } from '../../../lib/ids.ts'
import type { ConversationId, MessageId, ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { foldCase } from '../../fragments.ts'
import { createMembership } from '../projects/membership.ts'
import { createSearchIndex } from '../search/index-writer.ts'
import { type ConversationItem, createConversationItems } from './conversation-items.ts'
import { createFilesOfMessages } from './files-of-messages.ts'
import { createMarks } from './marks.ts'
import { leafUnder } from './message-tree.ts'
import { createRunSettingReader, createRunSiteReader, createTurnEnds } from './turns.ts'

// Removing a conversation for good.

/** Messages deleted in one transaction, so that no transaction blocks other writes for long. */
const DELETE_BATCH_SIZE = 200

/**
 * Removes a conversation, also one in the trash, with everything in it and the files that only it uses. A long one takes several transactions; if the process
 * dies in between, a second call completes the removal. Resolves with false when the user has no such conversation.
 */
function createConversationRemoval(database: Database) {
  const { read, write, tables } = database
  const { consents, conversations, messages, projects, removedProjects, schedules } = tables
  const files = createFilesOfMessages(database)
  return async (userId: UserId, id: ConversationId): Promise<boolean> => {
    const [found] = await read
      .select({ id: conversations.id })
      .from(conversations)
      .where(and(eq(conversations.id, id), eq(conversations.userId, userId)))
    if (found === undefined) return false
    for (;;) {
      const some = await read
        .select({ row: messages.row })
        .from(messages)
        .where(eq(messages.conversationId, id))
        .limit(DELETE_BATCH_SIZE)
      const rows = some.map(({ row }) => row)
      const used = rows.length === 0 ? [] : await files.find(inArray(messages.row, rows))
      await write(async (tx) => {
        if (rows.length === DELETE_BATCH_SIZE)
          await tx.delete(messages).where(inArray(messages.row, rows))
        else {
          // A schedule would otherwise make itself another conversation.
          await tx
            .update(schedules)
            .set({ enabled: false, nextAt: null, disabledReason: null })
            .where(and(eq(schedules.conversationId, id), eq(schedules.enabled, true)))
          const [removed] = await tx
            .delete(conversations)
            .where(eq(conversations.id, id))
            .returning({ scratch: conversations.scratchProjectId })
          // Usually, its files were removed before; not those of a call that was still running.
          const scratch = removed?.scratch ?? null
          if (scratch !== null) {
            const gone = await tx
              .delete(projects)
              .where(and(eq(projects.id, scratch), eq(projects.scratch, true)))
              .returning({ id: projects.id })
            if (gone.length > 0) {
              await tx.insert(removedProjects).values({ id: scratch, userId })
              await tx.update(consents).set({ files: null }).where(eq(consents.projectId, scratch))
            }
          }
        }
      })
      await files.removeUnused(used)
      if (rows.length < DELETE_BATCH_SIZE) return true
    }
  }
}

// The order in which a user put their pinned conversations.

/** Puts pinned conversations into this order. Ids that are not pinned conversations of the user have no effect. */
const createPinOrder =
  (database: Database) =>
  async (userId: UserId, ids: readonly ConversationId[]): Promise<void> => {
    const { conversations } = database.tables
    const cases = ids.map((id, index) => sql`when ${id} then ${sql.raw(String(index))}`)
    const position = sql<number>`case ${conversations.id} ${sql.join(cases, sql` `)} end`
    await database.write(async (tx) => {
      await tx
        .update(conversations)
        .set({ pinPosition: position })
        .where(
          and(
            eq(conversations.userId, userId),
            eq(conversations.pinned, true),
            inArray(conversations.id, [...ids]),
          ),
        )
    })
  }

/** A row of `conversations`. */
export type ConversationRow = Database['tables']['conversations']['$inferSelect']

/** What a user may set. Absent fields stay unchanged. */
export type ConversationSettings = Partial<
  Pick<
    ConversationRow,
    | 'model'
    | 'projectId'
    | 'systemPrompt'
    | 'temperature'
    | 'maxTokens'
    | 'thinkingEnabled'
    | 'approval'
    | 'approvalDeadline'
    | 'disabledMcpServers'
    | 'scheduleId'
    | 'channel'
  >
>
type NewConversation = ConversationSettings & {
  title?: string
  temporary?: boolean
  tags?: string[]
}
/** Changes of a conversation. Absent fields stay unchanged. */
export type ConversationChanges = ConversationSettings &
  Partial<Pick<ConversationRow, 'title' | 'pinned' | 'archived' | 'tags'>> & {
    /** Any message of the conversation: its newest branch is shown. */
    leafId?: MessageId
  }

/** The title of a conversation without one. */
const PLACEHOLDER_TITLE = 'New conversation'
/** Titles (folded) that clients send for a conversation without one. They are shown, but a generated title replaces them. */
const DEFAULT_TITLES = new Set(['new conversation', 'new chat', '新对话', '新建对话'])

/** The columns of a title; an empty one becomes the placeholder. */
function titleColumns(given: string): Pick<ConversationRow, 'title' | 'titleKey' | 'titled'> {
  const title = given === '' ? PLACEHOLDER_TITLE : given
  const titleKey = foldCase(title)
  return { title, titleKey, titled: !DEFAULT_TITLES.has(titleKey) }
}

/** Stores conversations. Methods that serve a user's request take the user id: another user's conversation is not found. */
export function createConversationRepository(database: Database) {
  const parts = conversationRows(database)
  return {
    ...beginConversations(database, parts),
    ...changeConversations(database, parts),
    ...findConversations(database, parts),
    ...conversationsInRuns(database, parts),
    ...createTurnEnds(database),
    ...endsOfImports(database),
  }
}

/** What several groups share: lists, the search index, and rows that are checked or locked. */
function conversationRows(database: Database) {
  const { tables } = database
  const { conversations, projects } = tables
  const { isMember } = createMembership(database)
  const items = createConversationItems(database)
  const searchIndex = createSearchIndex(database)

  async function requireProject(tx: Reader, userId: UserId, id: ProjectId): Promise<void> {
    const [project] = await tx
      .select({ id: projects.id })
      .from(projects)
      .where(and(eq(projects.id, id), isMember(userId), eq(projects.scratch, false)))
    if (project === undefined) throw appError('project_not_found')
  }

  /** Locks the row on both databases by writing to it, so that it is unchanged until the transaction ends. */
  async function lockRow(tx: Writer, where: SQL | undefined): Promise<ConversationRow | undefined> {
    const [row] = await tx
      .update(conversations)
      .set({ leafId: sql`${conversations.leafId}` })
      .where(where)
      .returning()
    return row
  }

  return { items, searchIndex, requireProject, lockRow }
}

type ConversationRows = ReturnType<typeof conversationRows>

/** New conversations. */
function beginConversations(database: Database, { searchIndex, requireProject }: ConversationRows) {
  const { tables } = database
  const { conversations } = tables

  async function createIn(
    tx: Writer,
    userId: UserId,
    { title, ...settings }: NewConversation,
  ): Promise<ConversationRow> {
    if (settings.projectId != null) await requireProject(tx, userId, settings.projectId)
    const now = new Date()
    const row: ConversationRow = {
      projectId: null,
      scratchProjectId: null,
      model: null,
      systemPrompt: null,
      temperature: null,
      maxTokens: null,
      thinkingEnabled: false,
      approval: null,
      approvalDeadline: null,
      disabledMcpServers: [],
      temporary: false,
      tags: [],
      origin: null,
      scheduleId: null,
      channel: null,
      ...settings,
      id: newId<ConversationId>(),
      userId,
      ...titleColumns(title ?? ''),
      approvalGrants: [],
      tainted: false,
      pinned: false,
      pinPosition: null,
      archived: false,
      leafId: null,
      messageCount: 0,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    }
    await tx.insert(conversations).values(row)
    if (row.titled) await searchIndex.indexTitle(tx, row)
    return row
  }

  return {
    createIn,

    /** @throws AppError `not_found` for a project that the user does not have. */
    create: (userId: UserId, given: NewConversation): Promise<ConversationRow> =>
      database.write((tx) => createIn(tx, userId, given)),
  }
}

/** What users change about theirs. */
function changeConversations(
  database: Database,
  { items, searchIndex, requireProject, lockRow }: ConversationRows,
) {
  const { tables } = database
  const { conversations, messages } = tables
  const owned = (userId: UserId, id: ConversationId) =>
    and(eq(conversations.id, id), eq(conversations.userId, userId))
  const outsideTrash = (userId: UserId, id: ConversationId) =>
    and(owned(userId, id), isNull(conversations.deletedAt))

  return {
    /**
     * Updates settings without moving the conversation in the list: only messages count as activity.
     * @throws AppError `not_found` for a conversation, project or message that the user does not have.
     */
    async patch(
      userId: UserId,
      id: ConversationId,
      { leafId, title, ...changes }: ConversationChanges,
    ): Promise<ConversationItem> {
      await database.write(async (tx) => {
        const row = await lockRow(tx, outsideTrash(userId, id))
        if (row === undefined) throw appError('conversation_not_found')
        if (changes.projectId != null) await requireProject(tx, userId, changes.projectId)
        // A message on the shown branch is already visible: opening it must not hide what follows.
        const leaf =
          leafId === undefined ? undefined : await leafUnder(tx, messages, id, leafId, row.leafId)
        if (leaf === null) throw appError('message_not_found')
        const set = {
          ...changes,
          // Clients that send every setting also send the placeholder title; nobody chose it.
          ...(title === undefined || title === row.title ? {} : titleColumns(title)),
          ...(leaf === undefined ? {} : { leafId: leaf }),
          ...(changes.pinned === undefined || changes.pinned === row.pinned
            ? {}
            : { pinPosition: null }),
        }
        if (Object.keys(set).length > 0)
          await tx.update(conversations).set(set).where(eq(conversations.id, id))
        if (set.title !== undefined)
          await searchIndex.indexTitle(tx, { id, userId, title: set.title })
      })
      return items.get(userId, id)
    },

    mark: createMarks(database),

    orderPins: createPinOrder(database),

    remove: createConversationRemoval(database),
  }
}

/** Single conversations and lists of them. */
function findConversations(database: Database, { items }: ConversationRows) {
  const { read, tables } = database
  const { conversations } = tables

  const findStatement = read
    .select()
    .from(conversations)
    .where(
      and(
        eq(conversations.id, sql.placeholder('id')),
        eq(conversations.userId, sql.placeholder('userId')),
        isNull(conversations.deletedAt),
      ),
    )
    .prepare('conversation row')
  return {
    async find(userId: UserId, id: ConversationId): Promise<ConversationRow | undefined> {
      const [row] = await findStatement.execute({ userId, id })
      return row
    },

    findRunSite: createRunSiteReader(database),

    findRunSetting: createRunSettingReader(database),

    get: items.get,
    list: items.list,
    tags: items.tags,
  }
}

/** What a run changes while it works. */
function conversationsInRuns(database: Database, { lockRow }: ConversationRows) {
  const { tables } = database
  const { conversations, messages } = tables
  return {
    /** Folds what a run wrote that found nothing to report: the conversation is back where it was in the list. */
    async fold(
      tx: Writer,
      run: {
        conversationId: ConversationId
        messageId: MessageId
        userMessageId: MessageId | null
      },
    ): Promise<void> {
      const ids = [run.messageId, ...(run.userMessageId === null ? [] : [run.userMessageId])]
      await tx.update(messages).set({ quiet: true }).where(inArray(messages.id, ids))
      const [newest] = await tx
        .select({ at: max(messages.createdAt) })
        .from(messages)
        .where(
          and(
            eq(messages.conversationId, run.conversationId),
            eq(messages.quiet, false),
            isNull(messages.deletedAt),
          ),
        )
      await tx
        .update(conversations)
        .set({ updatedAt: newest?.at ?? sql`${conversations.createdAt}` })
        .where(eq(conversations.id, run.conversationId))
    },

    /** Marks the conversation as tainted: it contains text from outside. */
    async markTainted(tx: Writer, id: ConversationId): Promise<void> {
      await tx
        .update(conversations)
        .set({ tainted: true })
        .where(and(eq(conversations.id, id), eq(conversations.tainted, false)))
    },

    /** Ends an approval for the whole conversation for versions without the table of grants, which may run beside this one. */
    async removeApproval(tx: Writer, id: ConversationId, key: string): Promise<void> {
      const row = await lockRow(tx, eq(conversations.id, id))
      if (row === undefined || !row.approvalGrants.includes(key)) return
      await tx
        .update(conversations)
        .set({ approvalGrants: row.approvalGrants.filter((other) => other !== key) })
        .where(eq(conversations.id, id))
    },
  }
}

/** What an import changes when it is complete. */
function endsOfImports({ tables: { conversations } }: Database) {
  return {
    /** Sets the shown branch, the original times and the origin of an imported conversation whose messages are stored. */
    async completeImport(
      tx: Writer,
      id: ConversationId,
      set: Pick<ConversationRow, 'leafId' | 'pinned' | 'archived' | 'createdAt' | 'updatedAt'> &
        Partial<Pick<ConversationRow, 'origin' | 'temporary'>>,
    ): Promise<void> {
      await tx.update(conversations).set(set).where(eq(conversations.id, id))
    },
  }
}
