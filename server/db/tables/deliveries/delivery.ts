// Columns that every outbox has.
import type { StoredFailure } from '../../../protocol/failures/stored.ts'
import type { Columns } from '../../columns/postgres.ts'

/** The content, the number of attempts to send it, and the time of the next one. */
export const deliveryColumns = (c: Columns) => ({
  /** The content as it is sent, the same at every attempt. */
  content: c.text('content').notNull(),
  status: c.choice<'pending' | 'delivered' | 'failed'>('status').notNull(),
  attempts: c.integer('attempts').notNull(),
  nextAttemptAt: c.time('next_attempt_at'),
  lastError: c.text('last_error'),
  /** The reason and parameters of `lastError`, for translation. */
  lastFailure: c.json<StoredFailure>('last_failure'),
  createdAt: c.time('created_at').notNull(),
})
