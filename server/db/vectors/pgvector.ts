// Vector comparison inside PostgreSQL, where its pgvector extension is available: a table beside those of the
// migrations.
import pg from 'pg'
import { errorText } from '../../errors.ts'

const STATEMENTS = [
  `create table if not exists passage_embeddings (
     passage_id bigint primary key references passages (id) on delete cascade,
     project_id text not null,
     model text not null,
     embedding vector not null)`,
  `create index if not exists passage_embeddings_project on passage_embeddings (project_id, model)`,
]
/** The key of the advisory lock: "nanp" in ASCII, next to that of the migrations. */
const ADVISORY_LOCK = 0x6e616e70

/** Creates what pgvector needs. Returns null on success, otherwise why it cannot be used. */
export async function preparePgvector(config: pg.ClientConfig): Promise<string | null> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 5_000, query_timeout: 8_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK])
    await client.query('set local client_min_messages = warning')
    await client.query('create extension if not exists vector')
    for (const statement of STATEMENTS) await client.query(statement)
    await client.query('commit')
    return null
  } catch (error) {
    return errorText(error)
  } finally {
    await client.end().catch(() => {})
  }
}
