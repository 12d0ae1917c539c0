// Query plans: shows which indexes a database would use for a statement.

import pg from 'pg'
import type { DatabaseSettings } from '../../../server/db/database.ts'
import { SqliteClient } from '../../../server/lib/sqlite-driver.ts'

/** Runs a statement on a separate connection and returns its rows. */
export async function onConnection(
  settings: DatabaseSettings,
  statement: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  if (settings.dialect === 'sqlite') {
    const client = new SqliteClient(settings.file)
    try {
      const prepared = client.prepare<unknown[], Record<string, unknown>>(statement)
      if (prepared.reader) return prepared.all(...values)
      prepared.run(...values)
      return []
    } finally {
      client.close()
    }
  }
  const { connection } = settings
  const client = new pg.Client(
    'url' in connection ? { connectionString: connection.url } : connection,
  )
  await client.connect()
  try {
    return (await client.query(statement, values)).rows
  } finally {
    await client.end()
  }
}

/** The query plan as text, one line per step. */
export async function explain(
  settings: DatabaseSettings,
  statement: string,
  values: unknown[],
): Promise<string> {
  const word = settings.dialect === 'sqlite' ? 'explain query plan' : 'explain'
  const rows = await onConnection(settings, `${word} ${statement}`, values)
  return rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n')
}
