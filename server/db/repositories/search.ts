// Finds titles, messages, tool calls, attachments and documents of a user by the words that they contain.
import { and, asc, desc, eq, exists, gte, inArray, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { ConversationId, FileId, MessageId, ProjectId, UserId } from '../../protocol/ids.ts'
import { stepId } from '../../protocol/step.ts'
import type { Database } from '../database.ts'
import {
  filePartNumberOf,
  filePositionOf,
  kindOf,
  matchPassageWords,
  matchWords,
  messageRowOf,
  partNumberOf,
  partOf,
  positionOf,
  SEARCH_KINDS,
  type SearchKind,
  textBefore,
  toSearchEntry,
  type WordCondition,
  withoutEscapes,
} from '../search-entries.ts'
import { attachmentText } from './attachments.ts'
import { isAttached } from './message-tree.ts'
import { createFileParts } from './search-file-parts.ts'
import { createSearchIndex } from './search-index.ts'

export type SearchFilter = WordCondition & {
  conversationId?: ConversationId | undefined
  /** In any of these. */
  projectIds?: readonly ProjectId[] | undefined
  /** Conversations with one of the tags of each group. */
  tags: readonly (readonly string[])[]
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
  conversationId: ConversationId | null
  /** Of the conversation; the name of a document. */
  title: string
  projectId: ProjectId | null
  createdAt: Date
  /** Absent for titles and documents. */
  message?: {
    id: MessageId
    role: 'user' | 'assistant'
    kind: SearchKind
    stepId: string | undefined
    /** The attached file; absent for other kinds, and until an older attachment has moved to a file. */
    fileId: FileId | undefined
    /** The file has pages, which lines in its text mark. */
    hasPages: boolean
  }
  /** A passage of a document. */
  document?: { id: string; position: number; page: number | null }
}

export function createSearchRepository(database: Database) {
  const { dialect, readOffThread, tables } = database
  const { searchTitles, searchWords, conversations, messages, steps, attachments, files } = tables
  const { documents, passages, projects } = tables
  const index = createSearchIndex(database)
  const rowid = sql`${searchWords.rowid}`
  const isKind = (...kinds: SearchKind[]): SQL =>
    sql`${kindOf(rowid)} in ${kinds.map((kind) => SEARCH_KINDS.indexOf(kind))}`
  const tagsOf =
    dialect === 'sqlite'
      ? sql`json_each(${conversations.tags})`
      : sql`json_array_elements_text(${conversations.tags})`

  const inConversations = (userId: UserId, filter: SearchFilter): SQL | undefined =>
    and(
      matchWords(dialect, userId, filter),
      eq(conversations.userId, userId),
      isNull(conversations.deletedAt),
      eq(conversations.temporary, false),
      filter.conversationId && eq(conversations.id, filter.conversationId),
      filter.projectIds && inArray(conversations.projectId, [...filter.projectIds]),
      ...filter.tags.map(
        (group) => sql`exists (select 1 from ${tagsOf} as tag where tag.value in ${group})`,
      ),
    )

  /** The name of an attachment and its text, as they are indexed. */
  const fileText = sql`(${attachments.name} || ${'\n'} || ${attachmentText(tables)})`
  /** The text of an entry, as it was indexed. */
  const entryText = partOf(
    sql`(case when ${isKind('text')} then ${messages.text}
      when ${isKind('file')} then ${fileText}
      when ${isKind('tool')} then coalesce(${steps.name}, '') || ' ' || ${steps.content}
      else ${steps.content} end)`,
    sql`(case when ${isKind('file')} then ${filePartNumberOf(rowid)} else ${partNumberOf(rowid)} end)`,
  )

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
      const rows = await readOffThread
        .select({
          rowid: searchWords.rowid,
          messageId: messages.id,
          role: messages.role,
          createdAt: messages.createdAt,
          conversationId: conversations.id,
          title: conversations.title,
          projectId: conversations.projectId,
          fileId: attachments.fileId,
          pages: files.pages,
          text: entryText,
        })
        .from(searchWords)
        .innerJoin(messages, sql`${messages.row} = ${messageRowOf(rowid)}`)
        .innerJoin(conversations, eq(conversations.id, messages.conversationId))
        .leftJoin(
          steps,
          and(
            isKind('step', 'tool'),
            eq(steps.messageId, messages.id),
            sql`${steps.position} = ${positionOf(rowid)}`,
          ),
        )
        .leftJoin(
          attachments,
          and(
            isKind('file'),
            eq(attachments.messageId, messages.id),
            sql`${attachments.position} = ${filePositionOf(rowid)}`,
          ),
        )
        .leftJoin(files, eq(files.id, attachments.fileId))
        .where(
          and(
            inConversations(userId, filter),
            before === null ? undefined : lt(searchWords.rowid, before),
            sql`${searchWords.rowid} > 0`,
            isNull(messages.deletedAt),
            isAttached(messages),
            filter.kinds.length === SEARCH_KINDS.length ? undefined : isKind(...filter.kinds),
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
      return rows.map(({ messageId, role, fileId, pages, ...found }) => {
        const { kind, position } = toSearchEntry(found.rowid)
        const isStep = kind === 'step' || kind === 'tool'
        return {
          ...found,
          text: kind === 'tool' ? withoutEscapes(found.text) : found.text,
          message: {
            id: messageId,
            role,
            kind,
            stepId: isStep ? stepId(position) : undefined,
            fileId: fileId ?? undefined,
            hasPages: pages !== null,
          },
        }
      })
    },

    /** Passages of the user's documents that meet the filter, newest first, before the passage `before`. */
    async passages(
      userId: UserId,
      filter: Omit<SearchFilter, 'conversationId' | 'tags'>,
      { before, limit }: { before: number | null; limit: number },
    ): Promise<FoundText[]> {
      const match = matchPassageWords(dialect, filter)
      if (match === null) return []
      const isSqlite = dialect === 'sqlite'
      // On SQLite the order is that of the index, which ends reading at the limit.
      const id = isSqlite ? sql`passages_index.rowid` : sql`${passages.id}`
      const source = isSqlite ? sql`passages_index` : sql`(select 1) as one`
      const rows = await readOffThread
        .select({
          rowid: passages.id,
          documentId: documents.id,
          title: documents.name,
          projectId: documents.projectId,
          createdAt: documents.createdAt,
          position: passages.position,
          page: passages.page,
          heading: passages.heading,
          text: passages.text,
        })
        .from(source)
        .innerJoin(passages, isSqlite ? sql`${passages.id} = passages_index.rowid` : sql`true`)
        .innerJoin(documents, eq(documents.id, passages.documentId))
        .innerJoin(projects, eq(projects.id, documents.projectId))
        .where(
          and(
            match,
            eq(projects.userId, userId),
            eq(documents.status, 'ready'),
            before === null ? undefined : sql`${id} < ${before}`,
            filter.projectIds && inArray(documents.projectId, [...filter.projectIds]),
            filter.from && gte(documents.createdAt, filter.from),
            filter.to && lt(documents.createdAt, filter.to),
          ),
        )
        .orderBy(desc(id))
        .limit(limit)
      return rows.map(({ documentId, position, page, heading, text, ...found }) => ({
        ...found,
        conversationId: null,
        // The name of the document is indexed with its first passage.
        text: [position === 0 ? found.title : null, heading, text]
          .filter((piece) => piece !== null)
          .join('\n'),
        document: { id: documentId, position, page },
      }))
    },

    /** The text of an attachment before an entry's part of it. */
    async textBefore(messageId: MessageId, entry: number): Promise<string> {
      const { position, part } = toSearchEntry(entry)
      const [row] = await readOffThread
        .select({ text: textBefore(attachmentText(tables), part) })
        .from(attachments)
        .leftJoin(files, eq(files.id, attachments.fileId))
        .where(and(eq(attachments.messageId, messageId), eq(attachments.position, position)))
      return row?.text ?? ''
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

    indexNextPart: createFileParts(database, index, fileText),

    index,
  }
}
