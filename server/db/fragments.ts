// Pieces of queries that both databases understand alike.
import { type Column, type Placeholder, type SQL, sql } from 'drizzle-orm'

/** Rows that come after a place in a list ordered newest first, by a moment and then by id. */
export const afterMoment = (
  moment: Column,
  id: Column,
  lastMoment: Date | Placeholder,
  lastId: string | Placeholder,
): SQL => sql`(${moment}, ${id}) < (${sql.param(lastMoment, moment)}, ${sql.param(lastId, id)})`

/** Text that was folded by `foldCase` contains what a person typed. @param pattern made by `foldedPattern`. */
export const containsFolded = (folded: Column, pattern: string | Placeholder): SQL =>
  sql`${folded} like ${pattern} escape '\\'`

/** What a person typed as a pattern of `like`: nothing typed is a wildcard. */
export const foldedPattern = (typed: string): string =>
  `%${foldCase(typed).replaceAll(/[\\%_]/g, '\\$&')}%`

/** The databases fold differently (SQLite ASCII only), so we do it. */
export const foldCase = (text: string): string => text.normalize('NFKC').toLowerCase()

/** `count(*)` as a number on both. */
export const countAll = sql`count(*)`.mapWith(Number)

/**
 * Statements put together once for each shape that is asked for, for queries that every request runs.
 * @param make gets the shape and a name for the statement that is unique to it.
 */
export function prepareOnce<Shape extends object, Statement>(
  name: string,
  make: (shape: Shape, name: string) => Statement,
): (shape: Shape) => Statement {
  const made = new Map<string, Statement>()
  return (shape) => {
    const key = Object.values(shape).join()
    const found = made.get(key)
    if (found !== undefined) return found
    const statement = make(shape, `${name} ${key}`)
    made.set(key, statement)
    return statement
  }
}
