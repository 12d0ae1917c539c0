// Measures the search in a large database: one million messages, or NANOCLAW_BENCH_MESSAGES.

import pg from 'pg'
import { connect } from '../server/db/connect.ts'
import type { Database, DatabaseSettings, Dialect } from '../server/db/database.ts'
import { PROGRESS_KEYS } from '../server/db/search-progress.ts'
import { createStore } from '../server/db/store.ts'
import { SqliteClient } from '../server/lib/sqlite-driver.ts'
import type { UserId } from '../server/protocol/ids.ts'
import { createIndexProgress } from '../server/search/progress.ts'
import { createSearch } from '../server/search/search.ts'
import { median, percentile, type Row } from './row.ts'
import {
  fillForSearch,
  indexBytes,
  indexParts,
  queriesOf,
  type Vocabulary,
  vocabularyOf,
} from './search-texts.ts'

const MESSAGES = Number(process.env.NANOCLAW_BENCH_MESSAGES ?? 1_000_000)
const ROUNDS = 3
const LIMIT = 20
const log = { info() {}, warn() {} }

/** Statements as the search sends them, run by the driver alone. */
type Driver = { run(sql: string, values: unknown[]): Promise<unknown>; close(): Promise<void> }

async function driverOf(settings: DatabaseSettings): Promise<Driver> {
  if (settings.dialect === 'sqlite') {
    const client = new SqliteClient(settings.file, { readonly: true })
    return {
      run: async (sql, values) => client.prepare(sql).all(...values),
      close: async () => {
        client.close()
      },
    }
  }
  const { connection } = settings
  const client = new pg.Client(
    'url' in connection ? { connectionString: connection.url } : connection,
  )
  await client.connect()
  return { run: (sql, values) => client.query(sql, values), close: () => client.end() }
}

type Timed = { kind: string; find: number; bare: number; hits: number }

async function measure(
  settings: DatabaseSettings,
  userId: UserId,
  vocabulary: Vocabulary,
): Promise<Timed[]> {
  let statements: { sql: string; values: unknown[] }[] = []
  const database = await connect(settings, {
    log,
    onStatement: (sql, values) => statements.push({ sql, values }),
  })
  const driver = await driverOf(settings)
  const timed: Timed[] = []
  try {
    const store = createStore(database)
    // The texts are stored with their single characters.
    await store.settings.store(PROGRESS_KEYS.characters, { from: 0, next: 0 })
    await store.settings.store(PROGRESS_KEYS.words, { from: 0, next: 0 })
    const search = createSearch(store, createIndexProgress(store))
    const queries = queriesOf(vocabulary)
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const { kind, q } of queries) {
        statements = []
        const began = performance.now()
        const { items } = await search.find(userId, { q, limit: LIMIT })
        const found = performance.now()
        for (const { sql, values } of statements) await driver.run(sql, values)
        const bare = performance.now() - found
        // The first round is warm-up.
        if (round > 0) timed.push({ kind, find: found - began, bare, hits: items.length })
      }
    return timed
  } finally {
    await driver.close()
    await database.close()
  }
}

/** Fills a database, measures, and prints the figures of each kind of query. */
export async function measureSearch(
  settings: DatabaseSettings,
  database: Database,
  dialect: Dialect,
): Promise<Row[]> {
  const began = performance.now()
  const vocabulary = vocabularyOf(7)
  const { userId, textBytes } = await fillForSearch(settings, database, vocabulary, MESSAGES)
  console.log(
    `${dialect}: ${MESSAGES} messages, ${Math.round(textBytes / 2 ** 20)} MB of text, stored in ${Math.round((performance.now() - began) / 1000)} s`,
  )
  console.log('  index, MB:', JSON.stringify(await indexParts(settings)))
  const size = (await indexBytes(settings)) / textBytes
  const timed = await measure(settings, userId, vocabulary)
  for (const kind of new Set(timed.map((one) => one.kind))) {
    const some = timed.filter((one) => one.kind === kind)
    const of = (field: 'find' | 'bare', fraction: number): string =>
      percentile(
        some.map((one) => one[field]),
        fraction,
      ).toFixed(1)
    console.log(
      `  ${kind}: p50 ${of('find', 0.5)}, p95 ${of('find', 0.95)} ms; bare ${of('bare', 0.5)}, ${of('bare', 0.95)} ms; ${median(some.map(({ hits }) => hits))} hits`,
    )
  }
  const found = timed.map(({ find }) => find)
  const ratio = median(timed.map(({ find, bare }) => find / bare))
  const p95 = percentile(found, 0.95)
  const row = (figure: string, target: string, value: number, unit: string, ok: boolean): Row => ({
    ...{ suite: 'search', figure: `${figure}, ${dialect}`, target, value, unit, ok },
  })
  return [
    row(`search in ${MESSAGES} messages, p50`, '–', median(found), 'ms', true),
    row('… p95', '≤ 100 ms', p95, 'ms', p95 <= 100),
    row('… its bare queries, p50', '–', median(timed.map(({ bare }) => bare)), 'ms', true),
    row('… vs. its bare queries', '≤ 2 ×', ratio, '×', ratio <= 2),
    row('… size of the index vs. the text', '≤ 0.8 ×', size, '×', size <= 0.8),
  ]
}
