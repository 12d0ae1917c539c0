// Quotas of individual users, and usage that no other table counts.
import { and, eq, gte, lte, sql } from 'drizzle-orm'
import { withoutAbsent } from '../../../lib/without-absent.ts'
import { fullQuota, type PatchQuota, type Quota } from '../../../protocol/accounts/quota.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import type { DayRange } from './token-usage.ts'

/** Resources whose use is counted by day, besides tokens and cost. */
export type ResourceKind = 'program_seconds' | 'messages'

/** Stores quotas of users and groups, and the usage of users. */
export type QuotaRepository = ReturnType<typeof createQuotaRepository>

/** Uses the tables `userQuotas` and `resourceUsage`. */
export function createQuotaRepository({ read, write, tables }: Database) {
  const { userQuotas, resourceUsage } = tables
  return {
    /** The individual quotas of all users. */
    all: () => read.select().from(userQuotas),

    /** The quota of one user; without limits if they have no individual one. */
    async find(userId: UserId): Promise<Quota> {
      const [row] = await read.select().from(userQuotas).where(eq(userQuotas.userId, userId))
      return fullQuota(row?.quota)
    },

    /**
     * Changes the given limits, in the transaction of the caller, and returns all limits before and after; two concurrent
     * changes both take effect.
     */
    async change(
      tx: Writer,
      userId: UserId,
      changes: PatchQuota,
    ): Promise<{ before: PatchQuota; after: PatchQuota }> {
      await tx.lock(`quota ${userId}`)
      const [row] = await tx.select().from(userQuotas).where(eq(userQuotas.userId, userId))
      const quota = { ...row?.quota, ...withoutAbsent(changes) }
      await tx
        .insert(userQuotas)
        .values({ userId, quota })
        .onConflictDoUpdate({ target: userQuotas.userId, set: { quota } })
      return { before: row?.quota ?? {}, after: quota }
    },

    /** Stores the quota of an account, in the transaction that creates it. */
    async insert(tx: Writer, userId: UserId, quota: PatchQuota): Promise<void> {
      await tx.insert(userQuotas).values({ userId, quota })
    },

    /** Adds to a user's usage of a resource on a day. */
    addUsage: (userId: UserId, kind: ResourceKind, day: string, amount: number): Promise<void> =>
      write(async (tx) => {
        await tx
          .insert(resourceUsage)
          .values({ userId, day, kind, amount })
          .onConflictDoUpdate({
            target: [resourceUsage.userId, resourceUsage.day, resourceUsage.kind],
            set: { amount: sql`${resourceUsage.amount} + excluded.amount` },
          })
      }),

    /** A user's usage of a resource in a range of days. */
    async usage(userId: UserId, kind: ResourceKind, { from, to }: DayRange): Promise<number> {
      const [row] = await read
        .select({ total: sql`coalesce(sum(${resourceUsage.amount}), 0)`.mapWith(Number) })
        .from(resourceUsage)
        .where(
          and(
            eq(resourceUsage.userId, userId),
            eq(resourceUsage.kind, kind),
            gte(resourceUsage.day, from),
            lte(resourceUsage.day, to),
          ),
        )
      return row?.total ?? 0
    },
  }
}
