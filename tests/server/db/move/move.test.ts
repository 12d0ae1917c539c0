// Moving a database: every table with its values, interrupted moves, targets that are in use or not empty.
import { getTableColumns, getTableName } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { postgresColumns } from '../../../../server/db/columns/postgres.ts'
import type { DatabaseSettings } from '../../../../server/db/database.ts'
import { moveDatabase, openSource } from '../../../../server/db/move/move.ts'
import { DERIVED_TABLES, MOVED_TABLES } from '../../../../server/db/move/moved-tables.ts'
import { defineTables } from '../../../../server/db/tables.ts'
import { SqliteClient } from '../../../../server/lib/sqlite-driver.ts'
import { useDatabases } from '../../../support/store/databases.ts'
import { DIALECTS } from '../../../support/store/dialects.ts'
import { onConnection } from '../../../support/store/explain.ts'

const databases = useDatabases()

test.each(DIALECTS)(
  'every table of the database is moved, or is named as one that is derived again (%s)',
  async (dialect) => {
    const rows = await onConnection(
      await databases.migrated(dialect),
      dialect === 'sqlite'
        ? // Full-text tables have further ones, named after them.
          "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and sql not like '%USING fts5%' and name not like 'search_words_%' and name not like 'passages_index_%'"
        : "select tablename as name from pg_tables where schemaname = 'public'",
    )
    const known = [...MOVED_TABLES.map(({ name }) => name), ...Object.keys(DERIVED_TABLES)]
    const unknown = rows
      .map(({ name }) => String(name))
      .filter((name) => name !== '__drizzle_migrations' && !known.includes(name))
    expect(unknown).toEqual([])
    expect(rows.length).toBeGreaterThan(50)
  },
)

/** Strings that formats of bulk loads treat specially. */
const TEXT = 'é\u2028\t\\N\r\n"\u{1F426}'

/** Two rows in each table: one with a value in every column, and one with as few as possible. The same values refer to each other. */
function fillEveryTable({ file }: Extract<DatabaseSettings, { dialect: 'sqlite' }>): void {
  const client = new SqliteClient(file)
  client.pragma('foreign_keys = off')
  const tables = Object.values(defineTables(postgresColumns))
  for (const table of tables.filter((one) => !Object.hasOwn(DERIVED_TABLES, getTableName(one)))) {
    const { columns } = MOVED_TABLES.find(({ name }) => name === getTableName(table)) ?? {
      columns: [],
    }
    const required = new Set(
      Object.values(getTableColumns(table))
        .filter(({ notNull, primary }) => notNull || primary)
        .map(({ name }) => name),
    )
    const values = {
      text: [TEXT, ''],
      json: ['{"b":1.50,"2":[null,"\\u0000\\ud800"]}', 'null'],
      integer: [2 ** 31 - 1, -1],
      bigInteger: [7, 8],
      real: [0.1 + 0.2, -1.5e300],
      boolean: [1, 0],
      time: [1_767_225_600_123, -1],
      bytes: [Buffer.from([0, 255, 10]), Buffer.alloc(0)],
    } as const
    for (const at of [0, 1])
      client
        .prepare(
          `insert into "${getTableName(table)}" (${columns.map(({ name }) => `"${name}"`).join()}) values (${columns.map(() => '?').join()})`,
        )
        .run(
          columns.map(({ name, kind }) => {
            if (at === 1 && !required.has(name)) return null
            if (name === 'size' && kind === 'bigInteger') return 2 ** 53 - 1
            return values[kind][at]
          }),
        )
  }
  client.pragma('foreign_keys = on')
  expect(client.pragma('foreign_key_check')).toEqual([])
  client.close()
}

async function filled(): Promise<Extract<DatabaseSettings, { dialect: 'sqlite' }>> {
  const source = await databases.migrated('sqlite')
  if (source.dialect !== 'sqlite') throw new Error('not SQLite')
  fillEveryTable(source)
  return source
}

/** All rows of a file as the driver returns them, without those of derived tables. */
const rowsOf = async (settings: DatabaseSettings) =>
  Promise.all(
    MOVED_TABLES.map(async ({ name, columns }) => [
      name,
      await onConnection(
        settings,
        `select ${columns.map((column) => `"${column.name}"`).join()} from "${name}" ${
          name === 'settings' ? "where key not like 'search-%'" : ''
        } order by 1`,
      ),
    ]),
  )

test.each(DIALECTS)(
  'every value of every table is the same after a move and the way back, and numbers continue (%s)',
  async (dialect) => {
    const source = await filled()
    const before = await rowsOf(source)
    const there = await databases.migrated(dialect)
    // How the database shows values unless it is told otherwise: a move must not depend on it.
    if (dialect === 'postgres')
      for (const setting of ["bytea_output = 'escape'", 'extra_float_digits = -9'])
        await onConnection(
          there,
          `do $$ begin execute format('alter database %I set ${setting.replaceAll("'", "''")}', current_database()); end $$`,
        )
    const moved: string[] = []
    const report = await moveDatabase(source, there, {
      source: 'first',
      onTable: (name) => moved.push(name),
    })
    expect(moved).toEqual(MOVED_TABLES.map(({ name }) => name))
    expect(report).toEqual({ tables: moved.length, rows: moved.length * 2, resumed: 0 })
    const back = await databases.settings('sqlite')
    await moveDatabase(there, back, { source: 'second' })
    expect(await rowsOf(back)).toEqual(before)
    expect(await rowsOf(source)).toEqual(before)
    const end = await openSource(there)
    for (const table of MOVED_TABLES.filter(({ counter }) => counter !== undefined))
      expect([table.name, await end.nextNumber(table)]).toEqual([table.name, 9])
    await end.close()
  },
)

test.each(DIALECTS)(
  'an interrupted move continues where it ended, begins anew if the source has changed, and nobody else moves into its target (%s)',
  async (dialect) => {
    const source = await filled()
    const target = await databases.migrated(dialect)
    const interruptedAt = (table: string) =>
      moveDatabase(source, target, {
        source: 'one',
        onTable(name) {
          if (name === table) throw new Error('interrupted')
        },
      })
    await expect(interruptedAt('messages')).rejects.toThrow('interrupted')
    const other = moveDatabase(await filled(), target, { source: 'other' })
    await expect(other).rejects.toThrow(/A move from another database .* was interrupted/)
    const count = MOVED_TABLES.findIndex(({ name }) => name === 'messages')
    expect(await moveDatabase(source, target, { source: 'one' })).toMatchObject({ resumed: count })

    const again = await databases.migrated(dialect)
    const first = moveDatabase(source, again, {
      source: 'one',
      onTable(name) {
        if (name === 'messages') throw new Error('interrupted')
      },
    })
    await expect(first).rejects.toThrow('interrupted')
    await onConnection(source, "update users set avatar = 'changed'")
    expect(await moveDatabase(source, again, { source: 'one' })).toMatchObject({ resumed: 0 })
    const [user] = await onConnection(again, 'select avatar from users')
    expect(user).toEqual({ avatar: 'changed' })
  },
)

test.each(DIALECTS)(
  'a move whose last step failed is completed by a repeated one, which does the last step again (%s)',
  async (dialect) => {
    const source = await databases.migrated('sqlite')
    const target = await databases.migrated(dialect)
    const table = MOVED_TABLES.find(({ name }) => name === 'settings')
    if (table === undefined) throw new Error('no settings')
    let attempts = 0
    const go = () =>
      moveDatabase(source, target, {
        source: 'one',
        async onEnd(write) {
          await write.insert(table, [['last', '1']])
          attempts += 1
          if (attempts === 1) throw new Error('interrupted')
        },
      })
    await expect(go()).rejects.toThrow('interrupted')
    expect(await go()).toMatchObject({ resumed: MOVED_TABLES.length })
    const ended = await onConnection(
      target,
      "select key from settings where key in ('last', 'unfinished_move')",
    )
    expect(ended).toEqual([{ key: 'last' }])
  },
)

test.each(DIALECTS)(
  'a target that contains anything is refused by name and unchanged, and so is a value of the wrong type (%s)',
  async (dialect) => {
    const source = await filled()
    const used = await databases.migrated(dialect)
    await onConnection(used, `insert into settings (key, value) values ('a', '1')`)
    await expect(moveDatabase(source, used, { source: 'one' })).rejects.toThrow(
      /not empty: it has rows in settings\. .*nothing was changed/,
    )
    expect(await onConnection(used, 'select count(*) as rows from users')).toEqual([
      { rows: dialect === 'sqlite' ? 0 : '0' },
    ])
    await onConnection(source, "update steps set position = 'first' where content = ''")
    const target = await databases.migrated(dialect)
    await expect(moveDatabase(source, target, { source: 'one' })).rejects.toThrow(
      /steps\.position contains a value of the wrong type/,
    )
    const [steps] = await onConnection(target, 'select count(*) as rows from steps')
    expect(Number(steps?.rows)).toBe(0)
  },
)
