// Events of the sub-agents of running calls; `agent/` defines their meaning.
import { and, asc, eq } from 'drizzle-orm'
import type { RunId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'

/** Stores the events of sub-agents. */
export type SubAgentRepository = ReturnType<typeof createSubAgentRepository>

/** Uses the table `subAgentEvents`. */
export function createSubAgentRepository(database: Database) {
  const { subAgentEvents } = database.tables
  return {
    /** Appends an event. */
    async append(
      tx: Writer,
      event: { runId: RunId; callId: string; position: number; event: unknown },
    ): Promise<void> {
      await tx.insert(subAgentEvents).values(event)
    },

    /** All events of one call, in the order they were stored. */
    async list(runId: RunId, callId: string): Promise<{ position: number; event: unknown }[]> {
      return await database.read
        .select({ position: subAgentEvents.position, event: subAgentEvents.event })
        .from(subAgentEvents)
        .where(and(eq(subAgentEvents.runId, runId), eq(subAgentEvents.callId, callId)))
        .orderBy(asc(subAgentEvents.id))
    },

    /** Removes the events of a run that has ended and cannot continue. */
    async removeOf(tx: Writer, runId: RunId): Promise<void> {
      await tx.delete(subAgentEvents).where(eq(subAgentEvents.runId, runId))
    },
  }
}
