// Migrates a PostgreSQL database, one process at a time.
import pg from 'pg'
import { migrationsTable, pendingMigrations } from '../migrate.ts'

/** Any number that no other program would lock in this database. */
const advisoryLock = 0x6e616e6f

/** @param config as for a client; opens and closes a connection of its own. */
export async function migratePostgres(config: pg.ClientConfig): Promise<void> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 5_000 })
  // The next statement reports a lost connection; without a listener the event would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [advisoryLock])
    await client.query('set local client_min_messages = warning')
    await client.query(
      `create table if not exists ${migrationsTable} (id serial primary key, hash text not null, created_at bigint)`,
    )
    const { rows } = await client.query<{ created_at: string }>(
      `select created_at from ${migrationsTable}`,
    )
    const applied = rows.map((row) => Number(row.created_at))
    for (const migration of pendingMigrations('postgres', applied)) {
      for (const statement of migration.sql) await client.query(statement)
      await client.query(`insert into ${migrationsTable} (hash, created_at) values ($1, $2)`, [
        migration.hash,
        migration.folderMillis,
      ])
    }
    await client.query('commit')
  } finally {
    // Closing ends a transaction that is still open.
    await client.end().catch(() => {})
  }
}
