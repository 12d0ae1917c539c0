// The committed migrations are what the table definition says, and carry a database of the first version along.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import Sqlite from 'better-sqlite3'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import type { DatabaseSettings, Dialect } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import type { ProjectId } from '../../../server/protocol/ids.ts'
import { useDatabases } from '../../support/databases.ts'
import { onConnection } from '../../support/explain.ts'
import { onServer, withDatabase } from '../../support/postgres-server.ts'
import { say, somebody } from '../../support/store-rows.ts'

const root = resolve(import.meta.dirname, '../../..')
const databases = useDatabases()

test('`npm run db:generate` would change nothing', async () => {
  const script = resolve(root, 'scripts/generate-migrations.ts')
  const checked = promisify(execFile)(process.execPath, ['--import', 'tsx', script, '--check'], {
    cwd: root,
  })
  await expect(checked).resolves.toMatchObject({ stderr: '' })
})

const leftovers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const remove of leftovers) await remove()
})

/** An empty database with the tables of the first version and nothing later. */
async function firstVersion(dialect: Dialect): Promise<DatabaseSettings> {
  const migrationsFolder = join(root, 'migrations', dialect)
  const [first] = readMigrationFiles({ migrationsFolder })
  if (first === undefined) throw new Error('there is a first migration')
  const table = '__drizzle_migrations'
  if (dialect === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-migrations-'))
    leftovers.push(async () => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'nanoclaw.db')
    const client = new Sqlite(file)
    for (const statement of first.sql) client.exec(statement)
    client.exec(
      `create table ${table} (id integer primary key, hash text not null, created_at numeric)`,
    )
    client
      .prepare(`insert into ${table} (hash, created_at) values (?, ?)`)
      .run(first.hash, first.folderMillis)
    client.close()
    return { dialect, file }
  }
  const { url } = inject('postgres')
  const name = `nanoclaw_first_${randomUUID().replaceAll('-', '')}`
  await onServer(url, `create database ${name}`)
  leftovers.push(() => onServer(url, `drop database ${name} with (force)`))
  const place = withDatabase(url, name)
  const made = `create table ${table} (id serial primary key, hash text not null, created_at bigint)`
  const noted = `insert into ${table} (hash, created_at) values ('${first.hash}', ${first.folderMillis})`
  for (const statement of [...first.sql, made, noted]) await onServer(place, statement)
  return { dialect, connection: { url: place } }
}

describe.each(['sqlite', 'postgres'] as const)(
  'a database of the first version (%s)',
  (dialect) => {
    test('is migrated with its data, and its vectors are dropped so that they are computed again', async () => {
      const settings = await firstVersion(dialect)
      const vector = `insert into passage_vectors (passage_id, project_id, model, vector) values (1, 'p', 'm', 'AAAA')`
      const unchecked = {
        sqlite: 'pragma foreign_keys = off;',
        postgres: 'set session_replication_role = replica;',
      }
      await onConnection(settings, `insert into settings (key, value) values ('kept', '"yes"')`)
      await runScript(settings, `${unchecked[dialect]} ${vector}`)
      const files = JSON.stringify([
        { path: 'd', change: 'added', before: null, after: { kind: 'directory' } },
        { path: 'd/a', change: 'added', before: null, after: { kind: 'file', hash: 'h', size: 1 } },
      ])
      const checkpoint = `insert into checkpoints (id, project_id, user_id, tool, files, created_at) values ('c', 'p', 'u', 'exec', '${files}', ${{ sqlite: '0', postgres: 'now()' }[dialect]})`
      const owners = [
        `insert into users (id, username, username_key, role, is_active, token_version, created_at) values ('u', 'u', 'u', 'user', ${{ sqlite: '1, 0, 0', postgres: 'true, 0, now()' }[dialect]})`,
        `insert into projects (id, user_id, name, created_at, updated_at) values ('p', 'u', 'p', ${{ sqlite: '0, 0', postgres: 'now(), now()' }[dialect]})`,
      ]
      await runScript(settings, [...owners, checkpoint].join(';'))

      const database = await databases.connect(settings)
      const store = createStore(database)
      expect(await store.settings.get('kept', z.string())).toBe('yes')
      expect(await onConnection(settings, 'select * from passage_vectors')).toEqual([])
      expect(await onConnection(settings, 'select * from sub_agent_events')).toEqual([])
      const [kept] = await store.checkpoints.list('p' as ProjectId, { limit: 1 })
      expect(kept).toMatchObject({ fileCount: 1, sample: [{ path: 'd/a', change: 'added' }] })
      const pages: string[] = []
      for await (const page of store.checkpoints.pages('c'))
        pages.push(...page.map(({ path }) => path))
      expect(pages).toEqual(['d/a', 'd'])
      const user = await somebody(store)
      const conversation = await store.conversations.create(user.id, {})
      await say(database, conversation.id, 'Still here.', null)
      await database.close()

      const again = createStore(await databases.connect(settings))
      expect(await again.conversations.find(user.id, conversation.id)).toMatchObject({
        messageCount: 1,
      })
    })
  },
)

/** Several statements on one connection. */
async function runScript(settings: DatabaseSettings, script: string): Promise<void> {
  if (settings.dialect === 'sqlite') {
    const client = new Sqlite(settings.file)
    client.exec(script)
    client.close()
  } else if ('url' in settings.connection) await onServer(settings.connection.url, script)
}
