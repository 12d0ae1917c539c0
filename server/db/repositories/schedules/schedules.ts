// Schedules of users, and the times at which they are due next.
import { and, asc, desc, eq, inArray, isNotNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Page } from '../../../protocol/envelope.ts'
import { type ConversationId, UserId } from '../../../protocol/ids.ts'
import {
  type DisabledReason,
  OccurrenceId,
  ScheduleId,
} from '../../../protocol/schedules/schedule.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database, Writer } from '../../database.ts'
import { afterMoment, countAll } from '../../fragments.ts'

/** A row of `schedules`. */
export type ScheduleRow = Database['tables']['schedules']['$inferSelect']
/** Changes of a schedule. */
export type ScheduleChange = Partial<Omit<ScheduleRow, 'id' | 'userId' | 'createdAt'>>

/** What the clock has to look at: a schedule that will be due, or an occurrence that has not ended. */
export type ClockItem =
  | { kind: 'schedule'; id: ScheduleId; userId: UserId; dueAt: Date }
  /** `hasMoved`: whether there is something to do, because its run does not simply go on. */
  | { kind: 'occurrence'; id: OccurrenceId; userId: UserId; hasMoved: boolean }

/** Uses the tables `schedules` and `scheduleWatches`; reads `occurrences`, `runs` and `users`. */
export function createScheduleRepository(database: Database) {
  return {
    ...storedSchedules(database),
    ...countedSchedules(database),
    ...watchedSchedules(database),
    ...schedulesOfClock(database),
  }
}

/** What users store. */
function storedSchedules(database: Database) {
  const { read, tables } = database
  const { schedules, users } = tables
  const isOwn = (userId: UserId, id: ScheduleId) =>
    and(eq(schedules.userId, userId), eq(schedules.id, id))

  return {
    async insert(tx: Writer, row: ScheduleRow): Promise<void> {
      await tx.insert(schedules).values(row)
    },

    async find(userId: UserId, id: ScheduleId): Promise<ScheduleRow | undefined> {
      const [row] = await read.select().from(schedules).where(isOwn(userId, id))
      return row
    },

    /** A schedule of any user, with whether the user's account is active. */
    async get(id: ScheduleId): Promise<(ScheduleRow & { isActive: boolean }) | undefined> {
      const [row] = await read
        .select({ schedule: schedules, isActive: users.isActive })
        .from(schedules)
        .innerJoin(users, eq(users.id, schedules.userId))
        .where(eq(schedules.id, id))
      return row === undefined ? undefined : { ...row.schedule, isActive: row.isActive }
    },

    async findByHook(hash: string): Promise<ScheduleRow | undefined> {
      const [row] = await read.select().from(schedules).where(eq(schedules.hookHash, hash))
      return row
    },

    /** The user's schedules, newest first. */
    async list(
      userId: UserId,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<ScheduleRow>> {
      const [moment, id] = cursor === undefined ? [] : decodeCursor(MomentCursor, cursor)
      const rows = await read
        .select()
        .from(schedules)
        .where(
          and(
            eq(schedules.userId, userId),
            moment === undefined || id === undefined
              ? undefined
              : afterMoment(schedules.createdAt, schedules.id, new Date(moment), id),
          ),
        )
        .orderBy(desc(schedules.createdAt), desc(schedules.id))
        .limit(limit + 1)
      return toPage(rows, limit, (last) => [last.createdAt.getTime(), last.id])
    },

    /** Changes a schedule; undefined if it is gone. */
    async change(
      tx: Writer,
      id: ScheduleId,
      change: ScheduleChange,
    ): Promise<ScheduleRow | undefined> {
      const [row] = await tx.update(schedules).set(change).where(eq(schedules.id, id)).returning()
      return row
    },

    async remove(tx: Writer, userId: UserId, id: ScheduleId): Promise<ScheduleRow | undefined> {
      const [row] = await tx.delete(schedules).where(isOwn(userId, id)).returning()
      return row
    },
  }
}

/** How many there are. */
function countedSchedules(database: Database) {
  const { read, tables } = database
  const { schedules, users } = tables
  return {
    /** How many schedules a user has. Locks the user, so that two at once cannot exceed a limit. */
    async count(tx: Writer, userId: UserId): Promise<number> {
      await tx
        .update(users)
        .set({ id: sql`${users.id}` })
        .where(eq(users.id, userId))
      const [row] = await tx
        .select({ count: countAll })
        .from(schedules)
        .where(eq(schedules.userId, userId))
      return row?.count ?? 0
    },

    /** How many schedules a user has. */
    async total(userId: UserId): Promise<number> {
      const [row] = await read
        .select({ count: countAll })
        .from(schedules)
        .where(eq(schedules.userId, userId))
      return row?.count ?? 0
    },

    /** How many of the user's schedules are older than this one. */
    async countBefore({
      userId,
      createdAt,
      id,
    }: Pick<ScheduleRow, 'userId' | 'createdAt' | 'id'>): Promise<number> {
      const [row] = await read
        .select({ count: countAll })
        .from(schedules)
        .where(
          and(
            eq(schedules.userId, userId),
            or(
              lt(schedules.createdAt, createdAt),
              and(eq(schedules.createdAt, createdAt), lt(schedules.id, id)),
            ),
          ),
        )
      return row?.count ?? 0
    },
  }
}

/** What schedules last saw of what they watch. */
function watchedSchedules(database: Database) {
  const { read, tables } = database
  const { scheduleWatches } = tables
  return {
    /** What the last look saw; undefined before the first one. */
    async watched(id: ScheduleId): Promise<string | undefined> {
      const [row] = await read
        .select({ content: scheduleWatches.content })
        .from(scheduleWatches)
        .where(eq(scheduleWatches.scheduleId, id))
      return row?.content
    },

    async setWatched(tx: Writer, scheduleId: ScheduleId, content: string): Promise<void> {
      await tx
        .insert(scheduleWatches)
        .values({ scheduleId, content })
        .onConflictDoUpdate({ target: scheduleWatches.scheduleId, set: { content } })
    },

    async forgetWatched(tx: Writer, id: ScheduleId): Promise<void> {
      await tx.delete(scheduleWatches).where(eq(scheduleWatches.scheduleId, id))
    },
  }
}

/** What the clock reads and writes. */
function schedulesOfClock(database: Database) {
  const { read, tables } = database
  const { schedules, occurrences, runs } = tables
  const off = (disabledReason: DisabledReason | null) =>
    ({ enabled: false, nextAt: null, disabledReason }) as const

  async function disable(
    tx: Writer,
    which: SQL | undefined,
    reason: DisabledReason | null,
  ): Promise<ScheduleRow[]> {
    return await tx
      .update(schedules)
      .set(off(reason))
      .where(and(eq(schedules.enabled, true), which))
      .returning()
  }

  return {
    /** Everything that the clock has to look at until this time, in one statement. */
    async ofClock(until: Date): Promise<ClockItem[]> {
      // Drizzle writes columns of a query without joins without their table: a subquery would take its own.
      const outer = (column: 'run_id' | 'state' | 'schedule_id'): SQL =>
        sql.raw(`"occurrences"."${column}"`)
      const due = read
        .select({
          kind: sql<string>`'schedule'`,
          id: sql<string>`${schedules.id}`,
          dueAt: schedules.nextAt,
          userId: sql<string>`${schedules.userId}`,
        })
        .from(schedules)
        .where(and(isNotNull(schedules.nextAt), lte(schedules.nextAt, until)))
      const open = read
        .select({
          kind: sql<string>`case when ${occurrences.untold} is null and exists (select 1 from ${runs} as at_work where at_work.id = ${outer('run_id')} and at_work.ended_at is null and (at_work.status in ('awaiting_approval', 'awaiting_input')) = (${outer('state')} = 'waiting')) then 'at work' else 'occurrence' end`,
          id: sql<string>`${occurrences.id}`,
          dueAt: occurrences.createdAt,
          userId: sql<string>`(select owned.user_id from ${schedules} as owned where owned.id = ${outer('schedule_id')})`,
        })
        .from(occurrences)
        .where(
          sql`${occurrences.state} in ('running', 'waiting') or ${occurrences.untold} is not null`,
        )
      const rows = await due.unionAll(open).orderBy(asc(sql`3`))
      return rows.flatMap(({ kind, id, dueAt, userId: owner }): ClockItem[] => {
        const userId = UserId.parse(owner)
        if (kind !== 'schedule')
          return [
            {
              kind: 'occurrence',
              id: OccurrenceId.parse(id),
              userId,
              hasMoved: kind === 'occurrence',
            },
          ]
        return dueAt === null ? [] : [{ kind: 'schedule', id: ScheduleId.parse(id), userId, dueAt }]
      })
    },

    /**
     * Moves a schedule on from a due time; undefined if another instance has done it, or the schedule has changed. Locks the
     * schedule until the transaction ends.
     */
    async advance(
      tx: Writer,
      { id, from, next }: { id: ScheduleId; from: Date; next: Date | null },
    ): Promise<ScheduleRow | undefined> {
      const [row] = await tx
        .update(schedules)
        .set({ nextAt: next })
        .where(and(eq(schedules.id, id), eq(schedules.nextAt, from), eq(schedules.enabled, true)))
        .returning()
      return row
    },

    /** Locks a schedule until the transaction ends. */
    async lock(tx: Writer, id: ScheduleId): Promise<ScheduleRow | undefined> {
      const [row] = await tx
        .update(schedules)
        .set({ failures: sql`${schedules.failures}` })
        .where(eq(schedules.id, id))
        .returning()
      return row
    },

    /** Switches off the schedules that have one of these as their one conversation. */
    disableOfConversations: (tx: Writer, ids: readonly ConversationId[]) =>
      disable(
        tx,
        ids.length === 0 ? sql`false` : inArray(schedules.conversationId, [...ids]),
        null,
      ),
  }
}
