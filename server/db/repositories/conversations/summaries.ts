// Summaries that replace the turns of a conversation up to a message. Runs read them with the branch (`branch-history.ts`).
import type { Database, Writer } from '../../database.ts'

type SummaryRow = Database['tables']['summaries']['$inferSelect']

/** Uses the table `summaries`. */
export const createSummaryRepository = ({ tables: { summaries } }: Database) => ({
  async insert(tx: Writer, summary: SummaryRow): Promise<void> {
    await tx.insert(summaries).values(summary).onConflictDoNothing()
  },
})
