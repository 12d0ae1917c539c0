// Tables that keep a conversation within the context window: long tool results, and summaries of earlier turns.
import type { ConversationId, MessageId, RunId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineConversationTables } from './conversations.ts'

type Conversations = Pick<ReturnType<typeof defineConversationTables>, 'conversations'>

/** Only what models receive is shortened; the steps that people see stay complete. */
export function defineContextWindowTables(c: Columns, { conversations }: Conversations) {
  const inConversation = () =>
    c
      .key<ConversationId>('conversation_id')
      .notNull()
      .references(() => conversations.id, { onDelete: 'cascade' })

  /** Tool results that are too long for the model, which reads the rest by handle. */
  const toolResults = c.table(
    'tool_results',
    {
      handle: c.text('handle').primaryKey(),
      conversationId: inConversation(),
      runId: c.key<RunId>('run_id').notNull(),
      content: c.text('content').notNull(),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [c.index('tool_results_conversation').on(t.conversationId)],
  )

  /** Replaces the turns up to a message where a history exceeded the model's context window. */
  const summaries = c.table(
    'summaries',
    {
      conversationId: inConversation(),
      untilMessageId: c.key<MessageId>('until_message_id').notNull(),
      text: c.text('text').notNull(),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.conversationId, t.untilMessageId] })],
  )

  return { toolResults, summaries }
}
