// The 'stream' figures that depend on the database: PostgreSQL compared with SQLite, and startup with a large database.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { connect } from '../server/db/connect.ts'
import type { DatabaseSettings } from '../server/db/database.ts'
import { createStore } from '../server/db/store.ts'
import { makeCopies } from '../tests/support/store/copies.ts'
import { say } from '../tests/support/store/store-rows.ts'
import { type Contender, prepareSends, product, runStreams, startProduct } from './contenders.ts'
import { onPostgres } from './postgres.ts'
import { cpuSecondsOf, type Measured, startProgram } from './processes/start.ts'
import { median, ofRounds, type Row } from './row.ts'
import { stream } from './stream-client.ts'

const AT_ONCE = 8
/** A round takes a tenth of a second on a fast machine. */
const ROUNDS = 15
const FIRST_TOKENS = 100
/** V8 compiles the code of a send meanwhile. */
const WARM_UP_SENDS = 2_000
const SENDS = 400
const CPU_ROUNDS = 7
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
    row('PostgreSQL: tokens/s, 8 at once, 2000 tokens', median(speeds), '× SQLite', '–', true),
    row(
      `PostgreSQL: speed of the first token (${median(times[1]).toFixed(1)} ms)`,
      quickness,
      '× SQLite',
      '–',
      true,
    ),
  ]
}

/** Milliseconds of CPU time between two readings in seconds, for each of `SENDS`. */
const perSend = (before: number, after: number): number => ((after - before) / SENDS) * 1000

/** The CPU time of a send: of both servers, and of the processes of PostgreSQL that the second one is connected to. */
async function compareCpu(sqlite: Contender, postgres: Contender, url: string): Promise<Row[]> {
  for (const one of [sqlite, postgres]) await (await prepareSends(one, WARM_UP_SENDS, AT_ONCE))()
  const backends = await backendsOf(url)
  const backendSeconds = (): number => backends.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0)
  const ratios: number[] = []
  const ofBackends: number[] = []
  for (let round = 0; round < CPU_ROUNDS; round += 1) {
    const costs: number[] = []
    for (const one of [sqlite, postgres]) {
      const sends = await prepareSends(one, SENDS, AT_ONCE)
      const [own, others] = [one.process.cpuSeconds(), backendSeconds()]
      await sends()
      costs.push(perSend(own, one.process.cpuSeconds()))
      if (one === postgres) ofBackends.push(perSend(others, backendSeconds()))
    }
    const [onFile = Number.NaN, onServer = Number.NaN] = costs
    ratios.push(onServer / onFile)
  }
  return [
    {
      ...row('PostgreSQL: CPU of the server per send', 0, '× SQLite', '≤ 1.1', false),
      ...ofRounds(ratios),
      ok: median(ratios) <= 1.1,
    },
    {
      ...row('PostgreSQL: CPU of its own processes per send', 0, 'ms', '–', true),
      ...ofRounds(ofBackends),
    },
  ]
}

/** The processes of PostgreSQL that serve the connections to this database. */
async function backendsOf(url: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number }>(
      'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    return rows.map(({ pid }) => pid)
  } finally {
    await client.end()
  }
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
    const [sqlite, postgres] = [product(onFile), product(onServer)]
    const rows = await compare(sqlite, postgres)
    rows.push(...(await compareCpu(sqlite, postgres, url)))
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
