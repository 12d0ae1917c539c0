// Tables of the search index over titles, messages, tool calls and attachments.
import type { ConversationId } from '../../protocol/ids.ts'
import type { Columns } from '../columns/postgres.ts'
import type { defineConversationTables } from './conversations.ts'

export function defineSearchTables(
  c: Columns,
  { conversations }: Pick<ReturnType<typeof defineConversationTables>, 'conversations'>,
) {
  /** Numbers the titles in the index; a conversation without a row here is not indexed yet. */
  const searchTitles = c.table('search_titles', {
    id: c.counter('id'),
    conversationId: c
      .key<ConversationId>('conversation_id')
      .notNull()
      .unique('search_titles_conversation')
      .references(() => conversations.id, { onDelete: 'cascade' }),
  })

  /**
   * The words of each indexed text. On SQLite a full-text table without content, on PostgreSQL a table with a `tsvector`;
   * both are written by hand in the migration. Rows go with their message or title, by triggers.
   */
  const searchWords = c.table('search_words', {
    /** Which text: see `search-places.ts`. */
    rowid: c.bigInteger('rowid').primaryKey(),
    words: c.text('words').notNull(),
  })

  return { searchTitles, searchWords }
}
