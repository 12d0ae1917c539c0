// What goes out to the chats of messengers: each chat receives its parts in order, one at a time.
import { and, asc, eq, inArray, isNull, lt, lte, ne, or, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../database.ts'
import type { ChannelRow } from './channels.ts'
import type { ChatRow } from './receiving.ts'

/** A row of `outgoing_parts`. */
export type PartRow = Database['tables']['outgoingParts']['$inferSelect']
/** A part, its chat and its channel. */
export interface DuePart {
  delivery: PartRow
  chat: ChatRow
  channel: ChannelRow
}

/** Stores what goes out to chats. Uses the table `outgoingParts`; reads `chats` and `channels`. */
export function createPartRepository(database: Database) {
  return {
    ...sendingParts(database),
    ...storedParts(database),
  }
}

/** Which parts are sent next, and what came of them. */
function sendingParts({ read, write, tables }: Database) {
  const { outgoingParts: parts, chats, channels } = tables
  const isPending = eq(parts.status, 'pending')
  const isFirst = sql`not exists (select 1 from ${parts} as earlier where earlier.chat_id = ${parts.chatId} and earlier.status = 'pending' and earlier.position < ${parts.position})`
  const isFree = (now: Date) => or(isNull(parts.leasedUntil), lte(parts.leasedUntil, now))

  return {
    /** Ends the claims of a process that is gone; call it before any other process can have made one. */
    releaseAll: (): Promise<void> =>
      write(async (tx) => {
        await tx.update(parts).set({ leasedUntil: null }).where(isPending)
      }),

    /** Claims the first part of each chat that is due. No other caller gets them before `leaseUntil`. */
    claimDue: (now: Date, leaseUntil: Date, limit: number): Promise<DuePart[]> =>
      write(async (tx) => {
        await tx.lock('outgoing parts')
        const due = await tx
          .select({ delivery: parts, chat: chats, channel: channels })
          .from(parts)
          .innerJoin(chats, eq(chats.id, parts.chatId))
          .innerJoin(channels, eq(channels.id, chats.channelId))
          .where(and(isPending, lte(parts.nextAttemptAt, now), isFree(now), isFirst))
          .orderBy(asc(parts.position))
          .limit(limit)
        const ids = due.map(({ delivery }) => delivery.id)
        if (ids.length > 0)
          await tx
            .update(parts)
            .set({ attempts: sql`${parts.attempts} + 1`, leasedUntil: leaseUntil })
            .where(inArray(parts.id, ids))
        return due.map((one) => ({
          ...one,
          delivery: { ...one.delivery, attempts: one.delivery.attempts + 1 },
        }))
      }),

    /** When the next part is due; null if none is pending. */
    async nextDue(): Promise<Date | null> {
      const at = sql<Date>`${parts.nextAttemptAt}`.mapWith(parts.nextAttemptAt)
      const rows = await read
        .select({ at, leasedUntil: parts.leasedUntil })
        .from(parts)
        .where(and(isPending, isFirst))
        .orderBy(asc(parts.nextAttemptAt))
        .limit(100)
      const times = rows.map(({ at: due, leasedUntil }) =>
        Math.max(due?.getTime() ?? 0, leasedUntil?.getTime() ?? 0),
      )
      return times.length === 0 ? null : new Date(Math.min(...times))
    },

    /** Stores the outcome of an attempt. */
    settle: (
      id: string,
      outcome: Pick<PartRow, 'status' | 'nextAttemptAt' | 'lastError' | 'lastFailure'>,
    ): Promise<void> =>
      write(async (tx) => {
        await tx
          .update(parts)
          .set({ ...outcome, leasedUntil: null })
          .where(eq(parts.id, id))
      }),

    /** Removes at most `limit` parts that were stored before a time and are no longer pending. */
    removeSettled: (before: Date, limit: number): Promise<void> =>
      write(async (tx) => {
        const old = await tx
          .select({ id: parts.id })
          .from(parts)
          .where(and(ne(parts.status, 'pending'), lt(parts.createdAt, before)))
          .limit(limit)
        const ids = old.map(({ id }) => id)
        if (ids.length > 0) await tx.delete(parts).where(inArray(parts.id, ids))
      }),
  }
}

/** Parts as they are added and found. */
function storedParts({ read, write, tables }: Database) {
  const { outgoingParts: parts, chats, channels } = tables
  return {
    /** Stores a part behind all others of its chat; false if there is one with its reference. */
    async add(
      tx: Writer,
      part: Pick<PartRow, 'id' | 'chatId' | 'reference' | 'content' | 'createdAt'>,
    ): Promise<boolean> {
      const added = await tx
        .insert(parts)
        .values({
          ...part,
          status: 'pending',
          attempts: 0,
          nextAttemptAt: part.createdAt,
          lastError: null,
          lastFailure: null,
        })
        .onConflictDoNothing()
        .returning({ id: parts.id })
      return added.length > 0
    },

    async find(id: string): Promise<DuePart | undefined> {
      const [row] = await read
        .select({ delivery: parts, chat: chats, channel: channels })
        .from(parts)
        .innerJoin(chats, eq(chats.id, parts.chatId))
        .innerJoin(channels, eq(channels.id, chats.channelId))
        .where(eq(parts.id, id))
      return row
    },

    async findByReference(
      chatId: string,
      reference: string,
      from: Reader = read,
    ): Promise<PartRow | undefined> {
      const [row] = await from
        .select()
        .from(parts)
        .where(and(eq(parts.chatId, chatId), eq(parts.reference, reference)))
      return row
    },

    /** Stores which message at the messenger a part has become. */
    setExternalId: (id: string, externalId: string): Promise<void> =>
      write(async (tx) => {
        await tx.update(parts).set({ externalId }).where(eq(parts.id, id))
      }),
  }
}
