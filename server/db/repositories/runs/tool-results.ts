// Tool results too long for the model: stored in full and read further by handle.
import { and, eq } from 'drizzle-orm'
import { newId } from '../../../lib/ids.ts'
import type { ConversationId, RunId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'

/** Uses the table `toolResults`. */
export function createToolResultRepository(database: Database) {
  const { read, tables } = database
  const { toolResults } = tables

  return {
    /** Stores a result and returns its handle. It lives as long as its conversation. */
    create: (result: { conversationId: ConversationId; runId: RunId; content: string }) =>
      database.write(async (tx): Promise<string> => {
        const handle = newId<string>()
        await tx.insert(toolResults).values({ ...result, handle, createdAt: new Date() })
        return handle
      }),

    /** Undefined for an unknown handle or one of another conversation. */
    async find(conversationId: ConversationId, handle: string): Promise<string | undefined> {
      const [row] = await read
        .select({ content: toolResults.content })
        .from(toolResults)
        .where(and(eq(toolResults.handle, handle), eq(toolResults.conversationId, conversationId)))
      return row?.content
    },
  }
}
