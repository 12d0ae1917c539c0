// Databases of a benchmark's own on a PostgreSQL server, gone when it ends and also when it fails.
import { randomUUID } from 'node:crypto'
import { findPostgres, onServer, withDatabase } from '../tests/support/store/postgres-server.ts'

/**
 * Runs `use` with what creates an empty database and returns its URL. No two calls get the same name, so that what an
 * aborted run left behind is in nobody's way.
 */
export async function onPostgres<Result>(
  use: (newDatabase: () => Promise<string>) => Promise<Result>,
): Promise<Result> {
  const server = await findPostgres()
  const names: string[] = []
  try {
    return await use(async () => {
      const name = `nanoclaw_bench_${randomUUID().replaceAll('-', '')}`
      await onServer(server.url, `create database ${name}`)
      names.push(name)
      return withDatabase(server.url, name)
    })
  } finally {
    for (const name of names) await onServer(server.url, `drop database ${name} with (force)`)
    await server.stop()
  }
}
