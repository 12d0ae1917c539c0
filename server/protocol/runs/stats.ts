// Token statistics on the wire.
import { z } from 'zod'

/** The period of the statistics: today, the last seven days or the last thirty, in UTC. */
export const StatsPeriod = z.enum(['daily', 'weekly', 'monthly'])
export type StatsPeriod = z.infer<typeof StatsPeriod>

const Tokens = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  /** The part of `prompt_tokens` that providers read from their caches. */
  cached_tokens: z.int(),
  /** The part of `prompt_tokens` that providers wrote to their caches. */
  cache_write_tokens: z.int(),
  /** The part of `completion_tokens` that models thought with. */
  reasoning_tokens: z.int(),
})
/** The same numbers under the shorter names that clients of the Python NanoClaw read. */
const TokensByBothNames = Tokens.extend({
  prompt: z.int(),
  completion: z.int(),
  total: z.int(),
})
/** The tokens and cost of a user in a period. */
export const TokenStats = Tokens.extend({
  period: StatsPeriod,
  by_model: z.record(
    z.string(),
    TokensByBothNames.extend({ cost: z.record(z.string(), z.number()) }),
  ),
  /** By date (`YYYY-MM-DD`, UTC), including days without usage; for `weekly` and `monthly`. */
  daily: z.record(z.string(), TokensByBothNames).optional(),
  /** By hour (`00` to `23`, UTC), including hours without usage; for `daily`. */
  hourly: z.record(z.string(), TokensByBothNames).optional(),
  /** By currency, from the models' prices at the time of use. */
  cost: z.record(z.string(), z.number()),
}).meta({ id: 'TokenStats' })
export type TokenStats = z.infer<typeof TokenStats>
