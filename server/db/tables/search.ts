// Tables of the search index over titles, messages, tool calls and attachments.
import type { ConversationId } from '../../protocol/ids.ts'
import type { Columns } from '../columns/postgres.ts'
import type { defineConversationTables } from './conversations.ts'

export function defineSearchTables(
  c: Columns,
  { conversations }: Pick<ReturnType<typeof defineConversationTables>, 'conversations'>,
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

  return { searchTitles, searchWords }
}
