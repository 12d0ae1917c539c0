// Statements for many rows at once, built for a few row counts only.
import { type Placeholder, type SQL, sql, type Table } from 'drizzle-orm'
import type { Reader, Writer } from './database.ts'
import { inParallel, prepareOnce, prepareOnEach, valuesOf } from './fragments.ts'

/** Maximum rows of one statement and ids of one query; their numbers are powers of two. */
const MAX_AT_ONCE = 64

interface Prepared<Result> {
  execute(values: Record<string, unknown>): PromiseLike<Result>
}

/**
 * Inserts rows in as few statements as possible, each for a power of two of rows.
 * @param prepare receives `values (…), (…)` for that many rows of the table, and a name that is unique to their number.
 */
export function prepareInserts<Row extends object>(
  name: string,
  table: Table,
  prepare: (tx: Writer, values: SQL, name: string) => Prepared<unknown>,
): (tx: Writer, rows: readonly Row[]) => Promise<void> {
  const statementFor = prepareOnEach((tx) =>
    prepareOnce(name, ({ count }: { count: number }, unique) => {
      const rows = Array.from(
        { length: count },
        (_, index) => sql`(${valuesOf(table, `_${index}`)})`,
      )
      return prepare(tx, sql`values ${sql.join(rows, sql`, `)}`, unique)
    }),
  )
  return async (tx, rows) => {
    const statements: (() => PromiseLike<unknown>)[] = []
    for (let from = 0; from < rows.length; ) {
      const count = Math.min(MAX_AT_ONCE, 2 ** Math.floor(Math.log2(rows.length - from)))
      const values = rows
        .slice(from, from + count)
        .flatMap((row, index) =>
          Object.entries(row).map(([column, value]) => [`${column}_${index}`, value]),
        )
      statements.push(() => statementFor(tx)({ count }).execute(Object.fromEntries(values)))
      from += count
    }
    await inParallel(...statements)
  }
}

/**
 * Queries for the rows of several ids; the number of ids is filled up to a power of two with the last of them.
 * @param prepare receives placeholders for the ids, and a name that is unique to their number.
 */
export function prepareLookup<Id, Result>(
  name: string,
  prepare: (read: Reader, ids: Placeholder[], name: string) => Prepared<Result[]>,
): (read: Reader, ids: readonly Id[]) => Promise<Result[]> {
  const statementFor = prepareOnEach((read: Reader) =>
    prepareOnce(name, ({ count }: { count: number }, unique) =>
      prepare(
        read,
        Array.from({ length: count }, (_, index) => sql.placeholder(`id_${index}`)),
        unique,
      ),
    ),
  )
  return async (read, ids) => {
    const found: Result[] = []
    for (let from = 0; from < ids.length; from += MAX_AT_ONCE) {
      const some = ids.slice(from, from + MAX_AT_ONCE)
      const count = 2 ** Math.ceil(Math.log2(some.length))
      const values = Array.from({ length: count }, (_, index) => [
        `id_${index}`,
        some[index] ?? some.at(-1),
      ])
      found.push(...(await statementFor(read)({ count }).execute(Object.fromEntries(values))))
    }
    return found
  }
}
