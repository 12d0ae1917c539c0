// Webhooks of users, and the events that wait to be delivered to them.
import {
  and,
  asc,
  count,
  countDistinct,
  desc,
  eq,
  isNotNull,
  ne,
  notExists,
  sql,
} from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { createDeliveryQueue, isDue, lease } from './delivery-queue.ts'

/** A row of `webhooks`. */
export type WebhookRow = Database['tables']['webhooks']['$inferSelect']
/** A row of `webhook_deliveries`: an event on its way to a webhook. */
export type WebhookDeliveryRow = Database['tables']['webhookDeliveries']['$inferSelect']

/** Stores webhooks and their outbox. */
export type WebhookRepository = ReturnType<typeof createWebhookRepository>

/** Uses the tables `webhooks` and `webhookDeliveries`. */
export function createWebhookRepository(database: Database) {
  return {
    ...webhooksOfUsers(database),
    ...webhookDeliveries(database),
  }
}

/** What users have set up. */
function webhooksOfUsers(database: Database) {
  const { read, write, tables } = database
  const { webhooks } = tables
  const ofUser = (userId: UserId, id: string) =>
    and(eq(webhooks.id, id), eq(webhooks.userId, userId))

  return {
    /** Stores a webhook; false when the user already has `atMost`. `after` is part of it. */
    insert: (webhook: WebhookRow, atMost: number, after: (tx: Writer) => Promise<void>) =>
      insert(database, webhook, atMost, after),

    async list(userId: UserId): Promise<WebhookRow[]> {
      return await read
        .select()
        .from(webhooks)
        .where(eq(webhooks.userId, userId))
        .orderBy(asc(webhooks.createdAt), asc(webhooks.id))
    },

    /** All users with an enabled webhook. */
    async users(): Promise<UserId[]> {
      const rows = await read
        .selectDistinct({ userId: webhooks.userId })
        .from(webhooks)
        .where(eq(webhooks.isActive, true))
      return rows.map(({ userId }) => userId)
    },

    async find(userId: UserId, id: string): Promise<WebhookRow | undefined> {
      const [row] = await read.select().from(webhooks).where(ofUser(userId, id)).limit(1)
      return row
    },

    /** Undefined when the user has no such webhook. `after` is part of the update. */
    update: (
      userId: UserId,
      id: string,
      patch: Partial<Omit<WebhookRow, 'id' | 'userId' | 'createdAt'>>,
      after?: (tx: Writer) => Promise<void>,
    ): Promise<WebhookRow | undefined> =>
      write(async (tx) => {
        const [row] = await tx.update(webhooks).set(patch).where(ofUser(userId, id)).returning()
        if (row !== undefined) await after?.(tx)
        return row
      }),

    /**
     * Removes a webhook with its waiting deliveries. False when the user has no such webhook. `after` is part of the
     * removal.
     */
    remove: (userId: UserId, id: string, after: (tx: Writer) => Promise<void>): Promise<boolean> =>
      write(async (tx) => {
        await tx.lock(`webhooks of ${userId}`)
        const removed = await tx
          .delete(webhooks)
          .where(ofUser(userId, id))
          .returning({ id: webhooks.id })
        if (removed.length === 0) return false
        await after(tx)
        return true
      }),
  }
}

/** What is sent to webhooks, and what came of it. */
function webhookDeliveries(database: Database) {
  const { read, tables } = database
  const { webhooks, webhookDeliveries: deliveries } = tables
  return {
    /** The newest deliveries of a webhook. */
    async deliveries(webhookId: string, limit: number): Promise<WebhookDeliveryRow[]> {
      return await read
        .select()
        .from(deliveries)
        .where(eq(deliveries.webhookId, webhookId))
        .orderBy(desc(deliveries.createdAt), desc(deliveries.id))
        .limit(limit)
    },

    /** How many enabled webhooks did not take the last event that was sent to them. */
    async countFailing(): Promise<number> {
      const [row] = await read
        .select({ failing: countDistinct(webhooks.id) })
        .from(webhooks)
        .innerJoin(deliveries, eq(deliveries.webhookId, webhooks.id))
        .where(
          and(
            eq(webhooks.isActive, true),
            ne(deliveries.status, 'delivered'),
            isNotNull(deliveries.lastError),
            notExists(
              sql`(select 1 from webhook_deliveries as later where later.webhook_id = ${webhooks.id} and later.status = 'delivered' and later.created_at >= ${deliveries.createdAt})`,
            ),
          ),
        )
      return row?.failing ?? 0
    },

    async findDelivery(id: string): Promise<WebhookDeliveryRow | undefined> {
      const [row] = await read.select().from(deliveries).where(eq(deliveries.id, id)).limit(1)
      return row
    },

    /**
     * Stores a delivery for each webhook of the user that `wants` the event; none for a webhook that has the event already
     * or has `atMost` waiting. No webhook of the user can be removed before the transaction ends.
     * @returns how many webhooks have too many waiting.
     */
    enqueue: (
      tx: Writer,
      userId: UserId,
      wants: (webhook: WebhookRow) => boolean,
      deliveryFor: (webhook: WebhookRow) => WebhookDeliveryRow,
      atMost: number,
    ) => enqueue(database, tx, userId, wants, deliveryFor, atMost),

    /**
     * Claims due deliveries, oldest first, and counts the attempt. No other caller gets them before `leaseUntil`; after
     * that they are due again, so a process that dies while sending loses nothing.
     */
    claimDue: (now: Date, leaseUntil: Date, limit: number) =>
      claimDue(database, now, leaseUntil, limit),

    ...createDeliveryQueue(database, deliveries),
  }
}

async function enqueue(
  database: Database,
  tx: Writer,
  userId: UserId,
  wants: (webhook: WebhookRow) => boolean,
  deliveryFor: (webhook: WebhookRow) => WebhookDeliveryRow,
  atMost: number,
): Promise<number> {
  const { webhooks, webhookDeliveries: deliveries } = database.tables
  await tx.lock(`webhooks of ${userId}`)
  const found = await tx.select().from(webhooks).where(eq(webhooks.userId, userId))
  let full = 0
  for (const webhook of found.filter(wants)) {
    const [present] = await tx
      .select({ waiting: count() })
      .from(deliveries)
      .where(and(eq(deliveries.webhookId, webhook.id), eq(deliveries.status, 'pending')))
    if ((present?.waiting ?? 0) >= atMost) full += 1
    else
      await tx
        .insert(deliveries)
        .values(deliveryFor(webhook))
        .onConflictDoNothing({ target: [deliveries.webhookId, deliveries.occurrence] })
  }
  return full
}

function insert(
  database: Database,
  webhook: WebhookRow,
  atMost: number,
  after: (tx: Writer) => Promise<void>,
): Promise<boolean> {
  const { write } = database
  const { webhooks } = database.tables
  return write(async (tx) => {
    await tx.lock(`webhooks of ${webhook.userId}`)
    const [present] = await tx
      .select({ webhooks: count() })
      .from(webhooks)
      .where(eq(webhooks.userId, webhook.userId))
    if ((present?.webhooks ?? 0) >= atMost) return false
    await tx.insert(webhooks).values(webhook)
    await after(tx)
    return true
  })
}

function claimDue(
  database: Database,
  now: Date,
  leaseUntil: Date,
  limit: number,
): Promise<{ delivery: WebhookDeliveryRow; webhook: WebhookRow }[]> {
  const { write } = database
  const { webhookDeliveries: deliveries, webhooks } = database.tables
  return write(async (tx) => {
    await tx.lock('webhook deliveries')
    const due = await tx
      .select({ delivery: deliveries, webhook: webhooks })
      .from(deliveries)
      .innerJoin(webhooks, eq(webhooks.id, deliveries.webhookId))
      .where(isDue(deliveries, now))
      .orderBy(asc(deliveries.nextAttemptAt), asc(deliveries.id))
      .limit(limit)
    return lease(tx, deliveries, due, leaseUntil)
  })
}
