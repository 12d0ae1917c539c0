// Finds titles, messages, tool calls and attachments of a user by the words that they contain.
import { and, asc, desc, eq, exists, gte, inArray, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { ConversationId, MessageId, ProjectId, UserId } from '../../protocol/ids.ts'
import { stepId } from '../../protocol/step.ts'
import type { Database } from '../database.ts'
import {
  kindOf,
  matchWords,
  messageRowOf,
  partOf,
  SEARCH_KINDS,
  type SearchKind,
  toSearchEntry,
  type WordCondition,
  withoutEscapes,
} from '../search-entries.ts'
import { attachmentText } from './attachments.ts'
import { isAttached } from './message-tree.ts'
import { createSearchIndex } from './search-index.ts'

export type SearchFilter = WordCondition & {
  conversationId?: ConversationId | undefined
  /** Conversations in any of these. */
  projectIds?: readonly ProjectId[] | undefined
  from?: Date | undefined
  to?: Date | undefined
}
export type MessageFilter = SearchFilter & {
  kinds: readonly SearchKind[]
  isMine: boolean
  hasFile: boolean
}

export type FoundText = {
  rowid: number
  /** The text that contains the words, as it was indexed. */
  text: string
  conversationId: ConversationId
  title: string
  projectId: ProjectId | null
  createdAt: Date
  /** Absent for a title. */
  message?: {
    id: MessageId
    role: 'user' | 'assistant'
    kind: SearchKind
    stepId: string | undefined
  }
}

export function createSearchRepository(database: Database) {
  const { dialect, readOffThread, tables } = database
  const { searchTitles, searchWords, conversations, messages, steps, attachments, files } = tables

  const inConversations = (userId: UserId, filter: SearchFilter): SQL | undefined =>
    and(
      matchWords(dialect, userId, filter),
      eq(conversations.userId, userId),
      isNull(conversations.deletedAt),
      eq(conversations.temporary, false),
      filter.conversationId && eq(conversations.id, filter.conversationId),
      filter.projectIds && inArray(conversations.projectId, [...filter.projectIds]),
    )

  /** The indexed texts of some entries of messages, by row id. */
  async function textsOf(
    found: readonly { rowid: number; messageId: MessageId }[],
  ): Promise<Map<number, string>> {
    const texts = new Map<number, string>()
    await Promise.all(
      found.map(async ({ rowid, messageId }) => {
        const { kind, position, part } = toSearchEntry(rowid)
        const text = await readPart(kind, messageId, position, part)
        texts.set(rowid, text)
      }),
    )
    return texts
  }

  /** The text of one entry; empty when its message, step or attachment no longer exists. */
  async function readPart(
    kind: SearchKind,
    messageId: MessageId,
    position: number,
    part: number,
  ): Promise<string> {
    if (kind === 'text') {
      const [row] = await database.read
        .select({ text: partOf(sql`${messages.text}`, part) })
        .from(messages)
        .where(eq(messages.id, messageId))
      return row?.text ?? ''
    }
    if (kind === 'file') {
      const [row] = await database.read
        .select({
          text: partOf(
            sql`(${attachments.name} || ${'\n'} || ${attachmentText(database.tables)})`,
            part,
          ),
        })
        .from(attachments)
        .leftJoin(files, eq(files.id, attachments.fileId))
        .where(and(eq(attachments.messageId, messageId), eq(attachments.position, position)))
      return row?.text ?? ''
    }
    const content =
      kind === 'tool'
        ? sql`(coalesce(${steps.name}, '') || ' ' || ${steps.content})`
        : sql`${steps.content}`
    const [row] = await database.read
      .select({ text: partOf(content, part) })
      .from(steps)
      .where(and(eq(steps.messageId, messageId), eq(steps.position, position)))
    return kind === 'tool' ? withoutEscapes(row?.text ?? '') : (row?.text ?? '')
  }

  return {
    /** Titles of the user's conversations that meet the filter, newest first, after the row id `after`. */
    async titles(
      userId: UserId,
      filter: SearchFilter,
      { after, limit }: { after: number | null; limit: number },
    ): Promise<FoundText[]> {
      const rows = await readOffThread
        .select({
          rowid: searchWords.rowid,
          conversationId: conversations.id,
          title: conversations.title,
          projectId: conversations.projectId,
          createdAt: conversations.createdAt,
        })
        .from(searchWords)
        .crossJoin(searchTitles)
        .crossJoin(conversations)
        .where(
          and(
            inConversations(userId, filter),
            after === null ? undefined : sql`${searchWords.rowid} > ${after}`,
            sql`${searchWords.rowid} < 0`,
            sql`${searchTitles.id} = -${searchWords.rowid}`,
            eq(conversations.id, searchTitles.conversationId),
            filter.from && gte(conversations.createdAt, filter.from),
            filter.to && lt(conversations.createdAt, filter.to),
          ),
        )
        .orderBy(asc(searchWords.rowid))
        .limit(limit)
      return rows.map((row) => ({ ...row, text: row.title }))
    },

    /** Texts of messages that meet the filter, newest first, before the row id `before`. */
    async messages(
      userId: UserId,
      filter: MessageFilter,
      { before, limit }: { before: number | null; limit: number },
    ): Promise<FoundText[]> {
      const row = messageRowOf(sql`${searchWords.rowid}`)
      const kinds = filter.kinds.map((kind) => SEARCH_KINDS.indexOf(kind))
      const rows = await readOffThread
        .select({
          rowid: searchWords.rowid,
          messageId: messages.id,
          role: messages.role,
          createdAt: messages.createdAt,
          conversationId: conversations.id,
          title: conversations.title,
          projectId: conversations.projectId,
        })
        .from(searchWords)
        .crossJoin(messages)
        .crossJoin(conversations)
        .where(
          and(
            inConversations(userId, filter),
            before === null ? undefined : lt(searchWords.rowid, before),
            sql`${searchWords.rowid} > 0`,
            sql`${messages.row} = ${row}`,
            eq(conversations.id, messages.conversationId),
            isNull(messages.deletedAt),
            isAttached(messages),
            kinds.length === SEARCH_KINDS.length
              ? undefined
              : sql`${kindOf(sql`${searchWords.rowid}`)} in ${kinds}`,
            filter.isMine ? eq(messages.role, 'user') : undefined,
            filter.from && gte(messages.createdAt, filter.from),
            filter.to && lt(messages.createdAt, filter.to),
            filter.hasFile
              ? exists(
                  readOffThread
                    .select({ one: sql`1` })
                    .from(attachments)
                    .where(sql`${attachments.messageId} = ${messages.id}`),
                )
              : undefined,
          ),
        )
        .orderBy(desc(searchWords.rowid))
        .limit(limit)
      const texts = await textsOf(rows)
      return rows.map(({ messageId, role, ...found }) => {
        const { kind, position } = toSearchEntry(found.rowid)
        const isStep = kind === 'step' || kind === 'tool'
        return {
          ...found,
          text: texts.get(found.rowid) ?? '',
          message: { id: messageId, role, kind, stepId: isStep ? stepId(position) : undefined },
        }
      })
    },

    /** The row of the newest message, from which `index.putStored` begins; 0 without messages. */
    async newestRow(): Promise<number> {
      const [newest] = await database.read
        .select({ row: messages.row })
        .from(messages)
        .orderBy(desc(messages.row))
        .limit(1)
      return newest?.row ?? 0
    },

    index: createSearchIndex(database),
  }
}
