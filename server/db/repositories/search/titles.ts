// Finds titles of conversations by the words that they contain.
import { and, asc, eq, gte, lt, sql } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { matchWords, wordsToMatch } from '../../search-entries.ts'
import {
  BEFORE,
  type FoundText,
  isFoundConversation,
  LIMIT,
  plainOnce,
  type SearchFilter,
  type Stretch,
  WORDS,
} from './statements.ts'

/** Titles of the user's conversations that meet the filter, newest first. Their row ids count down. */
export function createTitleSearch(
  database: Database,
): (userId: UserId, filter: SearchFilter, stretch: Stretch) => Promise<FoundText[]> {
  const { dialect, readOffThread, tables } = database
  const { searchTitles, searchWords, conversations } = tables
  const build = (filter: SearchFilter) =>
    readOffThread
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
          matchWords(dialect, WORDS),
          sql`${searchWords.rowid} > ${BEFORE}`,
          sql`${searchWords.rowid} < 0`,
          sql`${searchTitles.id} = -${searchWords.rowid}`,
          eq(conversations.id, searchTitles.conversationId),
          isFoundConversation(database, filter),
          filter.from && gte(conversations.createdAt, filter.from),
          filter.to && lt(conversations.createdAt, filter.to),
        ),
      )
      .orderBy(asc(searchWords.rowid))
      .limit(LIMIT)
      .prepare('')
  const statementOf = plainOnce(build)
  return async (userId, filter, { before, limit }) => {
    const rows = await statementOf(filter).execute({
      words: wordsToMatch(dialect, userId, filter),
      userId,
      before: before ?? Number.MIN_SAFE_INTEGER,
      limit,
    })
    return rows.map((row) => ({ ...row, text: row.title }))
  }
}
