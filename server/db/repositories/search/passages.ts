// Finds passages of documents by the words that they contain.
import { and, desc, eq, gte, inArray, lt, sql } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { matchPassageWords, passageWordsToMatch } from '../../search-entries.ts'
import {
  BEFORE,
  type FoundText,
  LIMIT,
  plainOnce,
  type SearchFilter,
  type Stretch,
  USER,
  WORDS,
} from './statements.ts'

type PassageFilter = Omit<SearchFilter, 'conversationId' | 'tags' | 'characters'>

/** Passages of the user's documents that meet the filter, newest first. */
export function createPassageSearch({
  dialect,
  readOffThread,
  tables: { documents, passages, projects },
}: Database): (userId: UserId, filter: PassageFilter, stretch: Stretch) => Promise<FoundText[]> {
  const isSqlite = dialect === 'sqlite'
  // On SQLite the order is that of the index, so that reading stops at the limit.
  const id = isSqlite ? sql`passages_index.rowid` : sql`${passages.id}`
  const source = isSqlite ? sql`passages_index` : sql`(select 1) as one`
  const build = ({ projectIds, from, to }: PassageFilter) =>
    readOffThread
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
          matchPassageWords(dialect, WORDS),
          eq(projects.userId, USER),
          eq(documents.status, 'ready'),
          sql`${id} < ${BEFORE}`,
          projectIds && inArray(documents.projectId, [...projectIds]),
          from && gte(documents.createdAt, from),
          to && lt(documents.createdAt, to),
        ),
      )
      .orderBy(desc(id))
      .limit(LIMIT)
      .prepare('')
  const statementOf = plainOnce(build)
  return async (userId, filter, { before, limit }) => {
    // Without words, every passage would match.
    if (filter.needed === 0) return []
    const rows = await statementOf(filter).execute({
      words: passageWordsToMatch(dialect, filter),
      userId,
      before: before ?? Number.MAX_SAFE_INTEGER,
      limit,
    })
    return rows.map(({ documentId, position, page, heading, text, ...found }) => ({
      ...found,
      conversationId: null,
      // The name of the document is indexed with its first passage.
      text: [position === 0 ? found.title : null, heading, text]
        .filter((piece) => piece !== null)
        .join('\n'),
      document: { id: documentId, position, page },
    }))
  }
}
