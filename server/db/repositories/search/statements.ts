// Shared by the statements of the search: their filters, their results, and the condition on a conversation.
import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import type { ConversationId, FileId, MessageId, ProjectId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import {
  type CharacterMatch,
  SEARCH_KINDS,
  type SearchKind,
  type WordCondition,
} from '../../search-entries.ts'

/** Whose texts are searched, and where. */
export type SearchFilter = WordCondition & {
  characters: CharacterMatch
  conversationId?: ConversationId | undefined
  /** The conversation is in any of these. */
  projectIds?: readonly ProjectId[] | undefined
  /** Conversations with one of the tags of each group. */
  tags: readonly (readonly string[])[]
  from?: Date | undefined
  to?: Date | undefined
}
/** Which messages a search finds. */
export type MessageFilter = SearchFilter & {
  kinds: readonly SearchKind[]
  isMine: boolean
  hasFile: boolean
}

/** A text that a search found. */
export type FoundText = {
  rowid: number
  /** The text that contains the words, as it was indexed. */
  text: string
  conversationId: ConversationId | null
  /** The title of the conversation, or the name of the document. */
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
    /** Its name. */
    fileName: string | undefined
    /** Whether the file has pages, which lines in its text mark. */
    hasPages: boolean
  }
  /** A passage of a document. */
  document?: { id: string; position: number; page: number | null }
}

/** Where to continue, and how many texts are wanted; `before` is null at the beginning. */
export type Stretch = { before: number | null; limit: number }

/** The values of every statement, which are the same for the same filter. */
export const WORDS = sql.placeholder('words')
export const USER = sql.placeholder('userId')
export const BEFORE = sql.placeholder('before')
export const LIMIT = sql.placeholder('limit')

/** Whether only words narrow the search: then the statement is always the same. */
export const isPlain = (filter: Partial<MessageFilter>): boolean =>
  (filter.conversationId ?? filter.projectIds ?? filter.from ?? filter.to) === undefined &&
  (filter.tags ?? []).length === 0 &&
  (filter.isMine || filter.hasFile) !== true &&
  (filter.kinds ?? SEARCH_KINDS).length === SEARCH_KINDS.length

/** Builds the statement of searches for words alone once; building one takes longer than many searches. */
export function plainOnce<Filter extends Partial<MessageFilter>, Statement>(
  build: (filter: Filter) => Statement,
): (filter: Filter) => Statement {
  let plain: Statement | undefined
  return (filter) => {
    if (!isPlain(filter)) return build(filter)
    plain ??= build(filter)
    return plain
  }
}

/** The condition that a conversation belongs to the user, can be found, and meets the filter. */
export function isFoundConversation(
  { dialect, tables: { conversations } }: Pick<Database, 'dialect' | 'tables'>,
  filter: SearchFilter,
): SQL | undefined {
  const tagsOf =
    dialect === 'sqlite'
      ? sql`json_each(${conversations.tags})`
      : sql`json_array_elements_text(${conversations.tags})`
  return and(
    eq(conversations.userId, USER),
    isNull(conversations.deletedAt),
    eq(conversations.temporary, false),
    filter.conversationId && eq(conversations.id, filter.conversationId),
    filter.projectIds && inArray(conversations.projectId, [...filter.projectIds]),
    ...filter.tags.map(
      (group) => sql`exists (select 1 from ${tagsOf} as tag where tag.value in ${group})`,
    ),
  )
}
