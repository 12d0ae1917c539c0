// Counting the unfinished runs of a user, which every send does.
import { is, type SQL, sql } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from '../../database.ts'

/**
 * The table for a query of the unfinished runs of one user. SQLite has no statistics and would read all runs that the user
 * ever had: a fifth of a millisecond for each thousand of them, twice in a send.
 */
export const fromUnfinishedOfUser = ({ runs }: Pick<Database['tables'], 'runs'>): SQL =>
  is(runs, SQLiteTable) ? sql`${runs} indexed by runs_user_unfinished` : sql`${runs}`
