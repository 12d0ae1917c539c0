// Occurrences: the times at which schedules were due, each once, and what came of them.
import {
  and,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  lt,
  or,
  sql,
} from 'drizzle-orm'
import type { Page } from '../../../protocol/envelope.ts'
import type { ConversationId } from '../../../protocol/ids.ts'
import type {
  OccurrenceId,
  OccurrenceState,
  ScheduleId,
} from '../../../protocol/schedules/schedule.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { afterMoment } from '../../fragments.ts'

/** A new row of `occurrences`. */
export type NewOccurrence = Database['tables']['occurrences']['$inferSelect']
/** A row without its input, which may be large: `input` reads it. */
export type OccurrenceRow = Omit<NewOccurrence, 'input'>

const OPEN: OccurrenceState[] = ['running', 'waiting']

/** Uses the table `occurrences`. */
export function createOccurrenceRepository(database: Database) {
  const columns = shortColumns(database)
  return {
    ...oneOccurrence(database, columns),
    ...listOccurrences(database, columns),
    ...writeOccurrences(database, columns),
  }
}

/** The columns without the input, which may be long. */
function shortColumns({ tables: { occurrences } }: Database) {
  const { input: _input, ...columns } = getTableColumns(occurrences)
  return columns
}

type ShortColumns = ReturnType<typeof shortColumns>

/** Single occurrences. */
function oneOccurrence(database: Database, columns: ShortColumns) {
  const { read, tables } = database
  const { occurrences } = tables
  async function find(id: OccurrenceId, reader: Reader = read): Promise<OccurrenceRow | undefined> {
    const [row] = await reader.select(columns).from(occurrences).where(eq(occurrences.id, id))
    return row
  }

  return {
    find,

    /** What its run is given besides the text; null if nothing, or if the run has begun. */
    async input(id: OccurrenceId): Promise<NewOccurrence['input']> {
      const [row] = await read
        .select({ input: occurrences.input })
        .from(occurrences)
        .where(eq(occurrences.id, id))
      return row?.input ?? null
    },

    /** Takes what is still to be told; undefined if another instance has. */
    async takeUntold(tx: Writer, id: OccurrenceId): Promise<OccurrenceRow | undefined> {
      const row = await find(id, tx)
      if (row === undefined || row.untold === null) return undefined
      const taken = await tx
        .update(occurrences)
        .set({ untold: null })
        .where(and(eq(occurrences.id, id), sql`${occurrences.untold} is not null`))
        .returning({ id: occurrences.id })
      return taken.length > 0 ? row : undefined
    },
  }
}

/** Which there are, by schedule, request and state. */
function listOccurrences(database: Database, columns: ShortColumns) {
  const { read, tables } = database
  const { occurrences } = tables
  return {
    /** The occurrence that a request to a hook made. */
    async findByRequest(
      tx: Reader,
      scheduleId: ScheduleId,
      requestKey: string,
    ): Promise<OccurrenceRow | undefined> {
      const [row] = await tx
        .select(columns)
        .from(occurrences)
        .where(and(eq(occurrences.scheduleId, scheduleId), eq(occurrences.requestKey, requestKey)))
      return row
    },

    /** The occurrences of a schedule, newest first. */
    async list(
      scheduleId: ScheduleId,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<OccurrenceRow>> {
      const [moment, id] = cursor === undefined ? [] : decodeCursor(MomentCursor, cursor)
      const rows = await read
        .select(columns)
        .from(occurrences)
        .where(
          and(
            eq(occurrences.scheduleId, scheduleId),
            moment === undefined || id === undefined
              ? undefined
              : afterMoment(occurrences.dueAt, occurrences.id, new Date(moment), id),
          ),
        )
        .orderBy(desc(occurrences.dueAt), desc(occurrences.id))
        .limit(limit + 1)
      return toPage(rows, limit, (last) => [last.dueAt.getTime(), last.id])
    },

    /** The newest occurrence of each of these schedules. */
    async last(ids: readonly ScheduleId[]): Promise<Map<ScheduleId, OccurrenceRow>> {
      if (ids.length === 0) return new Map()
      const newest = sql`${occurrences.id} = (select newest.id from ${occurrences} as newest where newest.schedule_id = ${occurrences.scheduleId} order by newest.due_at desc, newest.id desc limit 1)`
      const rows = await read
        .select(columns)
        .from(occurrences)
        .where(and(inArray(occurrences.scheduleId, [...ids]), newest))
      return new Map(rows.map((row) => [row.scheduleId, row]))
    },

    /** The occurrences of a schedule that have not ended, oldest first. */
    async open(tx: Reader, scheduleId: ScheduleId): Promise<OccurrenceRow[]> {
      return await tx
        .select(columns)
        .from(occurrences)
        .where(and(eq(occurrences.scheduleId, scheduleId), inArray(occurrences.state, OPEN)))
        .orderBy(occurrences.createdAt, occurrences.dueAt, occurrences.id)
    },

    /** The oldest occurrence of the same schedule that waits for its turn. */
    async behind(id: OccurrenceId): Promise<OccurrenceId | undefined> {
      const own = sql`(select ended.schedule_id from ${occurrences} as ended where ended.id = ${id})`
      const [row] = await read
        .select({ id: occurrences.id })
        .from(occurrences)
        .where(
          and(
            eq(occurrences.scheduleId, own),
            eq(occurrences.state, 'waiting'),
            isNull(occurrences.runId),
          ),
        )
        .orderBy(occurrences.createdAt, occurrences.dueAt, occurrences.id)
        .limit(1)
      return row?.id
    },

    /** When the last one ended that had its turn: it ran, or waited in vain to run. */
    async lastTurn(scheduleId: ScheduleId): Promise<Date | null> {
      const [row] = await read
        .select({ endedAt: occurrences.endedAt })
        .from(occurrences)
        .where(
          and(
            eq(occurrences.scheduleId, scheduleId),
            isNotNull(occurrences.endedAt),
            or(
              isNotNull(occurrences.startedAt),
              inArray(occurrences.reason, ['conversation_busy', 'too_many_runs']),
            ),
          ),
        )
        .orderBy(desc(occurrences.endedAt))
        .limit(1)
      return row?.endedAt ?? null
    },

    /** The conversations of a schedule, newest first, each once. */
    async conversations(scheduleId: ScheduleId, skip: number): Promise<ConversationId[]> {
      const rows = await read
        .select({ id: occurrences.conversationId, at: sql`max(${occurrences.createdAt})` })
        .from(occurrences)
        .where(
          and(
            eq(occurrences.scheduleId, scheduleId),
            sql`${occurrences.conversationId} is not null`,
          ),
        )
        .groupBy(occurrences.conversationId)
        .orderBy(desc(sql`2`))
        .limit(100)
        .offset(skip)
      return rows.flatMap(({ id }) => (id === null ? [] : [id]))
    },
  }
}

/** Due times as they come, end and age. */
function writeOccurrences(database: Database, columns: ShortColumns) {
  const { tables } = database
  const { occurrences } = tables
  return {
    /** Inserts an occurrence. False if its due time, or its request, is already stored. */
    async insert(tx: Writer, row: NewOccurrence): Promise<boolean> {
      const inserted = await tx
        .insert(occurrences)
        .values(row)
        .onConflictDoNothing()
        .returning({ id: occurrences.id })
      return inserted.length > 0
    },

    /**
     * Counts a skipped occurrence in the newest one of its schedule, if that was skipped for the same reason and trigger;
     * undefined if it was not. The schedule is locked.
     */
    async countSkipped(
      tx: Writer,
      { scheduleId, trigger, reason, endedAt }: NewOccurrence,
    ): Promise<OccurrenceRow | undefined> {
      const [newest] = await tx
        .select(columns)
        .from(occurrences)
        .where(eq(occurrences.scheduleId, scheduleId))
        .orderBy(desc(occurrences.dueAt), desc(occurrences.id))
        .limit(1)
      if (newest?.state !== 'skipped' || newest.requestKey !== null) return undefined
      if (newest.reason !== reason || newest.trigger !== trigger) return undefined
      const [row] = await tx
        .update(occurrences)
        .set({ count: sql`${occurrences.count} + 1`, endedAt })
        .where(eq(occurrences.id, newest.id))
        .returning(columns)
      return row
    },

    /** Removes those that ended before this time, except the newest `keep` of each schedule. */
    async removeOld(before: Date, keep: number): Promise<void> {
      const beyond = sql`${occurrences.id} in (select ranked.id from (select numbered.id, row_number() over (partition by numbered.schedule_id order by numbered.due_at desc, numbered.id desc) as place from ${occurrences} as numbered) as ranked where ranked.place > ${keep})`
      await database.write(async (tx) => {
        await tx
          .delete(occurrences)
          .where(and(lt(occurrences.endedAt, before), isNull(occurrences.untold), beyond))
      })
    },

    /** Changes an occurrence that has not ended; undefined if it has. */
    async change(
      tx: Writer,
      id: OccurrenceId,
      change: Partial<NewOccurrence>,
    ): Promise<OccurrenceRow | undefined> {
      const [row] = await tx
        .update(occurrences)
        .set(change)
        .where(and(eq(occurrences.id, id), inArray(occurrences.state, OPEN)))
        .returning(columns)
      return row
    },

    /** Inserts occurrences, except those that are stored already. @returns what was inserted. */
    async insertAll(tx: Writer, rows: readonly NewOccurrence[]): Promise<OccurrenceRow[]> {
      const inserted: OccurrenceRow[] = []
      for (const row of rows)
        inserted.push(
          ...(await tx.insert(occurrences).values(row).onConflictDoNothing().returning(columns)),
        )
      return inserted
    },
  }
}
