// The columns of what waits in an outbox.
import type { StoredFailure } from '../../../protocol/failures/stored.ts'
import type { Columns } from '../../columns/postgres.ts'

/** What is sent, how often that was tried, and when it is tried next. */
export const deliveryColumns = (c: Columns) => ({
  /** As it is sent, the same at every attempt. */
  content: c.text('content').notNull(),
  status: c.choice<'pending' | 'delivered' | 'failed'>('status').notNull(),
  attempts: c.integer('attempts').notNull(),
  nextAttemptAt: c.time('next_attempt_at'),
  lastError: c.text('last_error'),
  /** The reason and parameters of `lastError`, for translation. */
  lastFailure: c.json<StoredFailure>('last_failure'),
  createdAt: c.time('created_at').notNull(),
})
