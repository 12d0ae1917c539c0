// Migrates a PostgreSQL database, one process at a time.
import pg from 'pg'
import { MIGRATIONS_TABLE, pendingMigrations } from '../migrate.ts'

/** The key of the advisory lock: "nano" in ASCII, which no other program in this database should use. */
const ADVISORY_LOCK = 0x6e616e6f

/**
 * Applies missing migrations in one transaction, over its own connection.
 * @returns how many were applied to the tables of an earlier version; 0 for a new database.
 */
export async function migratePostgres(config: pg.ClientConfig): Promise<number> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 5_000 })
  // The next statement reports a lost connection; without a listener the event would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK])
    await client.query('set local client_min_messages = warning')
    await client.query(
      `create table if not exists ${MIGRATIONS_TABLE} (id serial primary key, hash text not null, created_at bigint)`,
    )
    const { rows } = await client.query<{ created_at: string }>(
      `select created_at from ${MIGRATIONS_TABLE}`,
    )
    const applied = rows.map((row) => Number(row.created_at))
    const pending = pendingMigrations('postgres', applied)
    for (const migration of pending) {
      for (const statement of migration.sql) await client.query(statement)
      await client.query(`insert into ${MIGRATIONS_TABLE} (hash, created_at) values ($1, $2)`, [
        migration.hash,
        migration.folderMillis,
      ])
    }
    await client.query('commit')
    return applied.length === 0 ? 0 : pending.length
  } finally {
    // Closing ends a transaction that is still open.
    await client.end().catch(() => {})
  }
}
