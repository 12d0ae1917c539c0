// Tables of the search index over titles, messages, tool calls and attachments.
import type { ConversationId, UserId } from '../../protocol/ids.ts'
import type { Columns } from '../columns/postgres.ts'
import type { defineAccountTables } from './accounts/accounts.ts'
import type { defineConversationTables } from './conversations/conversations.ts'

/** Defines `searchTitles` and `searchWords`. */
export function defineSearchTables(
  c: Columns,
  {
    conversations,
    users,
  }: Pick<ReturnType<typeof defineConversationTables>, 'conversations'> &
    Pick<ReturnType<typeof defineAccountTables>, 'users'>,
) {
  /** Assigns numbers to the titles in the index; a conversation without a row is not indexed yet. */
  const searchTitles = c.table('search_titles', {
    id: c.counter('id'),
    conversationId: c
      .key<ConversationId>('conversation_id')
      .notNull()
      .unique('search_titles_conversation')
      .references(() => conversations.id, { onDelete: 'cascade' }),
  })

  /**
   * The words of each indexed text: on SQLite a contentless full-text table, on PostgreSQL a table with a `tsvector`. Both
   * are written by hand in the migration, as are triggers that delete the rows of a deleted message or title.
   */
  const searchWords = c.table('search_words', {
    /** Identifies the text: see `search-entries.ts`. */
    rowid: c.bigInteger('rowid').primaryKey(),
    words: c.text('words').notNull(),
  })

  /**
   * Parts of the index of one user, packed from rows of `search_words`. These four tables are empty on SQLite, whose full-text
   * index is packed as it is.
   */
  const searchSegments = c.table(
    'search_segments',
    {
      id: c.counter('id'),
      userId: c
        .key<UserId>('user_id')
        .notNull()
        .references(() => users.id, { onDelete: 'cascade' }),
      entries: c.integer('entries').notNull(),
      /** `messages.row` of the first and the last message in it. */
      firstRow: c.bigInteger('first_row').notNull(),
      lastRow: c.bigInteger('last_row').notNull(),
    },
    (table) => [c.index('search_segments_user').on(table.userId, table.lastRow)],
  )

  /** The lists of a segment: see `packed-words/lists.ts`. */
  const searchPages = c.table(
    'search_pages',
    {
      segmentId: c
        .bigInteger('segment_id')
        .notNull()
        .references(() => searchSegments.id, { onDelete: 'cascade' }),
      first: c.bigInteger('first').notNull(),
      data: c.bytes('data').notNull(),
    },
    (table) => [c.primaryKey({ columns: [table.segmentId, table.first] })],
  )

  /** The words of a segment in order: see `packed-words/vocabulary.ts`. Segments of earlier versions get theirs later. */
  const searchVocabulary = c.table(
    'search_vocabulary',
    {
      segmentId: c
        .bigInteger('segment_id')
        .notNull()
        .references(() => searchSegments.id, { onDelete: 'cascade' }),
      first: c.bytes('first').notNull(),
      data: c.bytes('data').notNull(),
    },
    (table) => [c.primaryKey({ columns: [table.segmentId, table.first] })],
  )

  /** Deleted messages (`messages.row`) that segments still list. A trigger adds them. */
  const searchRemoved = c.table('search_removed', { row: c.bigInteger('row').primaryKey() })

  return {
    searchTitles,
    searchWords,
    searchSegments,
    searchPages,
    searchVocabulary,
    searchRemoved,
  }
}
