// The 'stream' figures that depend on the database: PostgreSQL compared with SQLite, and startup with a large database.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../server/db/connect.ts'
import type { DatabaseSettings } from '../server/db/database.ts'
import { createStore } from '../server/db/store.ts'
import { makeCopies } from '../tests/support/store/copies.ts'
import { say } from '../tests/support/store/store-rows.ts'
import { type Contender, product, runStreams, startProduct } from './contenders.ts'
import { onPostgres } from './postgres.ts'
import { type Measured, startProgram } from './processes/start.ts'
import { median, type Row } from './row.ts'
import { stream } from './stream-client.ts'

const AT_ONCE = 8
/** A round takes a tenth of a second on a fast machine. */
const ROUNDS = 15
const FIRST_TOKENS = 100
const STORED = 100_000
const models = ['single-2000', 'single-1']

const row = (figure: string, value: number, unit: string, target: string, ok: boolean): Row => ({
  suite: 'stream',
  figure,
  value,
  unit,
  target,
  ok,
})

/** The speed of PostgreSQL relative to SQLite, measured in alternation. */
async function compare(sqlite: Contender, postgres: Contender): Promise<Row[]> {
  const speeds: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const a = await runStreams(sqlite, 'single-2000', AT_ONCE)
    const b = await runStreams(postgres, 'single-2000', AT_ONCE)
    // The first round is warm-up.
    if (round > 0) speeds.push(b.tokensPerSecond / a.tokensPerSecond)
  }
  const times: [number[], number[]] = [[], []]
  for (let at = 0; at < FIRST_TOKENS; at += 1)
    for (const [which, one] of [sqlite, postgres].entries())
      times[which]?.push((await stream(await one.target('single-1'))).firstTokenMs)
  const quickness = median(times[0]) / median(times[1])
  return [
    row(
      'PostgreSQL: tokens/s, 8 at once, 2000 tokens',
      median(speeds),
      '× SQLite',
      '≥ 0.85',
      median(speeds) >= 0.85,
    ),
    row(
      `PostgreSQL: speed of the first token (${median(times[1]).toFixed(1)} ms)`,
      quickness,
      '× SQLite',
      '≥ 0.85',
      quickness >= 0.85,
    ),
  ]
}

/** Fills a database with one user and one long conversation. */
async function fill(settings: DatabaseSettings): Promise<void> {
  const database = await connect(settings, { log: { info() {}, warn() {} } })
  const store = createStore(database)
  const user = await store.users.ensureDefault('default')
  const { id } = await store.conversations.create(user.id, { title: 'A long conversation' })
  const root = await say(database, id, 'A message of some length. '.repeat(10), null)
  await makeCopies(settings, database.tables.messages, { id: root }, STORED - 1, {
    row: `n.i + original."row" * 1000000`,
    id: `'copy-' || n.i`,
    parent_id: `case when n.i = 1 then original.id else 'copy-' || (n.i - 1) end`,
  })
  await database.close()
}

/** Milliseconds from spawning the process until it is ready. */
async function startWith(folder: string, database: Record<string, unknown>): Promise<number> {
  const server = await startProduct(folder, 1, models, database)
  await server.stop()
  return server.readyAfterMs
}

/** Runs the suite on the built server. */
export const run = (): Promise<Row[]> =>
  onPostgres(async (newDatabase) => measure(await newDatabase()))

async function measure(url: string): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-bench-'))
  const own = { sqlite: join(folder, 'sqlite'), postgres: join(folder, 'postgres') }
  const places = await Promise.all(Object.values(own).map((name) => mkdtemp(`${name}-`)))
  const [onSqlite = folder, inPostgres = folder] = places
  const postgresKeys = { db_type: 'postgresql', database_url: url }
  const started: Measured[] = []
  try {
    const upstream = await startProgram('upstream')
    started.push(upstream)
    const onFile = await startProduct(onSqlite, upstream.port, models)
    started.push(onFile)
    const onServer = await startProduct(inPostgres, upstream.port, models, postgresKeys)
    started.push(onServer)
    const rows = await compare(product(onFile), product(onServer))
    await Promise.all([onFile, onServer].map((server) => server.stop()))
    await fill({ dialect: 'sqlite', file: join(onSqlite, 'data/nanoclaw.db') })
    await fill({ dialect: 'postgres', connection: { url } })
    for (const [dialect, place, keys] of [
      ['SQLite', onSqlite, {}],
      ['PostgreSQL', inPostgres, postgresKeys],
    ] as const) {
      const ms = await startWith(place, keys)
      rows.push(row(`startup with 100,000 messages, ${dialect}`, ms, 'ms', '≤ 3000', ms <= 3000))
    }
    return rows
  } finally {
    await Promise.all(started.map((one) => one.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}
