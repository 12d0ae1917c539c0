// Real databases for tests: each call returns an empty SQLite file or PostgreSQL database of its own.
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, inject } from 'vitest'
import { connect } from '../../../server/db/connect.ts'
import type {
  Database,
  DatabaseSettings,
  Dialect,
  StatementListener,
  StoreLog,
} from '../../../server/db/database.ts'
import { DIALECTS } from './dialects.ts'
import { dropDatabases, emptyDatabase, onServer, withDatabase } from './postgres-server.ts'

/** Where SQLite files are: in memory where there is room, because a test waits for the disk with each commit. */
const sqliteRoot = ((): string => {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > 4 * 1024 ** 3 ? '/dev/shm' : tmpdir()
  } catch {
    return tmpdir()
  }
})()

export const silentLog: StoreLog = { info() {}, warn() {} }

export type OpenOptions = { onStatement?: StatementListener; log?: StoreLog }

export type FreshDatabases = {
  /** Settings of a new database: on SQLite the file does not exist yet, on PostgreSQL it has its tables. */
  settings(dialect: Dialect): Promise<DatabaseSettings>
  /** Settings of an empty database that has its tables; on PostgreSQL, earlier tests may have used it. */
  migrated(dialect: Dialect): Promise<DatabaseSettings>
  /** Connects to a database from `settings`; may be called several times for the same one. */
  connect(settings: DatabaseSettings, options?: OpenOptions): Promise<Database>
  /** Creates a migrated, empty database and connects to it. */
  open(dialect: Dialect, options?: OpenOptions): Promise<Database>
}

/**
 * URLs of PostgreSQL databases that are empty again. Emptying one takes 21 ms of processor time, creating and dropping
 * another 117 ms and two checkpoints (means of 20, load 1).
 */
const unused: string[] = []

const postgres = (url: string): DatabaseSettings => ({
  dialect: 'postgres',
  connection: { url },
  poolSize: 4,
})

async function createPostgresDatabase(): Promise<string> {
  const { url, template, copyClause } = inject('postgres')
  // The global setup drops every database whose name begins with that of the template.
  const name = `${template}_${randomUUID().replaceAll('-', '')}`
  await onServer(url, `create database ${name} template ${template} ${copyClause}`)
  // No test ends this server, so that nothing is lost; a commit takes 0.2 instead of 4 ms on a slow disk.
  await onServer(url, `alter database ${name} set synchronous_commit = off`)
  return withDatabase(url, name)
}

/** Call at the top of a file or inside `describe`; its databases are closed and removed or emptied after the last test there. */
export function useDatabases(): FreshDatabases {
  const connected: Database[] = []
  const remove: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const database of connected) await database.close()
    // In parallel, because PostgreSQL writes a checkpoint for each database that is dropped by itself.
    await Promise.all(remove.map((step) => step()))
  })

  function sqliteFile(): string {
    const folder = mkdtempSync(join(sqliteRoot, 'nanoclaw-test-'))
    remove.push(async () => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'nanoclaw.db')
  }

  async function settings(dialect: Dialect): Promise<DatabaseSettings> {
    if (dialect === 'sqlite') return { dialect, file: sqliteFile() }
    const url = await createPostgresDatabase()
    const name = new URL(url).pathname.slice(1)
    remove.push(() => dropDatabases(inject('postgres').url, name))
    return postgres(url)
  }

  async function migrated(dialect: Dialect): Promise<DatabaseSettings> {
    if (dialect === 'sqlite') {
      const file = sqliteFile()
      copyFileSync(inject('sqliteTemplate'), file)
      return { dialect, file }
    }
    const url = unused.pop() ?? (await createPostgresDatabase())
    remove.push(async () => {
      await emptyDatabase(url)
      unused.push(url)
    })
    return postgres(url)
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
    migrated,
    connect: connectTo,
    open: async (dialect, options) => connectTo(await migrated(dialect), options),
  }
}

/** Runs the same suite on SQLite and on PostgreSQL. Each call of `open` creates a new database. */
export function describeOnEachDatabase(
  name: string,
  suite: (open: (options?: OpenOptions) => Promise<Database>, dialect: Dialect) => void,
): void {
  for (const dialect of DIALECTS)
    describe(`${name} (${dialect})`, () => {
      const { open } = useDatabases()
      suite((options) => open(dialect, options), dialect)
    })
}
