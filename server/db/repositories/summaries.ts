// Summaries that replace the turns of a conversation up to a message.
import { desc, eq, sql } from 'drizzle-orm'
import type { ConversationId } from '../../protocol/ids.ts'
import type { Database, Writer } from '../database.ts'

export type SummaryRow = Database['tables']['summaries']['$inferSelect']

/** Summaries of one conversation, over all its branches, that are read; older ones are ignored. */
const MAX_SUMMARIES = 50

export function createSummaryRepository(database: Database) {
  const { summaries } = database.tables
  const newestStatement = database.read
    .select()
    .from(summaries)
    .where(eq(summaries.conversationId, sql.placeholder('conversationId')))
    .orderBy(desc(summaries.createdAt), desc(summaries.untilMessageId))
    .limit(MAX_SUMMARIES)
    .prepare('newest summaries')
  return {
    /** The conversation's newest summaries, newest first, of any branch. */
    async newest(conversationId: ConversationId): Promise<SummaryRow[]> {
      return await newestStatement.execute({ conversationId })
    },

    async insert(tx: Writer, summary: SummaryRow): Promise<void> {
      await tx.insert(summaries).values(summary).onConflictDoNothing()
    },
  }
}
