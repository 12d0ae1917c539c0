// Fills a table with copies of one row, generated inside the database: 100,000 in a second or two.
import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import type { DatabaseSettings } from '../../../server/db/database.ts'
import { onConnection } from './explain.ts'

/**
 * @param changes column name -> SQL expression; `n.i` is the number of the copy, from 1, and `original` is the row.
 * Auto-increment columns must be listed as well.
 */
export async function makeCopies(
  settings: DatabaseSettings,
  table: Table,
  original: { id: string },
  count: number,
  changes: Record<string, string>,
): Promise<void> {
  const names = Object.values(getTableColumns(table)).map(({ name }) => name)
  const quoted = (name: string) => `"${name}"`
  const values = names.map((name) => changes[name] ?? `original.${quoted(name)}`)
  const place = settings.dialect === 'sqlite' ? '?' : '$1'
  await onConnection(
    settings,
    `insert into ${getTableName(table)} (${names.map(quoted).join(', ')})
     with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
     select ${values.join(', ')} from n, ${getTableName(table)} original where original.id = ${place}`,
    [original.id],
  )
}

/** SQL expression for a timestamp column, advanced by the copy's number in milliseconds. */
export const laterByCopy = (settings: DatabaseSettings, column: string): string =>
  settings.dialect === 'sqlite'
    ? `original.${column} + n.i`
    : `original.${column} + n.i * interval '1 millisecond'`
