// Measures `nanoclaw move`: one million messages (or NANOCLAW_BENCH_MESSAGES) from SQLite into PostgreSQL, verified, against
// COPY of the same rows into the same table from a file of the database server.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../server/db/connect.ts'
import type { DatabaseSettings } from '../server/db/database.ts'
import { moveDatabase } from '../server/db/move/move.ts'
import { createStore } from '../server/db/store.ts'
import { SqliteClient } from '../server/lib/sqlite-driver.ts'
import { onConnection } from '../tests/support/store/explain.ts'
import { somebody } from '../tests/support/store/store-rows.ts'
import { onPostgres } from './postgres.ts'
import type { Row } from './row.ts'

const MESSAGES = Number(process.env.NANOCLAW_BENCH_MESSAGES ?? 1_000_000)
const CONVERSATION_MESSAGES = 40
const log = { info() {}, warn() {} }
const TABLES = ['users', 'conversations', 'messages']

async function fill(file: string): Promise<void> {
  const database = await connect({ dialect: 'sqlite', file }, { log })
  const store = createStore(database)
  const { id } = await somebody(store)
  const first = await store.conversations.create(id, {})
  await database.close()
  const client = new SqliteClient(file)
  const columns = client
    .prepare("select name from pragma_table_info('conversations') where name <> 'id'")
    .pluck()
    .all()
    .map((name) => `"${name}"`)
    .join(', ')
  client.exec(`
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${Math.ceil(MESSAGES / CONVERSATION_MESSAGES)})
    insert into conversations (id, ${columns}) select 'conversation-' || i, ${columns} from n, conversations where id = '${first.id}';
    with recursive n (i) as (select 0 union all select i + 1 from n where i < ${MESSAGES - 1})
    insert into messages (id, conversation_id, role, text, token_count, status, created_at)
      select lower(hex(randomblob(16))), 'conversation-' || (i / ${CONVERSATION_MESSAGES} + 1), iif(i % 2, 'assistant', 'user'),
        'A heron stands in the water, é, and waits. ' || hex(randomblob(60 + i % 90)), 90, 'complete', 1767225600000 + i from n`)
  client.close()
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1_000
}

/** Loads the rows of one database into another one with COPY alone. @returns the seconds that the messages took. */
async function copyMessages(from: DatabaseSettings, to: DatabaseSettings): Promise<number> {
  await (await connect(to, { log })).close()
  // The database server writes and reads the files.
  const files = TABLES.map((name) => join(tmpdir(), `nanoclaw-bench-${name}-${randomUUID()}`))
  let duration = Number.NaN
  for (const [at, name] of TABLES.entries()) {
    await onConnection(from, `copy ${name} to '${files[at]}' (format binary)`)
    duration = await seconds(() =>
      onConnection(to, `copy ${name} from '${files[at]}' (format binary)`),
    )
    await onConnection(from, `copy (select 1 where false) to '${files[at]}'`)
  }
  return duration
}

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-bench-'))
  try {
    const file = join(folder, 'source.db')
    await fill(file)
    return await onPostgres(async (newDatabase) => {
      const empty = async (): Promise<DatabaseSettings> => ({
        dialect: 'postgres',
        connection: { url: await newDatabase() },
      })
      const target = await empty()
      const move = await seconds(() =>
        moveDatabase({ dialect: 'sqlite', file }, target, { source: 'bench' }),
      )
      const copy = await copyMessages(target, await empty())
      const back = await seconds(() =>
        moveDatabase(target, { dialect: 'sqlite', file: join(folder, 'back.db') }, { source: 'b' }),
      )
      const figure = `move of ${MESSAGES} messages to PostgreSQL, verified`
      return [
        { suite: 'move', figure, target: '–', value: move, unit: 's', ok: true },
        {
          suite: 'move',
          figure: 'COPY of the same rows',
          target: '–',
          value: copy,
          unit: 's',
          ok: true,
        },
        {
          suite: 'move',
          figure: 'move vs. COPY',
          target: '≤ 3 ×',
          value: move / copy,
          unit: '×',
          ok: move / copy <= 3,
        },
        {
          suite: 'move',
          figure: 'the way back to SQLite',
          target: '–',
          value: back,
          unit: 's',
          ok: true,
        },
      ]
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
