// Usage of all accounts in a month on the wire, by account or by group.
import { z } from 'zod'
import { PageQuery, page } from '../envelope.ts'

/** A calendar month in UTC: `YYYY-MM`. */
export const UsageMonth = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: 'not YYYY-MM' })

/** What a row of the report sums. */
export const UsageBy = z.enum(['account', 'group'])
export type UsageBy = z.infer<typeof UsageBy>

const sums = {
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  /** The part of `prompt_tokens` that providers read from their caches. */
  cached_tokens: z.int(),
  /** By currency, from the models' prices at the time of use. */
  cost: z.record(z.string(), z.number()),
}
/** The usage of all accounts together. */
export const UsageTotal = z.object(sums).meta({ id: 'UsageTotal' })
export type UsageTotal = z.infer<typeof UsageTotal>

/** The usage of one account or group. */
export const ReportedUsage = z
  .object({
    /** Null for the accounts without a group. */
    id: z.string().nullable(),
    name: z.string().nullable(),
    ...sums,
  })
  .meta({ id: 'ReportedUsage' })
export type ReportedUsage = z.infer<typeof ReportedUsage>

/** One page of the report. An account in several groups counts in each of them, but once in `total`. */
export const UsageReport = page(ReportedUsage)
  .extend({
    month: UsageMonth,
    /** The oldest month with usage; null without any. */
    first_month: UsageMonth.nullable(),
    total: UsageTotal,
  })
  .meta({ id: 'UsageReport' })
export type UsageReport = z.infer<typeof UsageReport>

/** Which report. */
export const UsageFilter = z.object({
  month: UsageMonth.optional().describe(
    'The calendar month (`YYYY-MM`, UTC). Default: the current one.',
  ),
  by: UsageBy.default('account').describe('Whether a row is an account or a group.'),
})
export const UsageQuery = PageQuery.extend(UsageFilter.shape)
