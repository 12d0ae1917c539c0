// Connecting to a database: what a start finds, creates and refuses, on both databases.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connect } from '../../../server/db/connect.ts'
import type { SqliteSettings } from '../../../server/db/database.ts'
import { pendingMigrations } from '../../../server/db/migrate.ts'
import { createStore } from '../../../server/db/store.ts'
import { silentLog, useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { onConnection } from '../../support/store/explain.ts'
import { somebody } from '../../support/store/store-rows.ts'

const journal = '__drizzle_migrations'

describe.each(DIALECTS)('connecting (%s)', (dialect) => {
  const databases = useDatabases()

  test('four instances that start at once on an empty database all start', async () => {
    const settings = await databases.settings(dialect)
    if (dialect === 'postgres')
      await onConnection(settings, 'drop schema public cascade; create schema public')
    const started = await Promise.all(Array.from({ length: 4 }, () => databases.connect(settings)))
    const users = await Promise.all(started.map((database) => somebody(createStore(database))))
    expect(users.filter(({ role }) => role === 'admin')).toHaveLength(1)
    const noted = await onConnection(settings, `select created_at from ${journal}`)
    expect(noted.map((row) => Number(row.created_at))).toEqual(
      pendingMigrations(dialect, []).map(({ folderMillis }) => folderMillis),
    )
  })

  test('starting again keeps everything', async () => {
    const settings = await databases.settings(dialect)
    const first = await connect(settings, { log: silentLog })
    const user = await somebody(createStore(first))
    await first.close()
    const second = await databases.connect(settings)
    expect(await createStore(second).users.find(user.id)).toEqual(user)
  })

  test('a database of a newer version is refused and not changed', async () => {
    const settings = await databases.settings(dialect)
    await (await connect(settings, { log: silentLog })).close()
    const known = await onConnection(settings, `select * from ${journal}`)
    await onConnection(
      settings,
      `insert into ${journal} (hash, created_at) values ('newer', 9999999999999)`,
    )
    await expect(connect(settings, { log: silentLog })).rejects.toThrow(/newer version/)
    expect(await onConnection(settings, `select * from ${journal}`)).toHaveLength(known.length + 1)
  })
})

describe('a SQLite file', () => {
  const databases = useDatabases()
  const settingsOf = async (): Promise<SqliteSettings> => {
    const settings = await databases.settings('sqlite')
    if (settings.dialect !== 'sqlite') throw new Error('asked for SQLite')
    return settings
  }

  test('is readable by its owner only, and so is the folder created for it', async () => {
    const { file } = await settingsOf()
    const nested = join(dirname(file), 'made', 'store.db')
    const database = await databases.connect({ dialect: 'sqlite', file: nested })
    await somebody(createStore(database))
    expect(statSync(dirname(nested)).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(dirname(nested)))
      expect(statSync(join(dirname(nested), name)).mode & 0o077, name).toBe(0)
  })

  test('with data is copied before its tables are migrated, and the log names the copy', async () => {
    const settings = await settingsOf()
    const before = await connect(settings, { log: silentLog })
    const user = await somebody(createStore(before))
    await before.close()
    // The tables exist, but the journal lists no migration, so that all of them run again and fail.
    await onConnection(settings, `delete from ${journal}`)
    const logged: object[] = []
    await expect(
      connect(settings, { log: { info: (details) => logged.push(details), warn() {} } }),
    ).rejects.toMatchObject({ code: 'store_unavailable' })
    const [{ copy }] = logged as [{ copy: string }]
    expect(dirname(copy)).toBe(dirname(settings.file))
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    const copied = { dialect: 'sqlite', file: copy } as const
    expect(await onConnection(copied, 'select id from users')).toEqual([{ id: user.id }])
    // The failed migration left nothing behind.
    expect(await onConnection(settings, `select * from ${journal}`)).toEqual([])
    expect(await onConnection(settings, 'pragma integrity_check')).toEqual([
      { integrity_check: 'ok' },
    ])
  })

  test('that is not a database is refused by name and not changed', async () => {
    const { file } = await settingsOf()
    mkdirSync(dirname(file), { recursive: true })
    const text = 'This is a shopping list, not a database. '.repeat(200)
    writeFileSync(file, text)
    const refused = connect({ dialect: 'sqlite', file }, { log: silentLog })
    await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(refused).rejects.toThrow(file)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('below a file instead of a folder is refused by name', async () => {
    const { file } = await settingsOf()
    writeFileSync(file, '')
    const impossible = join(file, 'store.db')
    await expect(
      connect({ dialect: 'sqlite', file: impossible }, { log: silentLog }),
    ).rejects.toThrow(impossible)
    expect(existsSync(impossible)).toBe(false)
  })
})

describe('a PostgreSQL server', () => {
  test('that cannot be reached ends the start with a clear error', async () => {
    const connection = { url: 'postgres://nobody:secret-word@127.0.0.1:1/none' }
    const refused = connect({ dialect: 'postgres', connection }, { log: silentLog })
    await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(refused).rejects.toThrow(/PostgreSQL cannot be used: .*ECONNREFUSED/)
    await expect(refused).rejects.not.toThrow(/secret-word/)
  })

  test('that accepts connections but never responds also ends the start with a clear error', async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const address = silent.address()
    if (address === null || typeof address === 'string') throw new Error('not listening')
    const connection = { url: `postgres://nobody@127.0.0.1:${address.port}/none` }
    await expect(
      connect({ dialect: 'postgres', connection }, { log: silentLog }),
    ).rejects.toMatchObject({ code: 'store_unavailable' })
    silent.close()
  })
})
