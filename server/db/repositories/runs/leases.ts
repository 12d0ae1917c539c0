// Leases: rights that one instance holds at a time, according to the database's clock alone.
import {
  and,
  asc,
  type Column,
  eq,
  gt,
  inArray,
  isNull,
  lte,
  ne,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { RunId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { RUN_VERSION } from '../../run-version.ts'
import type { StopCause } from '../../tables/runs/runs.ts'

/** A run of this instance that another instance has changed. */
export interface ChangedRun {
  id: RunId
  stopRequested: boolean
  stopCause: StopCause | null
}

/** The lease by which an instance holds all of its runs. */
const ofInstance = (instance: string): string => `instance:${instance}`

/** Whether the lease of the instance that a column names has expired or does not exist. */
export const isGone = (
  { dialect, tables: { leases } }: Pick<Database, 'dialect' | 'tables'>,
  instance: Column,
): SQL =>
  sql`not exists (select 1 from ${leases} as held where held.name = 'instance:' || ${instance} and held.expires_at > ${clock(dialect)})`

/**
 * Whether no living instance holds a run: it was handed over, or the lease of its owner has expired. `owner` is the calling
 * instance; its own runs count as free.
 */
export const isUnheld = (database: Pick<Database, 'dialect' | 'tables'>, owner: string): SQL => {
  const { runs } = database.tables
  return sql`(${runs.owner} is null or ${runs.owner} = ${owner} or ${isGone(database, runs.owner)})`
}

/** The current time of the database, not the time at which the transaction began. */
const clock = (dialect: Database['dialect']): SQL =>
  sql.raw(dialect === 'postgres' ? 'clock_timestamp()' : "(unixepoch('subsec') * 1000)")

/** Work held by an instance becomes free when that instance ends, not after a time. */
const WORK_MS = 30 * 24 * 3_600_000

/** Stores the leases of instances. */
export type LeaseRepository = ReturnType<typeof createLeaseRepository>

/** Uses the tables `approvals`, `leases`, `runInputs` and `runs`. */
export function createLeaseRepository(database: Database) {
  const { read, write, dialect, tables } = database
  const { leases, runs } = tables
  const now = clock(dialect)

  const repository = {
    /** Takes or renews a lease. False while another instance holds it. */
    claim: (name: string, owner: string, ms: number): Promise<boolean> =>
      write(async (tx) => {
        const taken = await tx
          .insert(leases)
          .values({ name, owner, expiresAt: inFuture(database, ms) })
          .onConflictDoUpdate({
            target: leases.name,
            set: { owner, expiresAt: inFuture(database, ms) },
            setWhere: sql`(${leases.owner} = ${owner} or ${leases.expiresAt} <= ${now})`,
          })
          .returning({ name: leases.name })
        return taken.length > 0
      }),

    /** Claims work that an instance does once, for as long as it lives. False while another living instance has it. */
    hold: (name: string, owner: string) => hold(database, name, owner),

    /** Whether an instance still holds what it claimed with `hold`. */
    async isHeld(name: string, owner: string): Promise<boolean> {
      const rows = await read
        .select({ owner: leases.owner })
        .from(leases)
        .where(and(eq(leases.name, name), eq(leases.owner, owner)))
      return rows.length > 0
    },

    /** Releases a lease; another instance may take it at once. */
    release: (name: string, owner: string): Promise<void> =>
      write(async (tx) => {
        await tx.delete(leases).where(and(eq(leases.name, name), eq(leases.owner, owner)))
      }),

    /** Takes or renews the lease of an instance on all of its runs. */
    renew: (instance: string, ms: number): Promise<boolean> =>
      repository.claim(ofInstance(instance), instance, ms),

    leave: (instance: string): Promise<void> => repository.release(ofInstance(instance), instance),

    /** Removes leases that were not renewed for a day. */
    removeStale: (): Promise<void> =>
      write(async (tx) => {
        await tx.delete(leases).where(lte(leases.expiresAt, inFuture(database, -24 * 3_600_000)))
      }),

    /** Other instances whose leases are valid. */
    async others(instance: string): Promise<string[]> {
      const rows = await read
        .select({ owner: leases.owner })
        .from(leases)
        .where(and(sql`${leases.name} like 'instance:%'`, gt(leases.expiresAt, now)))
      return rows.map(({ owner }) => owner).filter((owner) => owner !== instance)
    },

    /** Unfinished runs that no living instance holds, oldest first, and those that `instance` holds itself. */
    unheldRuns: (instance: string) => unheldRuns(database, instance),

    /** The instance whose lease on this run is valid; null when none is. */
    async holderOf(id: RunId): Promise<string | null> {
      const [row] = await read
        .select({ owner: runs.owner })
        .from(runs)
        .where(and(eq(runs.id, id), isNull(runs.endedAt), sql`not ${isUnheld(database, '')}`))
      return row?.owner ?? null
    },

    /** Of the given runs, those that an instance no longer holds, because another one has continued them. */
    async lostRuns(instance: string, ids: readonly RunId[]): Promise<RunId[]> {
      if (ids.length === 0) return []
      const rows = await read
        .select({ id: runs.id })
        .from(runs)
        .where(and(inArray(runs.id, [...ids]), or(isNull(runs.owner), ne(runs.owner, instance))))
      return rows.map(({ id }) => id)
    },

    /** The runs of an instance whose stop was requested, or for whose waiting calls a person has decided. */
    changedRuns: (instance: string) => changedRuns(database, instance),
  }
  return repository
}

async function changedRuns(database: Database, instance: string): Promise<ChangedRun[]> {
  const { read } = database
  const { runs, approvals, runInputs } = database.tables
  // A run that also waits for an answer has the status of what it asked last.
  const isDecided = sql`${runs.status} in ('awaiting_approval', 'awaiting_input') and exists (select 1 from ${approvals} where ${approvals.runId} = ${runs.id} and ${approvals.status} <> 'pending')`
  const isAnswered = sql`exists (select 1 from ${runInputs} where ${runInputs.runId} = ${runs.id} and ${runInputs.answer} is not null)`
  return await read
    .select({ id: runs.id, stopRequested: runs.stopRequested, stopCause: runs.stopCause })
    .from(runs)
    .where(
      and(
        isNull(runs.endedAt),
        eq(runs.owner, instance),
        or(runs.stopRequested, sql`(${isDecided})`, sql`(${isAnswered})`),
      ),
    )
}

function hold(database: Database, name: string, owner: string): Promise<boolean> {
  const { write } = database
  const { leases } = database.tables
  return write(async (tx) => {
    const taken = await tx
      .insert(leases)
      .values({ name, owner, expiresAt: inFuture(database, WORK_MS) })
      .onConflictDoUpdate({
        target: leases.name,
        set: { owner, expiresAt: inFuture(database, WORK_MS) },
        setWhere: sql`(${leases.owner} = ${owner} or ${isGone(database, leases.owner)})`,
      })
      .returning({ name: leases.name })
    return taken.length > 0
  })
}

function inFuture(database: Database, ms: number): SQL {
  const { dialect } = database
  return sql.raw(
    dialect === 'postgres'
      ? `clock_timestamp() + interval '${ms} milliseconds'`
      : `(unixepoch('subsec') * 1000 + ${ms})`,
  )
}

async function unheldRuns(database: Database, instance: string): Promise<RunId[]> {
  const { read } = database
  const { runs } = database.tables
  const rows = await read
    .select({ id: runs.id })
    .from(runs)
    .where(and(isNull(runs.endedAt), lte(runs.version, RUN_VERSION), isUnheld(database, instance)))
    .orderBy(asc(runs.createdAt), asc(runs.id))
  return rows.map(({ id }) => id)
}
