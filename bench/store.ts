// Measures listing and paging in a large database, and the overhead of a request over its query.
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createServer } from '../server/app.ts'
import { parseConfig } from '../server/config/load.ts'
import { connect } from '../server/db/connect.ts'
import type { Database, DatabaseSettings } from '../server/db/database.ts'
import { createStore, type Store } from '../server/db/store.ts'
import { SqliteClient } from '../server/lib/sqlite-driver.ts'
import type { ConversationId, MessageId, UserId } from '../server/protocol/ids.ts'
import { laterByCopy, makeCopies } from '../tests/support/store/copies.ts'
import { onConnection } from '../tests/support/store/explain.ts'
import { say } from '../tests/support/store/store-rows.ts'
import { onPostgres } from './postgres.ts'
import { median, type Row } from './row.ts'

const rounds = 400
const log = { info() {}, warn() {} }

type Action = () => Promise<unknown>

/** Median milliseconds of two actions, measured in alternation. The first tenth is warm-up. */
async function compare(one: Action, other: Action): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1)
    for (const [at, action] of [one, other].entries()) {
      const began = performance.now()
      await action()
      if (round >= rounds / 10) times[at]?.push(performance.now() - began)
    }
  return [median(times[0]), median(times[1])]
}

const ratioRow = (figure: string, limit: number, [value, base]: [number, number]): Row => ({
  suite: 'store',
  figure: `${figure} (${base.toFixed(2)} ms)`,
  target: `≤ ${limit} ×`,
  value: value / base,
  unit: '×',
  ok: value / base <= limit,
})

type Filled = {
  userId: UserId
  conversationId: ConversationId
  leaf: MessageId
}

/** Creates a user with this many conversations, one with this many messages in one branch. */
async function fill(
  settings: DatabaseSettings,
  database: Database,
  store: Store,
  user: { id: UserId; username: string },
  [conversations, messages]: [number, number],
): Promise<Filled> {
  const seed = await store.conversations.create(user.id, { title: 'A conversation like any other' })
  const name = user.username
  await makeCopies(settings, database.tables.conversations, seed, conversations - 1, {
    id: `'${name}-' || n.i`,
    updated_at: laterByCopy(settings, 'updated_at'),
  })
  const root = await say(database, seed.id, 'A message of some length. '.repeat(10), null)
  await makeCopies(settings, database.tables.messages, { id: root }, messages - 1, {
    // Far from the row numbers that the database assigns.
    row: `n.i + original."row" * 1000000`,
    id: `'${name}-m' || n.i`,
    parent_id: `case when n.i = 1 then original.id else '${name}-m' || (n.i - 1) end`,
  })
  // The id of the last message that the statement above inserted.
  return { userId: user.id, conversationId: seed.id, leaf: `${name}-m${messages - 1}` as MessageId }
}

/** Compares a large and a small account in one database. */
async function growth(settings: DatabaseSettings): Promise<Row[]> {
  const database = await connect(settings, { log })
  try {
    const store = createStore(database)
    const [large, small] = [
      await store.users.ensureDefault('default'),
      await store.users.register({ username: 'small', passwordHash: null }, async () => ({
        role: 'user',
      })),
    ]
    const much = await fill(settings, database, store, large, [100_000, 10_000])
    const little = await fill(settings, database, store, small, [100, 100])
    await onConnection(settings, 'analyze')
    const list = (of: Filled) => () => store.conversations.list(of.userId, { limit: 50 })
    const page = (of: Filled) => () =>
      store.messages.page(of.conversationId, of.leaf, { limit: 50 })
    const { dialect } = settings
    return [
      ratioRow(
        `page of conversations, 100,000 vs. 100 stored, ${dialect}`,
        1.5,
        await compare(list(much), list(little)),
      ),
      ratioRow(
        `page of messages, 10,000 vs. 100 stored, ${dialect}`,
        1.5,
        await compare(page(much), page(little)),
      ),
    ]
  } finally {
    await database.close()
  }
}

/** The query of a page of conversations, run by the driver alone. */
async function bareQuery(file: string): Promise<{ ask: () => unknown[]; close: () => void }> {
  let captured: { sql: string; values: unknown[] } | undefined
  const database = await connect(
    { dialect: 'sqlite', file },
    {
      log,
      onStatement: (sql, values) => {
        captured = { sql, values }
      },
    },
  )
  const store = createStore(database)
  const user = await store.users.ensureDefault('default')
  await store.conversations.list(user.id, { limit: 50 })
  await database.close()
  if (captured === undefined) throw new Error('No statement was captured.')
  const { sql, values } = captured
  const client = new SqliteClient(file, { readonly: true })
  const statement = client.prepare(sql)
  return { ask: () => statement.all(...values), close: () => client.close() }
}

/**
 * Measures a request for that page over a keep-alive connection. The server runs in this process, because on a busy
 * machine the scheduling of another process would dominate the result.
 */
async function request(file: string, folder: string): Promise<Row[]> {
  const config = parseConfig(
    JSON.stringify({
      db_sqlite_file: file,
      data_dir: join(folder, 'data'),
      workspace_root: join(folder, 'workspaces'),
    }),
    {},
  )
  const server = await createServer({
    config,
    log: pino({ level: 'info' }, { write() {} }),
    webRoot: join(folder, 'web'),
  })
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.app.server.address() as AddressInfo // a TCP server has an address object
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const bare = await bareQuery(file)
  const fetchPage = () =>
    new Promise<void>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: '/api/conversations?limit=50', agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
        response.resume().on('end', resolve)
      }).on('error', reject)
    })
  try {
    const times = await compare(fetchPage, async () => bare.ask())
    return [ratioRow('request for a page vs. its bare query', 3, times)]
  } finally {
    agent.destroy()
    bare.close()
    await server.close()
  }
}

/** Runs the suite on both databases. */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-bench-'))
  try {
    const file = join(folder, 'store.db')
    return [
      ...(await growth({ dialect: 'sqlite', file })),
      ...(await onPostgres(async (newDatabase) =>
        growth({ dialect: 'postgres', connection: { url: await newDatabase() } }),
      )),
      ...(await request(file, folder)),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
