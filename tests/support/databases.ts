// Fresh, real databases for tests: a SQLite file or a PostgreSQL database of its own for each call, gone afterwards.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, inject } from 'vitest'
import { connect } from '../../server/db/connect.ts'
import type {
  Database,
  DatabaseSettings,
  Dialect,
  StatementListener,
  StoreLog,
} from '../../server/db/database.ts'
import { onServer, withDatabase } from './postgres-server.ts'

export const silentLog: StoreLog = { info() {}, warn() {} }

export type OpenOptions = { onStatement?: StatementListener; log?: StoreLog }

export type FreshDatabases = {
  /** Where a database of its own is: on SQLite not yet made, on PostgreSQL with its tables. */
  settings(dialect: Dialect): Promise<DatabaseSettings>
  /** Connects to such a place, as often as wanted. */
  connect(settings: DatabaseSettings, options?: OpenOptions): Promise<Database>
  /** A connected, migrated, empty database. */
  open(dialect: Dialect, options?: OpenOptions): Promise<Database>
}

/** Call it at the top of a file or inside `describe`; everything made by it is closed and removed after the last test there. */
export function useDatabases(): FreshDatabases {
  const connected: Database[] = []
  const remove: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const database of connected) await database.close()
    // Together, because PostgreSQL makes a checkpoint for each that is dropped alone.
    await Promise.all(remove.map((step) => step()))
  })

  async function settings(dialect: Dialect): Promise<DatabaseSettings> {
    if (dialect === 'sqlite') {
      const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-test-'))
      remove.push(async () => rmSync(folder, { recursive: true, force: true }))
      return { dialect, file: join(folder, 'nanoclaw.db') }
    }
    const { url, template } = inject('postgres')
    const name = `nanoclaw_test_${randomUUID().replaceAll('-', '')}`
    await onServer(url, `create database ${name} template ${template}`)
    remove.push(() => onServer(url, `drop database if exists ${name} with (force)`))
    return { dialect, connection: { url: withDatabase(url, name) }, poolSize: 4 }
  }

  const connectTo = async (
    place: DatabaseSettings,
    options: OpenOptions = {},
  ): Promise<Database> => {
    const database = await connect(place, { log: silentLog, refuseNestedWrites: true, ...options })
    connected.push(database)
    return database
  }

  return {
    settings,
    connect: connectTo,
    open: async (dialect, options) => connectTo(await settings(dialect), options),
  }
}

/** The same suite on SQLite and on PostgreSQL. `open` gives a fresh database at each call. */
export function describeOnEachDatabase(
  name: string,
  suite: (open: (options?: OpenOptions) => Promise<Database>, dialect: Dialect) => void,
): void {
  for (const dialect of ['sqlite', 'postgres'] as const)
    describe(`${name} (${dialect})`, () => {
      const { open } = useDatabases()
      suite((options) => open(dialect, options), dialect)
    })
}
