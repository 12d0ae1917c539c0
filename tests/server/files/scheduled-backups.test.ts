// Scheduled backups: when they are made, by whom, which stay, what the disk keeps free, and what is said of failures.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { restore } from '../../../server/commands/backup.ts'
import { parseConfig } from '../../../server/config/load.ts'
import { createStore, type Store } from '../../../server/db/store.ts'
import { checkBackups } from '../../../server/doctor/checks/backups.ts'
import {
  BACKUPS_KEY,
  BackupRecord,
  type MadeBackup,
  scheduleBackups,
} from '../../../server/files/scheduled-backups.ts'
import { databaseKeys, useServers } from '../../support/server/server.ts'
import { type SimulatedClock, simulatedClock } from '../../support/server/simulated-clock.ts'
import { uploadFile } from '../../support/server/uploads.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { startMailServer } from '../messaging/receivers.ts'

const databases = useDatabases()
const { start } = useServers()

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-scheduled-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const PREFIX = 'nanoclaw-1234abcd-'
const DAY_MS = 86_400_000
const GB = 1024 ** 3

/** Writes what a backup of a small installation would. */
function writeSmall(folder: string, missing: string[] = []): MadeBackup {
  mkdirSync(folder)
  const header = { nanoclaw: 'backup', format: 2, version: '1', dialect: 'sqlite', missing }
  const rest = { createdAt: new Date(0).toISOString(), database: 'database.db' }
  writeFileSync(join(folder, 'manifest.jsonl'), `${JSON.stringify({ ...header, ...rest })}\n`)
  return { bytes: 1_000, missing }
}

/** Backups as an instance schedules them, with a program for each attempt. */
function instance(store: Store, clock: SimulatedClock, folder: string) {
  const told: string[] = []
  const logged: string[] = []
  const state = {
    make: async (target: string, _signal: AbortSignal): Promise<MadeBackup> => writeSmall(target),
    free: 100 * GB,
  }
  const note = (_details: object, message: string): void => void logged.push(message)
  const stop = scheduleBackups({
    schedule: { everyMs: DAY_MS, keep: 2, folder, staysInFolder: true, bucket: null, reserve: GB },
    prefix: PREFIX,
    store,
    makeBackup: (target, signal) => state.make(target, signal),
    copyToBucket: async () => {},
    databaseBytes: async () => 2 * GB,
    freeBytes: async () => state.free,
    tellFailure: async (reason) => void told.push(reason),
    clock,
    log: { info: note, warn: note, error: note },
  })
  return { state, stop, told, logged, record: () => store.settings.get(BACKUPS_KEY, BackupRecord) }
}

test.each(DIALECTS)(
  'the newest backups stay, and the newest complete one before incomplete ones; folders of others stay (%s)',
  async (dialect) => {
    const database = await databases.open(dialect)
    const store = createStore(database)
    const clock = simulatedClock('2026-01-01T00:00:00Z')
    const folder = emptyFolder()
    const others = ['nanoclaw-99999999-2020-01-01T00-00-00Z', `${PREFIX}notes`, 'photos']
    for (const name of others) mkdirSync(join(folder, name))
    // What a process that was killed left.
    mkdirSync(join(folder, `${PREFIX}2025-12-31T00-00-00Z.unfinished`))
    const one = instance(store, clock, folder)
    for (const day of ['01', '02', '03']) await clock.set(`2026-01-${day}T00:00:00Z`)
    const named = (...days: string[]) =>
      [...days.map((day) => `${PREFIX}2026-01-${day}T00-00-00Z`), ...others].sort()
    expect(readdirSync(folder).sort()).toEqual(named('02', '03'))
    // Not yet due.
    await clock.set('2026-01-03T23:59:00Z')
    expect(readdirSync(folder).sort()).toEqual(named('02', '03'))
    one.state.make = async (target) => writeSmall(target, ['a file that cannot be read'])
    for (const day of ['04', '05', '06']) await clock.set(`2026-01-${day}T00:00:00Z`)
    expect(readdirSync(folder).sort()).toEqual(named('03', '05', '06'))
    expect((await one.record())?.last?.missing).toEqual(['a file that cannot be read'])
    const { items } = await store.audit.list({ action: 'backup_created' }, { limit: 2 })
    expect(items[0]?.details).toEqual({
      by: 'schedule',
      complete: false,
      folder: join(folder, `${PREFIX}2026-01-06T00-00-00Z`),
    })
    await one.stop()
    await clock.set('2026-02-01T00:00:00Z')
    expect(readdirSync(folder).sort()).toEqual(named('03', '05', '06'))
  },
)

test.each(DIALECTS)(
  'two instances that both believe they lead make one backup, and one that was frozen does not write over the record of a later one (%s)',
  async (dialect) => {
    const database = await databases.open(dialect)
    const store = createStore(database)
    const clock = simulatedClock('2026-01-01T00:00:00Z')
    const late = simulatedClock('2026-01-01T00:00:00Z')
    const folder = emptyFolder()
    const first = instance(store, clock, folder)
    const second = instance(store, clock, folder)
    await Promise.all([
      clock.set('2026-01-01T00:01:00Z'),
      clock.set('2026-01-01T00:01:00Z'),
      clock.set('2026-01-01T00:01:00Z'),
    ])
    expect(readdirSync(folder)).toEqual([`${PREFIX}2026-01-01T00-01-00Z`])
    await Promise.all([first.stop(), second.stop()])
    // One begins and hangs; an hour later another one makes the backup; then the first one goes on and fails.
    const frozen = instance(store, late, folder)
    let thaw = (): void => {}
    const begun = new Promise<void>((resolve) => {
      frozen.state.make = () =>
        new Promise((_, reject) => {
          thaw = () => reject(new Error('late'))
          resolve()
        })
    })
    const hanging = late.set('2026-01-02T00:01:00Z')
    await begun
    const other = instance(store, clock, folder)
    await clock.set('2026-01-02T00:30:00Z')
    expect(readdirSync(folder)).toHaveLength(1)
    await clock.set('2026-01-02T01:01:00Z')
    expect(readdirSync(folder)).toHaveLength(2)
    thaw()
    await hanging
    expect(await other.record()).toMatchObject({ failure: null, failures: 0 })
    expect((await other.record())?.last?.folder).toContain('2026-01-02T01-01-00Z')
    await Promise.all([frozen.stop(), other.stop()])
  },
)

test('a backup that does not fit is not begun, one that would use the reserve is stopped and leaves nothing; administrators are told once, and it is tried again each hour', async () => {
  const database = await databases.open('sqlite')
  const store = createStore(database)
  const clock = simulatedClock('2026-01-01T00:00:00Z')
  const folder = emptyFolder()
  const { state, stop, told, logged, record } = instance(store, clock, folder)
  await clock.set('2026-01-01T00:00:30Z')
  const attempts: string[] = []
  const kept = readdirSync(folder)
  // 2 GB for the database and 1 GB that stays free.
  state.free = 2.9 * GB
  state.make = async (target) => {
    attempts.push(target)
    return writeSmall(target)
  }
  await clock.set('2026-01-02T00:00:30Z')
  expect(attempts).toEqual([])
  expect(told).toEqual([
    `${folder} has 2,970 MB of free space. A backup needs about 2,048 MB, and 1,024 MB stay free (backup.reserve)`,
  ])
  // It fits, and then something else fills the disk while it is written.
  state.free = 3.1 * GB
  state.make = (target, signal) =>
    new Promise((_, reject) => {
      mkdirSync(`${target}.unfinished`)
      signal.addEventListener('abort', () => reject(new Error('stopped')))
      state.free = 0.9 * GB
    })
  await clock.set('2026-01-02T00:59:00Z')
  expect(readdirSync(folder)).toEqual(kept)
  await clock.set('2026-01-02T01:00:30Z')
  expect(readdirSync(folder)).toEqual(kept)
  expect((await record())?.failure).toContain('less than 1,024 MB of free space while')
  expect(await record()).toMatchObject({ failures: 2 })
  expect(told).toHaveLength(1)
  // The doctor knows it from the database alone.
  state.free = 100 * GB
  state.make = async (target) => writeSmall(target)
  await clock.set('2026-01-02T02:00:30Z')
  expect(await record()).toMatchObject({ failure: null, failures: 0 })
  expect(logged.at(-1)).toBe('made a scheduled backup')
  await stop()
})

test('what a backup replaces goes first if both do not fit, but never the only one', async () => {
  const database = await databases.open('sqlite')
  const store = createStore(database)
  const clock = simulatedClock('2026-01-01T00:00:00Z')
  const folder = emptyFolder()
  const { state, stop } = instance(store, clock, folder)
  for (const day of ['01', '02']) await clock.set(`2026-01-${day}T12:00:00Z`)
  // Each backup has 3 GB, and the disk has space for two.
  const fit = () => {
    const own = readdirSync(folder).filter((name) => name.startsWith(PREFIX))
    return (8 - 3 * own.length) * GB
  }
  Object.defineProperty(state, 'free', { get: fit })
  await clock.set('2026-01-03T12:00:00Z')
  expect(readdirSync(folder).sort()).toEqual([
    `${PREFIX}2026-01-02T12-00-00Z`,
    `${PREFIX}2026-01-03T12-00-00Z`,
  ])
  await stop()
})

test.each(DIALECTS)(
  'a server with `backup` in its configuration writes one beside its work; it restores, and metrics, audit log, doctor and page say so; a failure is mailed (%s)',
  async (dialect) => {
    const folder = emptyFolder()
    const to = join(emptyFolder(), 'backups')
    const { smtp, mails } = await startMailServer()
    const settings = databaseKeys(await databases.migrated(dialect))
    const clock = simulatedClock('2026-01-01T00:00:00Z')
    const backup = { every: '12h', keep: 3, to, reserve: '1MB' }
    const server = await start({ folder, dialect, config: { ...settings, smtp, backup }, clock })
    await server.call('PATCH', '/api/auth/profile', { body: { email: 'kim@example.org' } })
    await uploadFile(server.url, 'heron.txt', 'a heron')
    const metrics = async () => await (await fetch(`${server.url}/metrics`)).text()
    const health = async () =>
      (await server.call('GET', '/api/admin/health')).json.data.items.filter(
        ({ code }: { code: string }) => code.startsWith('backups_') && code !== 'backups_same_disk',
      )
    expect(await health()).toMatchObject([{ code: 'backups_waiting', state: 'ok' }])
    await clock.set('2026-01-01T06:00:00Z')
    const [name = ''] = readdirSync(to)
    expect(name).toMatch(/^nanoclaw-[0-9a-f]{8}-2026-01-01T06-00-00Z$/)
    const text = await metrics()
    expect(text).toContain('nanoclaw_backup_interval_seconds 43200\n')
    expect(text).toContain('nanoclaw_failed_backups 0\n')
    expect(text).toContain(
      `nanoclaw_last_backup_timestamp_seconds ${Date.UTC(2026, 0, 1, 6) / 1000}\n`,
    )
    expect(text).toMatch(/nanoclaw_free_bytes\{folder="backups"\} [1-9]/)

    rmSync(to, { recursive: true })
    writeFileSync(to, 'a file where the folder was')
    await clock.set('2026-01-01T18:00:00Z')
    expect(await metrics()).toContain('nanoclaw_failed_backups 1\n')
    expect(await health()).toMatchObject([{ code: 'backups_failed', state: 'fail' }])
    await expect.poll(() => mails.length).toBe(1)
    expect(mails[0]).toContain('To: kim@example.org')
    expect(mails[0]).toContain('Subject: NanoClaw: the scheduled backup failed')
    rmSync(to)
    await clock.set('2026-01-01T19:00:00Z')
    const [again = ''] = readdirSync(to)
    await server.close()
    expect(mails).toHaveLength(1)

    const fresh = emptyFolder()
    const other = databaseKeys(await databases.migrated(dialect))
    const config = parseConfig(
      JSON.stringify({
        data_dir: join(fresh, 'data'),
        workspace_root: join(fresh, 'workspaces'),
        ...other,
      }),
      {},
    )
    const keys = { configured: undefined, previous: undefined }
    expect(await restore(config, join(to, again), { keys, isPartial: false })).toMatchObject({
      isComplete: true,
    })
    const restored = await start({ folder: fresh, dialect, config: { ...other, backup }, clock })
    const found = await restored.call('GET', '/api/search?q=heron&type=file')
    expect(found.status).toBe(200)
    expect(existsSync(join(fresh, 'data', 'blobs'))).toBe(true)
    // Its own backups stand beside those of the original, which may go on, and are counted by themselves.
    await clock.set('2026-01-02T19:00:00Z')
    const names = readdirSync(to)
    expect(names).toContain(again)
    expect(new Set(names.map((one) => one.slice(0, PREFIX.length))).size).toBe(2)
  },
)

test('the doctor says of backups what the database knows: late, incomplete, and on the disk of the data', async () => {
  const settings = await databases.migrated('sqlite')
  const database = await databases.connect(settings)
  const store = createStore(database)
  const folder = emptyFolder()
  const every = { everyMs: DAY_MS, keep: 2, reserve: GB }
  const schedule = { ...every, folder, staysInFolder: true, bucket: null }
  const codes = async (now: string) =>
    (
      await checkBackups({ schedule, bucket: null }, settings, {
        dataDirectory: folder,
        now: new Date(now),
      })
    ).map(({ code }) => code)
  const none = { schedule: null, bucket: null }
  expect(await checkBackups(none, settings, { dataDirectory: folder })).toMatchObject([
    { code: 'backups_off', state: 'ok' },
  ])
  expect(await codes('2026-01-01T00:00:00Z')).toContain('backups_waiting')
  const last = { folder, at: '2026-01-01T00:00:00.000Z', bytes: 5e6, seconds: 1, missing: ['x'] }
  const record = { attempt: 'a', startedAt: last.at, endedAt: last.at, failure: null, failures: 0 }
  await store.settings.store(BACKUPS_KEY, { ...record, last })
  expect(await codes('2026-01-02T23:00:00Z')).toEqual(
    expect.arrayContaining(['backups_incomplete', 'backups_same_disk']),
  )
  expect(await codes('2026-01-03T01:00:00Z')).toContain('backups_late')
})
