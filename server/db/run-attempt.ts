// The fence of a run: which attempt may write, as a condition of the statement that writes.
import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { RunId } from '../protocol/ids.ts'
import type { Database } from './database.ts'

/** One attempt at a run: it may write until it ends the run, another instance does, or a later attempt begins. */
export type RunAttempt = { id: RunId; attempt: number }

/** Thrown when an attempt may no longer write: its run has ended, was deleted, or a later attempt has begun. */
export class RunOver extends Error {
  constructor() {
    super('This attempt of the run may no longer write.')
    this.name = 'RunOver'
  }
}

/**
 * A condition for a statement that writes on behalf of an attempt. It locks the run until the transaction ends, so that a
 * later attempt begins either before the statement, which then writes nothing, or after its transaction is stored. (SQLite
 * has one writer at a time.)
 */
export const createAttemptFence = ({
  dialect,
  tables: { runs },
}: Pick<Database, 'dialect' | 'tables'>) => {
  const lock = sql.raw(dialect === 'postgres' ? ' for no key update' : '')
  return (id: RunId | Placeholder, attempt: number | Placeholder): SQL =>
    sql`exists (select 1 from ${runs} where ${runs.id} = ${id} and ${runs.attempt} = ${attempt}${lock})`
}

/** @throws RunOver when a fenced statement has written nothing. */
export function assertWritten(rows: readonly unknown[]): void {
  if (rows.length === 0) throw new RunOver()
}
