// A store has one owner: a second one is refused, a dead one leaves nothing behind, a lost lock pauses effects.
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import { commands } from '../../../server/cli.ts'
import { parseConfig } from '../../../server/config/load.ts'
import type { DatabaseSettings } from '../../../server/db/database.ts'
import { createOwnerEpochRepository } from '../../../server/db/repositories/runs/owner-epochs.ts'
import { checkDatabase } from '../../../server/doctor/checks/database.ts'
import { claimStore, isOwned, type StoreOwner } from '../../../server/owner/owner.ts'
import { useProcesses } from '../../support/server/process.ts'
import { databaseKeys } from '../../support/server/server.ts'
import { silentLog, useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { onServer } from '../../support/store/postgres-server.ts'

const claim = (
  settings: DatabaseSettings,
  options: { onTaken?: () => void } = {},
): Promise<StoreOwner> =>
  claimStore(settings, { instance: 'test', log: silentLog, onTaken() {}, ...options })

describe.each(DIALECTS)('the owner of a store (%s)', (dialect) => {
  const databases = useDatabases()
  const { folder, start } = useProcesses()

  test('is one process: a second claim is refused until the first is released', async () => {
    const settings = await databases.settings(dialect)
    expect(await isOwned(settings)).toBe(false)
    const first = await claim(settings)
    expect(await isOwned(settings)).toBe(true)
    await expect(claim(settings)).rejects.toMatchObject({ code: 'store_busy' })
    expect(await isOwned(settings)).toBe(true)
    await first.release()
    expect(await isOwned(settings)).toBe(false)
    await (await claim(settings)).release()
  })

  test('is exactly one of many that start at once', async () => {
    const settings = await databases.settings(dialect)
    const claims = await Promise.allSettled(Array.from({ length: 8 }, () => claim(settings)))
    const owners = claims.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    expect(owners).toHaveLength(1)
    await owners[0]?.release()
  })

  test('gets an epoch that is greater than that of every earlier owner', async () => {
    const settings = await databases.settings(dialect)
    const database = await databases.connect(settings)
    const epochs = createOwnerEpochRepository(database)
    const seen: number[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      const owner = await claim(settings)
      await owner.begin(epochs)
      seen.push(owner.epoch)
      await owner.release()
    }
    expect(seen).toEqual([1, 2, 3])
    expect(await epochs.current()).toBe(3)
  })

  test('a second server exits with code 1 and one line; after kill -9 of the first the next one starts', async () => {
    const config = JSON.stringify(databaseKeys(await databases.settings(dialect)))
    const first = start(folder(), { config })
    const url = await first.ready
    const second = start(folder(), { config })
    expect((await second.ended).status).toBe(1)
    const lines = second.output().stderr.trim().split('\n')
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([
      expect.stringContaining('Another NanoClaw process is using this database'),
    ])
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    first.child.kill('SIGKILL')
    await first.ended
    const third = start(folder(), { config })
    expect(await third.ready).toMatch(/^http/)
  })

  test('prevents a restore, but neither a backup nor the doctor', async () => {
    const settings = await databases.settings(dialect)
    const place = folder()
    await databases.connect(settings)
    const config = parseConfig(JSON.stringify(databaseKeys(settings)), {})
    const owner = await claim(settings)
    const copy = join(place, 'copy')
    const context = {
      loaded: { config, file: null, presets: null, unknownVariables: [], sourceOf: () => null },
      operands: [copy],
      flags: new Set<string>(),
      options: new Map(),
      webRoot: '',
    }
    expect(await commands.backup?.run(context)).toMatchObject({ status: 0 })
    expect(await commands.restore?.run(context)).toMatchObject({
      status: 1,
      lines: [expect.stringContaining('Another NanoClaw process is using this database')],
    })
    expect(await checkDatabase(settings)).toMatchObject([
      { state: 'ok', detail: expect.stringContaining('; a server is using it') },
    ])
    await owner.release()
    expect(await checkDatabase(settings)).toMatchObject([
      { state: 'ok', detail: expect.stringContaining('; no server is using it') },
    ])
  })
})

describe('a lost connection of the owner to PostgreSQL', () => {
  const databases = useDatabases()

  async function session(settings: DatabaseSettings): Promise<pg.Client> {
    if (settings.dialect !== 'postgres' || !('url' in settings.connection))
      throw new Error('PostgreSQL by its URL is needed')
    const client = new pg.Client({ connectionString: settings.connection.url })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const END_OWNER =
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'nanoclaw owner'"

  test('is noticed, effects wait until the lock is held again, and the epoch stays the same', async () => {
    const settings = await databases.settings('postgres')
    const database = await databases.connect(settings)
    const owner = await claim(settings)
    await owner.begin(createOwnerEpochRepository(database))
    const other = await session(settings)
    const { rows } = await other.query<{ name: string }>('select current_database() as name')
    const name = rows[0]?.name
    // Nobody can connect for a while, as during a restart of the server.
    await onServer(inject('postgres').url, `alter database ${name} allow_connections false`)
    await other.query(END_OWNER)
    await expect.poll(() => owner.isHeld).toBe(false)
    let isHeldAgain = false
    const held = owner.whenHeld(new AbortController().signal).then(() => {
      isHeldAgain = true
    })
    const stopped = new AbortController()
    const given = owner.whenHeld(stopped.signal)
    stopped.abort(new Error('stopped'))
    await expect(given).rejects.toThrow('stopped')
    expect(isHeldAgain).toBe(false)
    await onServer(inject('postgres').url, `alter database ${name} allow_connections true`)
    await held
    expect(owner.isHeld).toBe(true)
    expect(owner.epoch).toBe(1)
    await expect(claim(settings)).rejects.toMatchObject({ code: 'store_busy' })
    await other.end()
    await owner.release()
  })

  test('ends the ownership when another process has the lock by then', async () => {
    const settings = await databases.settings('postgres')
    const other = await session(settings)
    let taken = () => {}
    const isTaken = new Promise<void>((resolve) => {
      taken = resolve
    })
    const owner = await claim(settings, { onTaken: () => taken() })
    const { rows } = await other.query<{ classid: number; objid: number }>(
      "select classid, objid from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())",
    )
    const next = await session(settings)
    // Waits in the lock queue of the server, so that it is certain to get the lock next.
    const got = next.query('select pg_advisory_lock($1, $2)', [rows[0]?.classid, rows[0]?.objid])
    await expect
      .poll(
        async () =>
          (
            await other.query(
              "select 1 from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
            )
          ).rowCount,
      )
      .toBeGreaterThan(0)
    await other.query(END_OWNER)
    await got
    await isTaken
    expect(owner.isHeld).toBe(false)
    await Promise.all([other.end(), next.end()])
    await owner.release()
  })

  test('ends the ownership when another process owned the store in between', async () => {
    const settings = await databases.settings('postgres')
    const database = await databases.connect(settings)
    const epochs = createOwnerEpochRepository(database)
    let taken = () => {}
    const isTaken = new Promise<void>((resolve) => {
      taken = resolve
    })
    const owner = await claim(settings, { onTaken: () => taken() })
    await owner.begin(epochs)
    await epochs.next('another')
    const other = await session(settings)
    await other.query(END_OWNER)
    await isTaken
    expect(owner.isHeld).toBe(false)
    await other.end()
    await owner.release()
  })
})
