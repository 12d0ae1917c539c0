// Tables of what runs sent to providers and received: one record per stretch of a run, and each part of prompts once.
import type { ConversationId, RunId } from '../../../protocol/ids.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineConversationTables } from '../conversations/conversations.ts'
import type { defineRunTables } from './runs.ts'

type Referenced = Pick<ReturnType<typeof defineConversationTables>, 'conversations'> &
  Pick<ReturnType<typeof defineRunTables>, 'runs'>

/** Diagnostics: stored after the run, not with it, and kept for some days. */
export function defineRunRecordTables(c: Columns, { conversations, runs }: Referenced) {
  const runRecords = c.table(
    'run_records',
    {
      runId: c
        .key<RunId>('run_id')
        .notNull()
        .references(() => runs.id, { onDelete: 'cascade' }),
      attempt: c.integer('attempt').notNull(),
      /** Which record of the attempt, from 0. */
      number: c.integer('number').notNull(),
      createdAt: c.time('created_at').notNull(),
      record: c.json<unknown>('record').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.runId, t.attempt, t.number] }),
      c.index('run_records_created').on(t.createdAt),
    ],
  )

  const promptParts = c.table(
    'prompt_parts',
    {
      conversationId: c
        .key<ConversationId>('conversation_id')
        .notNull()
        .references(() => conversations.id, { onDelete: 'cascade' }),
      hash: c.text('hash').notNull(),
      /** Characters of the part; more than `content` has if the part was too long to be stored. */
      characters: c.integer('characters').notNull(),
      /** JSON text, compressed where it is long. */
      content: c.bytes('content').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.conversationId, t.hash] })],
  )

  return { runRecords, promptParts }
}
