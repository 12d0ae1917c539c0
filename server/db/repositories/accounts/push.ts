// Browsers that receive push notifications.
import { and, desc, eq, gt, isNull, or } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'

/** A row of `push_subscriptions`: one browser of a user. */
export type PushSubscriptionRow = Database['tables']['pushSubscriptions']['$inferSelect']

/** Stores push subscriptions. */
export type PushRepository = ReturnType<typeof createPushRepository>

/** Uses the tables `pushSubscriptions` and `sessions`. */
export function createPushRepository({ read, write, tables }: Database) {
  const { pushSubscriptions: subscriptions, sessions } = tables

  return {
    /** Stores a subscription, replacing the browser's earlier one; beyond `atMost`, the user's oldest ones are removed. */
    store: (row: PushSubscriptionRow, atMost: number): Promise<void> =>
      write(async (tx) => {
        await tx.lock(`push subscriptions of ${row.userId}`)
        const { id, ...values } = row
        await tx
          .insert(subscriptions)
          .values(row)
          .onConflictDoUpdate({ target: subscriptions.id, set: values })
        const surplus = await tx
          .select({ id: subscriptions.id })
          .from(subscriptions)
          .where(eq(subscriptions.userId, row.userId))
          .orderBy(desc(subscriptions.createdAt), desc(subscriptions.id))
          .limit(100)
          .offset(atMost)
        for (const one of surplus)
          await tx.delete(subscriptions).where(eq(subscriptions.id, one.id))
      }),

    /** The user's subscriptions whose sessions have not expired. */
    async ofUser(userId: UserId, now: Date): Promise<PushSubscriptionRow[]> {
      const rows = await read
        .select({ subscription: subscriptions })
        .from(subscriptions)
        .leftJoin(sessions, eq(sessions.id, subscriptions.sessionId))
        .where(
          and(
            eq(subscriptions.userId, userId),
            or(isNull(subscriptions.sessionId), gt(sessions.expiresAt, now)),
          ),
        )
      return rows.map(({ subscription }) => subscription)
    },

    /** All users with a subscription. */
    async users(): Promise<UserId[]> {
      const rows = await read.selectDistinct({ userId: subscriptions.userId }).from(subscriptions)
      return rows.map(({ userId }) => userId)
    },

    /** Removes the user's subscription, if there is one. */
    remove: (userId: UserId, id: string): Promise<void> =>
      write(async (tx) => {
        await tx
          .delete(subscriptions)
          .where(and(eq(subscriptions.id, id), eq(subscriptions.userId, userId)))
      }),

    /** Removes the subscriptions of all users, inside the caller's transaction. */
    async removeAll(tx: Writer): Promise<void> {
      await tx.delete(subscriptions)
    },
  }
}
