// What the deliveries of channels and of webhooks have in common: waiting until they are due, and being settled.
import { and, asc, eq, inArray, isNotNull, lt, lte, ne } from 'drizzle-orm'
import type { Database, Writer } from '../../database.ts'

type Tables = Database['tables']
/** A table of deliveries; both have these columns. */
type Deliveries = Tables['deliveries'] | Tables['webhookDeliveries']
type Outcome = Pick<
  Tables['deliveries']['$inferSelect'],
  'status' | 'nextAttemptAt' | 'lastError' | 'lastFailure'
>

/** The methods that need only the deliveries, not their destinations. */
export function createDeliveryQueue({ read, write }: Database, deliveries: Deliveries) {
  return {
    /** When the next delivery is due; null when none is pending. */
    async nextDue(): Promise<Date | null> {
      const [row] = await read
        .select({ at: deliveries.nextAttemptAt })
        .from(deliveries)
        .where(and(eq(deliveries.status, 'pending'), isNotNull(deliveries.nextAttemptAt)))
        .orderBy(asc(deliveries.nextAttemptAt))
        .limit(1)
      return row?.at ?? null
    },

    /** Stores the outcome of an attempt to send a delivery. */
    settle: (id: string, outcome: Outcome): Promise<void> =>
      write(async (tx) => {
        await tx.update(deliveries).set(outcome).where(eq(deliveries.id, id))
      }),

    /** Removes at most `limit` deliveries that were created before a time and are no longer pending. */
    removeSettled: (before: Date, limit: number): Promise<void> =>
      write(async (tx) => {
        const old = await tx
          .select({ id: deliveries.id })
          .from(deliveries)
          .where(and(ne(deliveries.status, 'pending'), lt(deliveries.createdAt, before)))
          .limit(limit)
        const ids = old.map(({ id }) => id)
        if (ids.length > 0) await tx.delete(deliveries).where(inArray(deliveries.id, ids))
      }),
  }
}

/** The condition of deliveries that are due. */
export const isDue = (deliveries: Deliveries, now: Date) =>
  and(eq(deliveries.status, 'pending'), lte(deliveries.nextAttemptAt, now))

/**
 * Counts an attempt of each due delivery; no other caller gets it before `leaseUntil`. @returns the deliveries with that
 * attempt counted.
 */
export async function lease<Due extends { delivery: { id: string; attempts: number } }>(
  tx: Writer,
  deliveries: Deliveries,
  due: readonly Due[],
  leaseUntil: Date,
): Promise<Due[]> {
  for (const { delivery } of due)
    await tx
      .update(deliveries)
      .set({ attempts: delivery.attempts + 1, nextAttemptAt: leaseUntil })
      .where(eq(deliveries.id, delivery.id))
  return due.map((one) => ({
    ...one,
    delivery: { ...one.delivery, attempts: one.delivery.attempts + 1 },
  }))
}
