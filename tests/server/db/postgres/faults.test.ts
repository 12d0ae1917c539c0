// PostgreSQL becomes unavailable and returns: requests fail in time, and the server recovers without a restart.
import { connect as connectSocket, createServer, type Socket } from 'node:net'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database, DatabaseSettings } from '../../../../server/db/database.ts'
import { createStore, type Store } from '../../../../server/db/store.ts'
import { useDatabases } from '../../../support/store/databases.ts'
import { onConnection } from '../../../support/store/explain.ts'
import { somebody } from '../../../support/store/store-rows.ts'

const terminateOthers = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

describe('connections that the server ends', () => {
  const databases = useDatabases()
  let settings: DatabaseSettings
  let database: Database
  let store: Store
  beforeAll(async () => {
    settings = await databases.settings('postgres')
    database = await databases.connect(settings)
    store = createStore(database)
  })

  test('are replaced unnoticed when they are idle', async () => {
    await Promise.all(Array.from({ length: 4 }, () => somebody(store)))
    const before = await store.users.count()
    for (let round = 0; round < 3; round += 1) {
      await onConnection(settings, terminateOthers)
      expect(await store.users.count()).toBe(before + round)
      await onConnection(settings, terminateOthers)
      await somebody(store)
    }
  })

  test('fail with 503 only the transaction that used them', async () => {
    const before = await store.users.count()
    const { users } = database.tables
    const failed = database.write(async (tx) => {
      await tx.select().from(users).limit(1)
      await onConnection(settings, terminateOthers)
      await tx.select().from(users).limit(1)
    })
    await expect(failed).rejects.toMatchObject({
      code: 'store_unavailable',
      status: 503,
      retryable: true,
    })
    await somebody(store)
    expect(await store.users.count()).toBe(before + 1)
  })
})

/** A proxy to the server that can stop forwarding, so that the server seems to hang. */
async function createPausableProxy(target: { host: string; port: number }) {
  const sockets = new Set<Socket>()
  let paused = false
  const server = createServer((client) => {
    const upstream = connectSocket(target.port, target.host)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      if (paused) from.pause()
      from.on('data', (bytes) => to.write(bytes))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  const each = (action: (socket: Socket) => void): void => {
    for (const socket of sockets) action(socket)
  }
  return {
    port: address.port,
    pause() {
      paused = true
      each((socket) => socket.pause())
    },
    resume() {
      paused = false
      each((socket) => socket.resume())
    },
    cut: () => each((socket) => socket.resetAndDestroy()),
    close() {
      each((socket) => socket.destroy())
      server.close()
    },
  }
}

describe('a server that does not respond', () => {
  const databases = useDatabases()
  let proxy: Awaited<ReturnType<typeof createPausableProxy>>
  let store: Store
  beforeAll(async () => {
    const settings = await databases.settings('postgres')
    if (settings.dialect !== 'postgres' || !('url' in settings.connection))
      throw new Error('asked for the URL of a PostgreSQL server')
    const url = new URL(settings.connection.url)
    proxy = await createPausableProxy({ host: url.hostname, port: Number(url.port || 5432) })
    url.hostname = '127.0.0.1'
    url.port = String(proxy.port)
    store = createStore(await databases.connect({ ...settings, connection: { url: url.href } }))
  })
  afterAll(() => proxy.close())

  test('makes reads and writes fail with 503 instead of hanging, and they work again when it is back', async () => {
    const user = await somebody(store)
    proxy.pause()
    // More queries than connections: those that wait for a connection fail together with those that have one.
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => [
        store.users.find(user.id),
        store.settings.store(`key-${n}`, n),
      ]).flat<Promise<unknown>[][]>(),
    )
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 'rejected',
        reason: { code: 'store_unavailable', status: 503 },
      })
    proxy.resume()
    expect(await store.users.find(user.id)).toEqual(user)
    await store.settings.store('key', 2)
  })

  test('connections that break in the network are replaced', async () => {
    const user = await somebody(store)
    proxy.cut()
    expect(await store.users.find(user.id)).toEqual(user)
    proxy.cut()
    await store.settings.store('key', 3)
  })
})

describe('a slow read on a healthy server', () => {
  const databases = useDatabases()

  test('returns its result, and so do the queries that wait for a connection meanwhile', async () => {
    const database = await databases.connect(await databases.settings('postgres'))
    const store = createStore(database)
    const user = await somebody(store)
    const { users } = database.tables
    // Each takes longer than the server may be silent before it is probed; more queries than connections in all.
    const slow = Array.from({ length: 3 }, () =>
      database.read
        .select({ id: users.id, slept: sql`pg_sleep(2.5)::text` })
        .from(users)
        .where(eq(users.id, user.id)),
    )
    const quick = Array.from({ length: 20 }, () => store.users.find(user.id))
    expect((await Promise.all(slow)).map((rows) => rows[0]?.id)).toEqual(slow.map(() => user.id))
    expect((await Promise.all(quick)).map((found) => found?.id)).toEqual(quick.map(() => user.id))
  })
})
