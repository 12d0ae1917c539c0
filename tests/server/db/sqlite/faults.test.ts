// SQLite under external faults: a lock held by another program, a full disk, killed writers.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { connect } from '../../../../server/db/connect.ts'
import type { Database, SqliteSettings } from '../../../../server/db/database.ts'
import { createStore } from '../../../../server/db/store.ts'
import { SqliteClient } from '../../../../server/lib/sqlite-driver.ts'
import { builtProgram } from '../../../support/built-programs.ts'
import { silentLog, useDatabases } from '../../../support/store/databases.ts'
import { smallDisk } from '../../../support/store/small-disk.ts'
import { somebody } from '../../../support/store/store-rows.ts'

const integrity = (file: string): unknown => {
  const client = new SqliteClient(file)
  try {
    return client.pragma('integrity_check', { simple: true })
  } finally {
    client.close()
  }
}

describe('a lock held by another program', () => {
  const databases = useDatabases()

  async function locked(
    busyTimeout?: number,
  ): Promise<{ database: Database; file: string; release: () => void }> {
    const settings = await databases.settings('sqlite')
    if (settings.dialect !== 'sqlite') throw new Error('asked for SQLite')
    const { file } = settings
    const changed: SqliteSettings =
      busyTimeout === undefined ? settings : { ...settings, busyTimeout }
    const database = await databases.connect(changed)
    const foreign = new SqliteClient(file)
    foreign.exec('begin immediate')
    return {
      database,
      file,
      release: () => {
        foreign.exec('commit')
        foreign.close()
      },
    }
  }

  test('delays fifty writes until it is released, while reads continue', async () => {
    const { database, file, release } = await locked()
    const store = createStore(database)
    let settled = 0
    const writes = Array.from({ length: 50 }, (_, n) =>
      somebody(store, `user-${n}`).finally(() => {
        settled += 1
      }),
    )
    // While all of them wait, the event loop keeps turning and reads return.
    for (let turns = 0; turns < 100; turns += 1) {
      expect(await store.users.count()).toBe(0)
      await turn()
    }
    expect(settled).toBe(0)
    release()
    await Promise.all(writes)
    expect(await store.users.count()).toBe(50)
    expect(integrity(file)).toBe('ok')
  })

  test('that lasts too long makes writes fail with 503 and Retry-After, and later writes succeed', async () => {
    const { database, release } = await locked(100)
    const store = createStore(database)
    const refused = await Promise.allSettled([somebody(store, 'one'), somebody(store, 'two')])
    for (const result of refused)
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { code: 'store_busy', status: 503, retryable: true, retryAfter: 5 },
      })
    expect(await store.users.count()).toBe(0)
    release()
    await somebody(store, 'three')
    expect(await store.users.count()).toBe(1)
  })
})

describe('a full disk', () => {
  const undo: (() => Promise<void> | void)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  test('fails writes with 507, still allows reads, and needs no restart once there is space again', async (context) => {
    const disk = smallDisk(4_096)
    if (disk === null) return context.skip('mounting a small file system is not allowed here')
    undo.push(disk.unmount)
    const file = join(disk.folder, 'store.db')
    const database = await connect({ dialect: 'sqlite', file }, { log: silentLog })
    undo.push(() => database.close())
    const store = createStore(database)
    const user = await somebody(store)

    disk.fill()
    const stored: string[] = []
    let refusal: unknown
    for (let n = 0; refusal === undefined && n < 100; n += 1) {
      const content = `${n} `.repeat(20_000)
      await store.settings.store(`key-${n}`, content).then(
        () => stored.push(`key-${n}`),
        (error: unknown) => {
          refusal = error
        },
      )
    }
    expect(refusal).toMatchObject({ code: 'store_full', status: 507 })
    expect(await store.users.find(user.id)).toEqual(user)

    disk.free()
    await store.settings.store('after', 'there is room again')
    const { settings } = database.tables
    const keys = await database.read.select({ key: settings.key }).from(settings)
    expect(keys.map(({ key }) => key).toSorted()).toEqual([...stored, 'after'].toSorted())
    expect(integrity(file)).toBe('ok')
  })
})

describe('a long queue of writes', () => {
  const databases = useDatabases()

  test('does not block the event loop', async () => {
    const store = createStore(await databases.open('sqlite'))
    let turns = 0
    let writing = true
    const count = (): void => {
      turns += 1
      if (writing) setImmediate(count)
    }
    setImmediate(count)
    await Promise.all(Array.from({ length: 300 }, (_, n) => store.settings.store(`key-${n}`, n)))
    writing = false
    expect(turns).toBeGreaterThan(3)
  })
})

/** Runs each writer as a process on the same file, kills it, and returns the keys of all acknowledged writes. */
async function killedWriters(file: string, names: string[], enough: number): Promise<string[]> {
  const acknowledged: string[] = []
  await Promise.all(
    names.map(async (name) => {
      const child = spawn(process.execPath, [...builtProgram('store/store-writer'), file, name], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let own = 0
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.push(line)
        own += 1
        // Lines already in the pipe still arrive, and they count as acknowledged.
        if (own === enough) child.kill('SIGKILL')
      }
    }),
  )
  return acknowledged
}

describe('several processes on one file', () => {
  const databases = useDatabases()

  test('that start together, write concurrently and are killed lose nothing that was acknowledged', async () => {
    const settings = await databases.settings('sqlite')
    if (settings.dialect !== 'sqlite') throw new Error('asked for SQLite')
    // The file does not exist yet: all three create it and its tables at the same time.
    const acknowledged = await killedWriters(settings.file, ['one', 'two', 'three'], 40)
    expect(acknowledged.length).toBeGreaterThanOrEqual(120)
    expect(integrity(settings.file)).toBe('ok')
    const database = await databases.connect(settings)
    const rows = await database.read.select().from(database.tables.settings)
    const stored = new Set(rows.map(({ key }) => key))
    expect(acknowledged.filter((key) => !stored.has(key))).toEqual([])
  })
})
