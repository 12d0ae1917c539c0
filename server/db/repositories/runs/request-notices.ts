// Which entries of a user's list `ask` were used for a request: each once, also with several instances and after restarts.
import { and, eq } from 'drizzle-orm'
import type { RunId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'

/** Uses the tables `requestNotices`, `approvals` and `runInputs`. */
export function createRequestNoticeRepository(database: Database) {
  const { requestNotices, approvals, runInputs } = database.tables
  return {
    /** Takes an entry for a request that still waits. False if it was used, or if the request is decided. */
    claim: (
      request: { id: string; type: 'approval' | 'input'; runId: RunId },
      entry: string,
      at: Date,
    ): Promise<boolean> =>
      database.write(async (tx) => {
        const table = request.type === 'approval' ? approvals : runInputs
        const waiting = await tx
          .select({ id: table.id })
          .from(table)
          .where(and(eq(table.id, request.id), eq(table.status, 'pending')))
        if (waiting.length === 0) return false
        const claimed = await tx
          .insert(requestNotices)
          .values({ requestId: request.id, through: entry, runId: request.runId, at })
          .onConflictDoNothing()
          .returning({ id: requestNotices.requestId })
        return claimed.length > 0
      }),
  }
}
