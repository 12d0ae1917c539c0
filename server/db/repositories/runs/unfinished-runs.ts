// Counting the unfinished runs of a user, which every send does.
import { is, type SQL, sql } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from '../../database.ts'

/**
 * The table for a query of the unfinished runs of one user. On SQLite, which has no statistics, it names the index:
 * otherwise the query would read all runs that the user ever had, twice in a send.
 */
export const fromUnfinishedOfUser = ({ runs }: Pick<Database['tables'], 'runs'>): SQL =>
  is(runs, SQLiteTable) ? sql`${runs} indexed by runs_user_unfinished` : sql`${runs}`
