// Conversations of a user: finding, listing, changing and removing them.
import { and, desc, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import { appError } from '../../errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Page } from '../../protocol/envelope.ts'
import type { ConversationId, MessageId, ProjectId, RunId, UserId } from '../../protocol/ids.ts'
import type { RunStatus } from '../../protocol/run.ts'
import { decodeCursor, MomentPlace, toPage } from '../cursor.ts'
import type { Database, Reader, Writer } from '../database.ts'
import {
  afterMoment,
  byteLength,
  containsFolded,
  foldCase,
  foldedPattern,
  prepareOnce,
} from '../fragments.ts'
import { leafUnder } from './message-tree.ts'

export type ConversationRow = Database['tables']['conversations']['$inferSelect']

/** A conversation as lists and details show it. */
export type ConversationItem = ConversationRow & {
  projectName: string | null
  /** The run that has not ended, if any, and what it is doing. */
  activeRunId: RunId | null
  activeRunStatus: RunStatus | null
}

/** What a person may set. Absent leaves as it is. */
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
export type ConversationChanges = ConversationSettings &
  Partial<Pick<ConversationRow, 'title' | 'pinned' | 'archived'>> & {
    /** Any message: the newest branch through it becomes the shown one. */
    leafId?: MessageId
  }

export type ConversationFilter = {
  limit: number
  cursor?: string | undefined
  projectId?: ProjectId | undefined
  archived?: boolean | undefined
  pinned?: boolean | undefined
  /** Part of the title, in whatever case. */
  q?: string | undefined
}

export type ConversationRepository = ReturnType<typeof createConversationRepository>

/** What a conversation is called until it has a title. */
const placeholderTitle = 'New conversation'
/** What clients send for a conversation that nobody has named, folded: shown as they are, but no titles. */
const DEFAULT_TITLES = new Set(['new conversation', 'new chat', '新对话', '新建对话'])

/** A title as it is stored, whoever it comes from; an empty one gives way to the placeholder. */
function titleColumns(given: string): Pick<ConversationRow, 'title' | 'titleKey' | 'titled'> {
  const title = given === '' ? placeholderTitle : given
  const titleKey = foldCase(title)
  return { title, titleKey, titled: !DEFAULT_TITLES.has(titleKey) }
}

/** A list brings system prompts up to this size along; what is longer is read for those that the page has room for. */
const SHORT_PROMPT_BYTES = 4_000
/** Of all long system prompts on one page; beyond it the page ends early. At least one fits always. */
const PAGE_PROMPT_BYTES = 1024 * 1024

/** Messages deleted in one transaction, so that none holds up others for long. */
const deletedAtOnce = 200

/** An item without its system prompt where that is long. */
type ListedRow = ConversationItem & { promptBytes: number | null }

const isLong = ({ promptBytes }: ListedRow): boolean => (promptBytes ?? 0) > SHORT_PROMPT_BYTES

/** How many of the rows, at most `limit`, a page has room for. */
function roomFor(rows: readonly ListedRow[], limit: number): number {
  let bytes = 0
  const full = rows.findIndex((row, at) => {
    bytes += isLong(row) ? (row.promptBytes ?? 0) : 0
    return at > 0 && bytes > PAGE_PROMPT_BYTES
  })
  return full === -1 ? limit : Math.min(full, limit)
}

const missing = () => appError('conversation_not_found')

/** A conversation of somebody else is none at all: whatever begins with a person's wish asks for its owner. */
export function createConversationRepository(database: Database) {
  const { read, tables } = database
  const { conversations, messages, projects, runs } = tables
  const owned = (userId: UserId, id: ConversationId) =>
    and(eq(conversations.id, id), eq(conversations.userId, userId))

  const promptBytes = byteLength(conversations.systemPrompt)

  const selectItems = () =>
    read
      .select({
        ...getTableColumns(conversations),
        systemPrompt: sql<
          string | null
        >`case when ${promptBytes} <= ${sql.raw(String(SHORT_PROMPT_BYTES))} then ${conversations.systemPrompt} end`,
        promptBytes: sql<number | null>`${promptBytes}`,
        projectName: projects.name,
        activeRunId: runs.id,
        activeRunStatus: runs.status,
      })
      .from(conversations)
      .leftJoin(projects, eq(projects.id, conversations.projectId))
      // Literally the condition of the partial index, of which there is one row at most.
      .leftJoin(
        runs,
        sql`${runs.conversationId} = ${conversations.id} and ${runs.kind} = 'chat' and ${runs.endedAt} is null`,
      )

  /** One of the sixteen shapes of the list, put together once: that costs as much as running it. */
  const listStatement = prepareOnce(
    'conversations',
    (shape: { inProject: boolean; titled: boolean; continued: boolean; byPin: boolean }, name) => {
      const { updatedAt, id } = conversations
      return selectItems()
        .where(
          and(
            eq(conversations.userId, sql.placeholder('userId')),
            // As a parameter of the column, which knows how its database writes a boolean.
            eq(
              conversations.archived,
              sql.param(sql.placeholder('archived'), conversations.archived),
            ),
            shape.byPin
              ? eq(conversations.pinned, sql.param(sql.placeholder('pinned'), conversations.pinned))
              : undefined,
            shape.inProject ? eq(conversations.projectId, sql.placeholder('projectId')) : undefined,
            shape.titled
              ? containsFolded(conversations.titleKey, sql.placeholder('pattern'))
              : undefined,
            shape.continued
              ? afterMoment(updatedAt, id, sql.placeholder('moment'), sql.placeholder('lastId'))
              : undefined,
          ),
        )
        .orderBy(desc(updatedAt), desc(id))
        .limit(sql.placeholder('limit'))
        .prepare(name)
    },
  )

  const ownedPlace = and(
    eq(conversations.id, sql.placeholder('id')),
    eq(conversations.userId, sql.placeholder('userId')),
  )
  const itemStatement = selectItems().where(ownedPlace).prepare('conversation item')
  const findStatement = read
    .select()
    .from(conversations)
    .where(ownedPlace)
    .prepare('conversation row')

  async function get(userId: UserId, id: ConversationId): Promise<ConversationItem> {
    const [item] = await itemStatement.execute({ userId, id })
    const [whole] = await withLongPrompts(item === undefined ? [] : [item])
    if (whole === undefined) throw missing()
    return whole
  }

  /** Brings the long system prompts of a page along, in one query if there are any. */
  async function withLongPrompts(listed: readonly ListedRow[]): Promise<ConversationItem[]> {
    const long = listed.filter(isLong).map(({ id }) => id)
    const found =
      long.length === 0
        ? []
        : await read
            .select({ id: conversations.id, systemPrompt: conversations.systemPrompt })
            .from(conversations)
            .where(inArray(conversations.id, long))
    const prompts = new Map(found.map(({ id, systemPrompt }) => [id, systemPrompt]))
    return listed.map(({ promptBytes: _bytes, ...item }) => ({
      ...item,
      systemPrompt: prompts.get(item.id) ?? item.systemPrompt,
    }))
  }

  async function requireProject(tx: Reader, userId: UserId, id: ProjectId): Promise<void> {
    const [project] = await tx
      .select({ id: projects.id })
      .from(projects)
      .where(and(eq(projects.id, id), eq(projects.userId, userId)))
    if (project === undefined) throw appError('project_not_found')
  }

  /** A change of the row itself locks it on both databases: what is decided upon it still holds when it is written. */
  async function lockRow(tx: Writer, where: SQL | undefined): Promise<ConversationRow | undefined> {
    const [row] = await tx
      .update(conversations)
      .set({ leafId: sql`${conversations.leafId}` })
      .where(where)
      .returning()
    return row
  }

  return {
    /** @throws AppError `not_found` for a project that the user does not have. */
    create: (
      userId: UserId,
      { title, ...settings }: ConversationSettings & { title?: string },
    ): Promise<ConversationRow> =>
      database.write(async (tx) => {
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
          ...settings,
          id: newId<ConversationId>(),
          userId,
          ...titleColumns(title ?? ''),
          approvalGrants: [],
          tainted: false,
          pinned: false,
          archived: false,
          leafId: null,
          messageCount: 0,
          createdAt: now,
          updatedAt: now,
        }
        await tx.insert(conversations).values(row)
        return row
      }),

    async find(userId: UserId, id: ConversationId): Promise<ConversationRow | undefined> {
      const [row] = await findStatement.execute({ userId, id })
      return row
    },

    /** @throws AppError `not_found`. */
    get,

    /** Newest activity first: one query, whatever the number of conversations. */
    async list(userId: UserId, filter: ConversationFilter): Promise<Page<ConversationItem>> {
      const place =
        filter.cursor === undefined ? undefined : decodeCursor(MomentPlace, filter.cursor)
      const q = filter.q === '' ? undefined : filter.q
      const rows = await listStatement({
        inProject: filter.projectId !== undefined,
        titled: q !== undefined,
        continued: place !== undefined,
        byPin: filter.pinned !== undefined,
      }).execute({
        userId,
        archived: filter.archived ?? false,
        pinned: filter.pinned,
        projectId: filter.projectId,
        pattern: q === undefined ? undefined : foldedPattern(q),
        moment: place && new Date(place[0]),
        lastId: place?.[1],
        limit: filter.limit + 1,
      })
      const page = toPage(rows, roomFor(rows, filter.limit), (item) => [
        item.updatedAt.getTime(),
        item.id,
      ])
      return { ...page, items: await withLongPrompts(page.items) }
    },

    /**
     * What a person changes. Its place in the list stays: only messages are activity.
     * @throws AppError `not_found` for a conversation, project or message that the user does not have.
     */
    async patch(
      userId: UserId,
      id: ConversationId,
      { leafId, title, ...changes }: ConversationChanges,
    ): Promise<ConversationItem> {
      await database.write(async (tx) => {
        const row = await lockRow(tx, owned(userId, id))
        if (row === undefined) throw missing()
        if (changes.projectId != null) await requireProject(tx, userId, changes.projectId)
        const leaf = leafId === undefined ? undefined : await leafUnder(tx, messages, id, leafId)
        if (leaf === null) throw appError('message_not_found')
        const set = {
          ...changes,
          // Clients that send every setting send the title they were shown, which is no wish of a person.
          ...(title === undefined || title === row.title ? {} : titleColumns(title)),
          ...(leaf === undefined ? {} : { leafId: leaf }),
        }
        if (Object.keys(set).length > 0)
          await tx.update(conversations).set(set).where(eq(conversations.id, id))
      })
      return get(userId, id)
    },

    /** Inside the caller's transaction: something happened in it. */
    async touch(tx: Writer, id: ConversationId, updatedAt: Date): Promise<void> {
      await tx.update(conversations).set({ updatedAt }).where(eq(conversations.id, id))
    },

    /** Inside the caller's transaction: text from outside is in it from now on. */
    async markTainted(tx: Writer, id: ConversationId): Promise<void> {
      await tx
        .update(conversations)
        .set({ tainted: true })
        .where(and(eq(conversations.id, id), eq(conversations.tainted, false)))
    },

    /** Inside the caller's transaction: allows a tool for good, beside what others allow at the same moment. */
    async addApprovalGrant(tx: Writer, id: ConversationId, tool: string): Promise<void> {
      const row = await lockRow(tx, eq(conversations.id, id))
      if (row === undefined || row.approvalGrants.includes(tool)) return
      await tx
        .update(conversations)
        .set({ approvalGrants: [...row.approvalGrants, tool] })
        .where(eq(conversations.id, id))
    },

    /** Inside the caller's transaction: a title that was made, not given; one that is there stays. */
    async setMadeTitle(tx: Writer, id: ConversationId, title: string): Promise<void> {
      await tx
        .update(conversations)
        .set({ title, titleKey: foldCase(title), titled: true })
        .where(and(eq(conversations.id, id), eq(conversations.titled, false)))
    },

    /**
     * Removes it with everything in it, in several transactions when it is long: after a crash in between, asking again
     * finishes the work. false when the user has no such conversation.
     */
    async remove(userId: UserId, id: ConversationId): Promise<boolean> {
      const [found] = await read
        .select({ id: conversations.id })
        .from(conversations)
        .where(owned(userId, id))
      if (found === undefined) return false
      for (;;) {
        const some = await read
          .select({ row: messages.row })
          .from(messages)
          .where(eq(messages.conversationId, id))
          .limit(deletedAtOnce)
        const rows = some.map(({ row }) => row)
        await database.write(async (tx) => {
          if (rows.length === deletedAtOnce)
            await tx.delete(messages).where(inArray(messages.row, rows))
          else await tx.delete(conversations).where(eq(conversations.id, id))
        })
        if (rows.length < deletedAtOnce) return true
      }
    },
  }
}
