// The plans of answers.
import { eq } from 'drizzle-orm'
import type { MessageId } from '../../../protocol/ids.ts'
import type { Plan } from '../../../protocol/runs/plan.ts'
import type { Database, Reader, Writer } from '../../database.ts'

/** Uses the table `messages`. */
export function createPlanRepository(database: Database) {
  const { messages } = database.tables
  const find = async (
    reader: Pick<Reader, 'select'>,
    messageId: MessageId,
  ): Promise<Plan | null> => {
    const [row] = await reader
      .select({ plan: messages.plan })
      .from(messages)
      .where(eq(messages.id, messageId))
    return row?.plan ?? null
  }
  return {
    /** The plan of an answer as the open transaction sees it; null if it has none. */
    find: (tx: Writer, messageId: MessageId) => find(tx, messageId),

    read: (messageId: MessageId) => find(database.read, messageId),

    async set(tx: Writer, messageId: MessageId, plan: Plan): Promise<void> {
      await tx.update(messages).set({ plan }).where(eq(messages.id, messageId))
    },
  }
}
