// Conversations of a user: finding, listing, changing and removing them.
import { and, desc, eq, getTableColumns, inArray, sql } from 'drizzle-orm'
import { AppError } from '../../errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Page } from '../../protocol/envelope.ts'
import type { ConversationId, MessageId, ProjectId, RunId, UserId } from '../../protocol/ids.ts'
import type { RunStatus } from '../../protocol/run.ts'
import { decodeCursor, MomentPlace, toPage } from '../cursor.ts'
import type { Database, Reader, Writer } from '../database.ts'
import { afterMoment, containsFolded, foldCase, foldedPattern, prepareOnce } from '../fragments.ts'
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
  /** Part of the title, in whatever case. */
  q?: string | undefined
}

export type ConversationRepository = ReturnType<typeof createConversationRepository>

/** What a conversation is called until it has a title. */
const placeholderTitle = 'New conversation'

/** Messages deleted in one transaction, so that none holds up others for long. */
const deletedAtOnce = 200

const missing = () => new AppError('not_found', 'There is no such conversation.')

/** A conversation of somebody else is none at all: whatever begins with a person's wish asks for its owner. */
export function createConversationRepository(database: Database) {
  const { read, tables } = database
  const { conversations, messages, projects, runs } = tables
  const owned = (userId: UserId, id: ConversationId) =>
    and(eq(conversations.id, id), eq(conversations.userId, userId))

  const selectItems = () =>
    read
      .select({
        ...getTableColumns(conversations),
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

  /** One of the eight shapes of the list, put together once: that costs as much as running it. */
  const listStatement = prepareOnce(
    'conversations',
    (shape: { inProject: boolean; titled: boolean; continued: boolean }, name) => {
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
    if (item === undefined) throw missing()
    return item
  }

  async function requireProject(tx: Reader, userId: UserId, id: ProjectId): Promise<void> {
    const [project] = await tx
      .select({ id: projects.id })
      .from(projects)
      .where(and(eq(projects.id, id), eq(projects.userId, userId)))
    if (project === undefined) throw new AppError('not_found', 'There is no such project.')
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
          title: title ?? placeholderTitle,
          titleKey: foldCase(title ?? placeholderTitle),
          approvalGrants: [],
          tainted: false,
          pinned: false,
          archived: false,
          leafId: null,
          messageCount: 0,
          titled: title !== undefined,
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
      }).execute({
        userId,
        archived: filter.archived ?? false,
        projectId: filter.projectId,
        pattern: q === undefined ? undefined : foldedPattern(q),
        moment: place && new Date(place[0]),
        lastId: place?.[1],
        limit: filter.limit + 1,
      })
      return toPage(rows, filter.limit, (item) => [item.updatedAt.getTime(), item.id])
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
        const [row] = await tx.select().from(conversations).where(owned(userId, id))
        if (row === undefined) throw missing()
        if (changes.projectId != null) await requireProject(tx, userId, changes.projectId)
        const leaf = leafId === undefined ? undefined : await leafUnder(tx, messages, id, leafId)
        if (leaf === null) throw new AppError('not_found', 'There is no such message.')
        const set = {
          ...changes,
          ...(title === undefined ? {} : { title, titleKey: foldCase(title), titled: true }),
          ...(leaf === undefined ? {} : { leafId: leaf }),
        }
        if (Object.keys(set).length > 0)
          await tx.update(conversations).set(set).where(eq(conversations.id, id))
      })
      return get(userId, id)
    },

    /** Inside the caller's transaction: what runs change about their conversation. */
    async update(
      tx: Writer,
      id: ConversationId,
      changes: Partial<
        Pick<ConversationRow, 'approvalGrants' | 'tainted' | 'leafId' | 'updatedAt'>
      >,
    ): Promise<void> {
      await tx.update(conversations).set(changes).where(eq(conversations.id, id))
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
