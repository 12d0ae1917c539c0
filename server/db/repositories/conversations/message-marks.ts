// Marks of an answer: the answer that it was edited from, and the person's feedback.
import { and, eq, isNull } from 'drizzle-orm'
import type { Feedback } from '../../../protocol/conversations/message.ts'
import type { ConversationId, MessageId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'

/** Uses the table `messages`. */
export function createMessageMarks(database: Database) {
  const { messages } = database.tables
  return {
    /** Stores the given marks; the others stay unchanged. */
    async setMarks(
      tx: Writer,
      id: MessageId,
      marks: { editedFrom?: MessageId | undefined; feedback?: Feedback | undefined },
    ): Promise<void> {
      if (marks.editedFrom !== undefined || marks.feedback !== undefined)
        await tx.update(messages).set(marks).where(eq(messages.id, id))
    },

    /** Stores the person's feedback on an answer; null removes it. Resolves with false when there is no such answer. */
    async setFeedback(
      conversationId: ConversationId,
      id: MessageId,
      feedback: Feedback | null,
    ): Promise<boolean> {
      const rows = await database.write((tx) =>
        tx
          .update(messages)
          .set({ feedback })
          .where(
            and(
              eq(messages.id, id),
              eq(messages.conversationId, conversationId),
              eq(messages.role, 'assistant'),
              isNull(messages.deletedAt),
            ),
          )
          .returning({ id: messages.id }),
      )
      return rows.length > 0
    },
  }
}
