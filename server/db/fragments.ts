// Pieces of queries that both databases understand alike.
import { type Column, type SQL, sql } from 'drizzle-orm'

/** Rows that come after `place` in a list ordered newest first, by a moment and then by id. */
export const afterMoment = (
  moment: Column,
  id: Column,
  [milliseconds, lastId]: readonly [number, string],
): SQL =>
  sql`(${moment}, ${id}) < (${sql.param(new Date(milliseconds), moment)}, ${sql.param(lastId, id)})`

/** Text that was folded by `foldCase` contains what a person typed; nothing typed is a wildcard. */
export const containsFolded = (folded: Column, typed: string): SQL =>
  sql`${folded} like ${`%${foldCase(typed).replaceAll(/[\\%_]/g, '\\$&')}%`} escape '\\'`

/** The databases fold differently (SQLite ASCII only), so we do it. */
export const foldCase = (text: string): string => text.normalize('NFKC').toLowerCase()

/** `count(*)` as a number on both. */
export const countAll = sql`count(*)`.mapWith(Number)
