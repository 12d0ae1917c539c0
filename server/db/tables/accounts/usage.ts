// The table of tokens and cost that users have used.
import type { Columns } from '../../columns/postgres.ts'
import { ownedBy } from '../owner.ts'
import type { defineAccountTables } from './accounts.ts'

type Accounts = Pick<ReturnType<typeof defineAccountTables>, 'users'>

/** Statistics, budgets and quotas are computed from it. */
export function defineUsageTables(c: Columns, { users }: Accounts) {
  /** One row per hour, model and currency; the price is that of the time of use. */
  const tokenUsage = c.table(
    'token_usage',
    {
      userId: ownedBy(c, users),
      /** `YYYY-MM-DD`, UTC. */
      day: c.text('day').notNull(),
      hour: c.integer('hour').notNull(),
      model: c.text('model').notNull(),
      /** '' where the model has no price. */
      currency: c.text('currency').notNull().default(''),
      promptTokens: c.bigInteger('prompt_tokens').notNull(),
      completionTokens: c.bigInteger('completion_tokens').notNull(),
      /** Parts of the prompt tokens: read from the provider's cache, and written to it. */
      cachedTokens: c.bigInteger('cached_tokens').notNull().default(0),
      cacheWriteTokens: c.bigInteger('cache_write_tokens').notNull().default(0),
      /** Part of the completion tokens. */
      reasoningTokens: c.bigInteger('reasoning_tokens').notNull().default(0),
      cost: c.real('cost').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.userId, t.day, t.hour, t.model, t.currency] }),
      // For the usage of all accounts in a period.
      c.index('token_usage_day').on(t.day, t.userId),
    ],
  )

  return { tokenUsage }
}
