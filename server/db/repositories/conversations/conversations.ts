// Conversations of a user: creating, finding and changing them.
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { appError } from '../../../errors.ts'
import { newId } from '../../../lib/ids.ts'
import type { ConversationId, MessageId, ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { foldCase, prepareUpdates } from '../../fragments.ts'
import { createRunSettingReader } from '../runs/run-setting.ts'
import { createRunSiteReader } from '../runs/run-site.ts'
import { createSearchIndex } from '../search/index-writer.ts'
import { type ConversationItem, createConversationItems } from './conversation-items.ts'
import { createMarks } from './marks.ts'
import { leafUnder } from './message-tree.ts'
import { createPinOrder } from './pin-order.ts'
import { createConversationRemoval } from './removal.ts'

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
    | 'disabledMcpServers'
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

/** Stores conversations. */
export type ConversationRepository = ReturnType<typeof createConversationRepository>

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

/** Methods that serve a user's request take the user id: another user's conversation is not found. */
export function createConversationRepository(database: Database) {
  const { read, tables } = database
  const { conversations, messages, projects } = tables
  const items = createConversationItems(database)
  const searchIndex = createSearchIndex(database)
  const owned = (userId: UserId, id: ConversationId) =>
    and(eq(conversations.id, id), eq(conversations.userId, userId))
  const outsideTrash = (userId: UserId, id: ConversationId) =>
    and(owned(userId, id), isNull(conversations.deletedAt))

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

  const updateStatement = prepareUpdates('update conversation', conversations, (tx, set, name) =>
    tx
      .update(conversations)
      .set(set)
      .where(eq(conversations.id, sql.placeholder('updated')))
      .prepare(name),
  )

  const titleStatement = prepareUpdates('title conversation', conversations, (tx, set, name) =>
    tx
      .update(conversations)
      .set(set)
      .where(and(eq(conversations.id, sql.placeholder('updated')), eq(conversations.titled, false)))
      .returning({ userId: conversations.userId })
      .prepare(name),
  )

  async function requireProject(tx: Reader, userId: UserId, id: ProjectId): Promise<void> {
    const [project] = await tx
      .select({ id: projects.id })
      .from(projects)
      .where(and(eq(projects.id, id), eq(projects.userId, userId)))
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

  /** Sets a title with other changes, unless the conversation already has a title: then changes nothing and returns false. */
  async function setFirstTitle(
    tx: Writer,
    id: ConversationId,
    title: string,
    changes: { updatedAt?: Date } = {},
  ): Promise<boolean> {
    const set = { ...changes, title, titleKey: foldCase(title), titled: true }
    const [titled] = await titleStatement(tx, set).execute({ ...set, updated: id })
    if (titled !== undefined) await searchIndex.putTitle(tx, { id, userId: titled.userId, title })
    return titled !== undefined
  }

  async function createIn(
    tx: Writer,
    userId: UserId,
    { title, ...settings }: NewConversation,
  ): Promise<ConversationRow> {
    if (settings.projectId != null) await requireProject(tx, userId, settings.projectId)
    const now = new Date()
    const row: ConversationRow = {
      projectId: null,
      model: null,
      systemPrompt: null,
      temperature: null,
      maxTokens: null,
      thinkingEnabled: false,
      approval: null,
      disabledMcpServers: [],
      temporary: false,
      tags: [],
      origin: null,
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
    if (row.titled) await searchIndex.putTitle(tx, row)
    return row
  }

  return {
    createIn,

    /** Shows a title, which the first real one replaces. */
    async showTitle(tx: Writer, id: ConversationId, title: string): Promise<void> {
      const set = { title, titleKey: foldCase(title) }
      await titleStatement(tx, set).execute({ ...set, updated: id })
    },

    /** @throws AppError `not_found` for a project that the user does not have. */
    create: (userId: UserId, given: NewConversation): Promise<ConversationRow> =>
      database.write((tx) => createIn(tx, userId, given)),

    async find(userId: UserId, id: ConversationId): Promise<ConversationRow | undefined> {
      const [row] = await findStatement.execute({ userId, id })
      return row
    },

    findRunSite: createRunSiteReader(database),

    findRunSetting: createRunSettingReader(database),

    get: items.get,
    list: items.list,
    tags: items.tags,

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
          await searchIndex.putTitle(tx, { id, userId, title: set.title })
      })
      return items.get(userId, id)
    },

    mark: createMarks(database),

    orderPins: createPinOrder(database),

    /** Moves a conversation to the top of the list. */
    async touch(tx: Writer, id: ConversationId, updatedAt: Date): Promise<void> {
      await updateStatement(tx, { updatedAt }).execute({ updatedAt, updated: id })
    },

    /** Marks the conversation as tainted: it contains text from outside. */
    async markTainted(tx: Writer, id: ConversationId): Promise<void> {
      await tx
        .update(conversations)
        .set({ tainted: true })
        .where(and(eq(conversations.id, id), eq(conversations.tainted, false)))
    },

    /** Adds a grant for a tool; concurrent grants are all stored. */
    async addApprovalGrant(tx: Writer, id: ConversationId, tool: string): Promise<void> {
      const row = await lockRow(tx, eq(conversations.id, id))
      if (row === undefined || row.approvalGrants.includes(tool)) return
      await tx
        .update(conversations)
        .set({ approvalGrants: [...row.approvalGrants, tool] })
        .where(eq(conversations.id, id))
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

    /** Sets the shown branch, the original times and the origin of an imported conversation whose messages are stored. */
    async completeImport(
      tx: Writer,
      id: ConversationId,
      set: Pick<ConversationRow, 'leafId' | 'pinned' | 'archived' | 'createdAt' | 'updatedAt'> &
        Partial<Pick<ConversationRow, 'origin' | 'temporary'>>,
    ): Promise<void> {
      await tx.update(conversations).set(set).where(eq(conversations.id, id))
    },

    remove: createConversationRemoval(database),
  }
}
