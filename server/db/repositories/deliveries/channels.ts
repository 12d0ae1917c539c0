// Channels of a user and the deliveries to them.
import { and, asc, count, desc, eq } from 'drizzle-orm'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { createDeliveryQueue, isDue, lease } from './delivery-queue.ts'

/** A row of `channels`. */
export type ChannelRow = Database['tables']['channels']['$inferSelect']
/** A new row of `channels`. */
export type NewChannel = Database['tables']['channels']['$inferInsert']
/** A row of `deliveries`: a message on its way to a channel. */
export type DeliveryRow = Database['tables']['deliveries']['$inferSelect']
/** A new row of `deliveries`. */
export type NewDelivery = Database['tables']['deliveries']['$inferInsert']

/** Stores channels and their outbox. */
export type ChannelRepository = ReturnType<typeof createChannelRepository>

/** Uses the tables `channels` and `deliveries`; drops rows of `incomingMessages`. */
export function createChannelRepository(database: Database) {
  return {
    ...channelsOfUsers(database),
    ...channelDeliveries(database),
  }
}

/** What users have set up. */
function channelsOfUsers(database: Database) {
  const { channels, deliveries, incomingMessages } = database.tables
  return {
    /**
     * Stores a channel; false when the user already has `atMost` channels.
     * @throws the database's unique violation when the user has a channel with this name.
     */
    insert: (channel: NewChannel, atMost: number): Promise<boolean> =>
      database.write(async (tx) => {
        await tx.lock(`channels of ${channel.userId}`)
        const [present] = await tx
          .select({ channels: count() })
          .from(channels)
          .where(eq(channels.userId, channel.userId))
        if ((present?.channels ?? 0) >= atMost) return false
        await tx.insert(channels).values(channel)
        return true
      }),

    async list(userId: UserId): Promise<ChannelRow[]> {
      return await database.read
        .select()
        .from(channels)
        .where(eq(channels.userId, userId))
        .orderBy(asc(channels.createdAt), asc(channels.id))
    },

    async findByName(userId: UserId, name: string): Promise<ChannelRow | undefined> {
      const rows = await database.read
        .select()
        .from(channels)
        .where(and(eq(channels.userId, userId), eq(channels.name, name)))
        .limit(1)
      return rows[0]
    },

    /**
     * Changes a channel; undefined if the user has none with this id.
     * @throws the database's unique violation when the name or the bot is taken.
     */
    change: (
      userId: UserId,
      id: string,
      set: Partial<Omit<ChannelRow, 'id' | 'userId' | 'type' | 'createdAt'>>,
    ): Promise<ChannelRow | undefined> =>
      database.write(async (tx) => {
        const [row] = await tx
          .update(channels)
          .set(set)
          .where(and(eq(channels.id, id), eq(channels.userId, userId)))
          .returning()
        // Nothing that was written before is answered once it receives no more.
        if (row !== undefined && row.receive === null)
          await tx
            .update(incomingMessages)
            .set({ state: 'dropped', content: null })
            .where(and(eq(incomingMessages.channelId, id), eq(incomingMessages.state, 'waiting')))
        return row
      }),

    /** Removes a channel with its pending deliveries. False when the user has no such channel. */
    async remove(userId: UserId, id: string): Promise<boolean> {
      return database.write(async (tx) => {
        await tx.lock(`channels of ${userId}`)
        const owned = and(eq(channels.id, id), eq(channels.userId, userId))
        const found = await tx.select({ id: channels.id }).from(channels).where(owned).limit(1)
        await tx.delete(channels).where(owned)
        return found.length > 0
      })
    },

    /** The newest message sent by each channel of the user. */
    async lastDeliveries(userId: UserId): Promise<Map<string, DeliveryRow>> {
      const owned = await this.list(userId)
      const last = await Promise.all(
        owned.map(({ id }) =>
          database.read
            .select()
            .from(deliveries)
            .where(eq(deliveries.channelId, id))
            .orderBy(desc(deliveries.createdAt), desc(deliveries.id))
            .limit(1),
        ),
      )
      return new Map(last.flat().map((delivery) => [delivery.channelId, delivery]))
    },
  }
}

/** What is sent through channels, and what came of it. */
function channelDeliveries(database: Database) {
  const { deliveries } = database.tables
  return {
    /**
     * Stores a pending delivery. Returns `full` when the user already has `atMost` pending ones, `no_channel` when the
     * channel was removed.
     */
    enqueue: (delivery: NewDelivery, atMost: number) => enqueue(database, delivery, atMost),

    async findDelivery(id: string): Promise<DeliveryRow | undefined> {
      const rows = await database.read
        .select()
        .from(deliveries)
        .where(eq(deliveries.id, id))
        .limit(1)
      return rows[0]
    },

    /**
     * Claims due deliveries, oldest first, and counts the attempt. No other caller gets them before `leaseUntil`; after
     * that they are due again, so a process that dies while sending loses nothing.
     */
    claimDue: (now: Date, leaseUntil: Date, limit: number) =>
      claimDue(database, now, leaseUntil, limit),

    ...createDeliveryQueue(database, deliveries),
  }
}

async function claimDue(
  database: Database,
  now: Date,
  leaseUntil: Date,
  limit: number,
): Promise<{ delivery: DeliveryRow; channel: ChannelRow }[]> {
  const { deliveries, channels } = database.tables
  return database.write(async (tx) => {
    await tx.lock('deliveries')
    const due = await tx
      .select({ delivery: deliveries, channel: channels })
      .from(deliveries)
      .innerJoin(channels, eq(channels.id, deliveries.channelId))
      .where(isDue(deliveries, now))
      .orderBy(asc(deliveries.nextAttemptAt), asc(deliveries.id))
      .limit(limit)
    return lease(tx, deliveries, due, leaseUntil)
  })
}

function enqueue(
  database: Database,
  delivery: NewDelivery,
  atMost: number,
): Promise<'stored' | 'full' | 'no_channel'> {
  const { deliveries, channels } = database.tables
  return database.write(async (tx) => {
    await tx.lock(`channels of ${delivery.userId}`)
    const [present] = await tx
      .select({ waiting: count() })
      .from(deliveries)
      .where(and(eq(deliveries.userId, delivery.userId), eq(deliveries.status, 'pending')))
    if ((present?.waiting ?? 0) >= atMost) return 'full'
    const [channel] = await tx
      .select({ id: channels.id })
      .from(channels)
      .where(eq(channels.id, delivery.channelId))
    if (channel === undefined) return 'no_channel'
    await tx.insert(deliveries).values(delivery)
    return 'stored'
  })
}
