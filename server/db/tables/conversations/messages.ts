// Tables of messages and of the steps of answers.
import { sql } from 'drizzle-orm'
import type { Citation } from '../../../protocol/conversations/citation.ts'
import type { Feedback, MessageStatus } from '../../../protocol/conversations/message.ts'
import type { ConversationId, MessageId, RunId } from '../../../protocol/ids.ts'
import type { RunOrigin } from '../../../protocol/runs/origin.ts'
import type { Plan } from '../../../protocol/runs/plan.ts'
import type { StoredReceipt } from '../../../protocol/runs/receipt.ts'
import type { Artifact, Step } from '../../../protocol/runs/step.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineConversationTables } from './conversations.ts'

type Conversations = ReturnType<typeof defineConversationTables>

/** The tree of a conversation's messages; an assistant message has its content in `steps`. */
export function defineMessageTables(c: Columns, { conversations }: Conversations) {
  const messages = c.table(
    'messages',
    {
      /** The order in which messages were created, independent of the clock. */
      row: c.counter('row'),
      id: c.key<MessageId>('id').notNull().unique('messages_id'),
      conversationId: c
        .key<ConversationId>('conversation_id')
        .notNull()
        .references(() => conversations.id, { onDelete: 'cascade' }),
      /**
       * No foreign key: a subtree is deleted explicitly, because a cascade over a long chain exceeds SQLite's trigger
       * depth.
       */
      parentId: c.key<MessageId>('parent_id'),
      role: c.choice<'user' | 'assistant'>('role').notNull(),
      text: c.text('text').notNull(),
      tokenCount: c.integer('token_count').notNull(),
      model: c.text('model'),
      runId: c.key<RunId>('run_id'),
      status: c.choice<MessageStatus>('status').notNull(),
      error: c.text('error'),
      /** Where it comes from; null: a person at the page. */
      origin: c.json<RunOrigin>('origin'),
      /** Folded: the run found nothing that a person has to read. */
      quiet: c.boolean('quiet').notNull().default(false),
      createdAt: c.time('created_at').notNull(),
      /** When it was deleted. Until it is purged, it can be restored; nothing else reads it. */
      deletedAt: c.time('deleted_at'),
      /** The message whose deletion included this one (or this one itself): restoring that one restores this one. */
      deletedWith: c.key<MessageId>('deleted_with'),
      /** The answer whose text a person changed into this one. */
      editedFrom: c.key<MessageId>('edited_from'),
      feedback: c.json<Feedback>('feedback'),
      /** What an answer with tool calls did when its run ended, or a copy from an import; null for others. */
      receipt: c.json<StoredReceipt>('receipt'),
      /** The plan that the answer follows; null if it has none. */
      plan: c.json<Plan>('plan'),
      /** The passages that the answer cites; null if it cites none. */
      citations: c.json<readonly Citation[]>('citations'),
    },
    (t) => [
      c.index('messages_conversation').on(t.conversationId, t.parentId, t.row),
      c.index('messages_parent').on(t.parentId),
      c.index('messages_deleted').on(t.deletedAt).where(sql`${t.deletedAt} is not null`),
      c.index('messages_deleted_with').on(t.deletedWith).where(sql`${t.deletedWith} is not null`),
    ],
  )

  const steps = c.table(
    'steps',
    {
      messageId: c
        .key<MessageId>('message_id')
        .notNull()
        .references(() => messages.id, { onDelete: 'cascade' }),
      position: c.integer('position').notNull(),
      type: c.choice<Step['type']>('type').notNull(),
      /** The text, the result, or for a call its arguments as the model wrote them. */
      content: c.text('content').notNull(),
      idRef: c.text('id_ref'),
      name: c.text('name'),
      skipped: c.boolean('skipped').notNull(),
      artifact: c.json<Artifact>('artifact'),
      /** Whether the step is complete. */
      closed: c.boolean('closed').notNull(),
      /** The id of the run event that began it. */
      firstEvent: c.integer('first_event'),
      /** Where events split its text, so that a replay emits the same pieces. */
      cuts: c.text('cuts'),
      /** When the call of a `tool_call` step began. */
      startedAt: c.time('started_at'),
      /** What its provider, and no other, must receive back with an iteration's calls; in the row of the first call. */
      carry: c.text('carry'),
      /** How long the model thought, in a complete `thinking` step. */
      durationMs: c.integer('duration_ms'),
      /** The grant that let the call of a `tool_call` step through. */
      grantId: c.text('grant_id'),
      /** Who made a call, and caused its result, if not the model: an app of an MCP server. */
      origin: c.choice<'app'>('origin'),
    },
    (t) => [c.primaryKey({ columns: [t.messageId, t.position] })],
  )

  return { messages, steps }
}
