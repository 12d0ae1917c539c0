// Conversations as lists and details show them, with one query per page.
import { and, desc, eq, getTableColumns, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { appError } from '../../../errors.ts'
import type { Page } from '../../../protocol/envelope.ts'
import type { ConversationId, ProjectId, RunId, UserId } from '../../../protocol/ids.ts'
import type { RunStatus } from '../../../protocol/runs/run.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database } from '../../database.ts'
import {
  afterMoment,
  byteLength,
  containsFolded,
  countAll,
  foldedPattern,
  prepareOnce,
} from '../../fragments.ts'

type ConversationRow = Database['tables']['conversations']['$inferSelect']

/** A conversation as lists and details show it. */
export type ConversationItem = ConversationRow & {
  projectName: string | null
  /** The run that has not ended, if any; of two answers beside each other, one. The status is that of one that waits, if any. */
  activeRunId: RunId | null
  activeRunStatus: RunStatus | null
  /** The run beside another that has not ended, if any; it is the active one once the other has ended. */
  besideRunId: RunId | null
}

/** Which conversations to list. Absent fields do not filter. */
export type ConversationFilter = {
  limit: number
  cursor?: string | undefined
  projectId?: ProjectId | undefined
  archived?: boolean | undefined
  pinned?: boolean | undefined
  /** Lists the trash instead, last deleted first. */
  trashed?: boolean | undefined
  /** Part of the title, ignoring case. */
  q?: string | undefined
  tag?: string | undefined
}

/** The first query of a list reads system prompts up to this size; a second one reads longer ones that fit on the page. */
const SHORT_PROMPT_BYTES = 4_000
/** Total size of long system prompts on one page; beyond it the page ends early. One always fits. */
const PAGE_PROMPT_BYTES = 1024 * 1024

/** An item whose system prompt, if it is long, has not been read yet. */
type ListedRow = ConversationItem & { promptBytes: number | null }

const isLong = ({ promptBytes }: ListedRow): boolean => (promptBytes ?? 0) > SHORT_PROMPT_BYTES

/** The number of rows, at most `limit`, that fit on a page. */
function pageLength(rows: readonly ListedRow[], limit: number): number {
  let bytes = 0
  const full = rows.findIndex((row, index) => {
    bytes += isLong(row) ? (row.promptBytes ?? 0) : 0
    return index > 0 && bytes > PAGE_PROMPT_BYTES
  })
  return full === -1 ? limit : Math.min(full, limit)
}

/** Uses the tables `conversations`, `projects` and `runs`. */
export function createConversationItems(database: Database) {
  const parts = itemStatements(database)
  return {
    ...listItems(database, parts),
    ...singleItems(database, parts),
  }
}

/** The statements that select a conversation with all that lists show of it. */
function itemStatements(database: Database) {
  const { read, tables } = database
  const { conversations, projects, runs } = tables

  /** The run `other` of the conversation that has not ended: the first answer, or the one beside it. */
  const activeOther = (beside: boolean) =>
    sql`from ${runs} as other where other.conversation_id = ${conversations.id} and other.kind = 'chat'
      and other.ended_at is null and other.beside = ${sql.param(beside, runs.beside)}`

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
        // Of two, the one that waits for a person says what the conversation waits for.
        activeRunStatus: sql<RunStatus | null>`coalesce((select other.status ${activeOther(true)}
          and other.status in ('awaiting_approval', 'awaiting_input')
          and ${runs.status} not in ('awaiting_approval', 'awaiting_input')), ${runs.status})`,
        besideRunId: sql<RunId | null>`(select other.id ${activeOther(true)})`,
      })
      .from(conversations)
      .leftJoin(projects, eq(projects.id, conversations.projectId))
      // Exactly the condition of the partial unique index, so that the database uses it and finds at most two rows.
      .leftJoin(
        runs,
        sql`${runs.conversationId} = ${conversations.id} and ${runs.kind} = 'chat' and ${runs.endedAt} is null
          and (${runs.beside} = ${sql.param(false, runs.beside)} or not exists (select 1 ${activeOther(false)}))`,
      )

  /** Adds the long system prompts of a page, in one query if there are any. */
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

  return { selectItems, withLongPrompts }
}

type ItemStatements = ReturnType<typeof itemStatements>

/** Lists, and the tags in them. */
function listItems(database: Database, { selectItems, withLongPrompts }: ItemStatements) {
  const { read, tables } = database
  const { conversations } = tables

  /** The tags of a conversation as rows with a column `value`. */
  const tagRows =
    database.dialect === 'sqlite'
      ? sql`json_each(${conversations.tags}) as tag`
      : sql`json_array_elements_text(${conversations.tags}) as tag`

  /** Each of the few shapes of the list is prepared once: building the statement costs as much as running it. */
  const listStatement = prepareOnce(
    'conversations',
    (
      shape: {
        inProject: boolean
        titled: boolean
        continued: boolean
        byPin: boolean
        trashed: boolean
        tagged: boolean
      },
      name,
    ) => {
      const { id } = conversations
      const moment = shape.trashed ? conversations.deletedAt : conversations.updatedAt
      return selectItems()
        .where(
          and(
            eq(conversations.userId, sql.placeholder('userId')),
            // A parameter typed by the column, because each database represents booleans differently.
            shape.trashed
              ? isNotNull(conversations.deletedAt)
              : and(
                  isNull(conversations.deletedAt),
                  eq(
                    conversations.archived,
                    sql.param(sql.placeholder('archived'), conversations.archived),
                  ),
                ),
            eq(conversations.temporary, false),
            shape.byPin
              ? eq(conversations.pinned, sql.param(sql.placeholder('pinned'), conversations.pinned))
              : undefined,
            shape.inProject ? eq(conversations.projectId, sql.placeholder('projectId')) : undefined,
            shape.titled
              ? containsFolded(conversations.titleKey, sql.placeholder('pattern'))
              : undefined,
            shape.tagged
              ? sql`${sql.placeholder('tag')} in (select tag.value from ${tagRows})`
              : undefined,
            shape.continued
              ? afterMoment(moment, id, sql.placeholder('moment'), sql.placeholder('lastId'))
              : undefined,
          ),
        )
        .orderBy(desc(moment), desc(id))
        .limit(sql.placeholder('limit'))
        .prepare(name)
    },
  )

  return {
    /** The tags of a user's conversations outside the trash, most used first. */
    tags: (userId: UserId): Promise<{ tag: string; count: number }[]> =>
      read
        .select({ tag: sql<string>`tag.value`, count: countAll })
        .from(conversations)
        .crossJoin(tagRows)
        .where(
          and(
            eq(conversations.userId, userId),
            isNull(conversations.deletedAt),
            eq(conversations.temporary, false),
          ),
        )
        .groupBy(sql`tag.value`)
        .orderBy(desc(countAll), sql`tag.value`),

    /** Newest activity first. */
    async list(userId: UserId, filter: ConversationFilter): Promise<Page<ConversationItem>> {
      const after =
        filter.cursor === undefined ? undefined : decodeCursor(MomentCursor, filter.cursor)
      const q = filter.q === '' ? undefined : filter.q
      const rows = await listStatement({
        inProject: filter.projectId !== undefined,
        titled: q !== undefined,
        continued: after !== undefined,
        byPin: filter.pinned !== undefined,
        trashed: filter.trashed === true,
        tagged: filter.tag !== undefined,
      }).execute({
        userId,
        archived: filter.archived ?? false,
        pinned: filter.pinned,
        projectId: filter.projectId,
        tag: filter.tag,
        pattern: q === undefined ? undefined : foldedPattern(q),
        moment: after && new Date(after[0]),
        lastId: after?.[1],
        limit: filter.limit + 1,
      })
      const page = toPage(rows, pageLength(rows, filter.limit), (item) => [
        (filter.trashed === true && item.deletedAt !== null
          ? item.deletedAt
          : item.updatedAt
        ).getTime(),
        item.id,
      ])
      return { ...page, items: await withLongPrompts(page.items) }
    },
  }
}

/** Single conversations. */
function singleItems(database: Database, { selectItems, withLongPrompts }: ItemStatements) {
  const { tables } = database
  const { conversations } = tables

  const itemStatement = selectItems()
    .where(
      and(
        eq(conversations.id, sql.placeholder('id')),
        eq(conversations.userId, sql.placeholder('userId')),
        isNull(conversations.deletedAt),
      ),
    )
    .prepare('conversation item')

  async function get(userId: UserId, id: ConversationId): Promise<ConversationItem> {
    const [item] = await itemStatement.execute({ userId, id })
    const [complete] = await withLongPrompts(item === undefined ? [] : [item])
    if (complete === undefined) throw appError('conversation_not_found')
    return complete
  }

  return {
    /** @throws AppError `not_found`. */
    get,
  }
}
