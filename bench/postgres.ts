// Databases of a benchmark's own on a PostgreSQL server, gone when it ends and also when it fails.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSettings } from '../server/db/database.ts'
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

/** Runs a measurement on an empty SQLite database and then on an empty PostgreSQL one. */
export async function onBothDatabases<Result>(
  measure: (settings: DatabaseSettings) => Promise<Result>,
): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-bench-'))
  try {
    return [
      await measure({ dialect: 'sqlite', file: join(folder, 'store.db') }),
      await onPostgres(async (newDatabase) =>
        measure({ dialect: 'postgres', connection: { url: await newDatabase() } }),
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
