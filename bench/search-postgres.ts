// The search on PostgreSQL, in a database of its own.
import { connect } from '../server/db/connect.ts'
import { findPostgres, onServer, withDatabase } from '../tests/support/postgres-server.ts'
import type { Row } from './row.ts'
import { measureSearch } from './search.ts'

export async function run(): Promise<Row[]> {
  const server = await findPostgres()
  const name = `nanoclaw_bench_${process.pid}`
  await onServer(server.url, `create database ${name}`)
  const settings = {
    dialect: 'postgres',
    connection: { url: withDatabase(server.url, name) },
    poolSize: 8,
  } as const
  const database = await connect(settings, { log: { info() {}, warn() {} } })
  try {
    return await measureSearch(settings, database, 'postgres')
  } finally {
    await database.close()
    await onServer(server.url, `drop database if exists ${name} with (force)`)
    await server.stop()
  }
}
