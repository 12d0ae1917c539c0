// The installation: a start with files of another database is refused and changes nothing; what belongs together starts.
import fs, {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { commands } from '../../../server/cli.ts'
import { administer } from '../../../server/commands/admin.ts'
import { backUp, restore } from '../../../server/commands/backup.ts'
import { parseConfig } from '../../../server/config/load.ts'
import { NO_REFERENCES } from '../../../server/db/repositories/installation.ts'
import { runDoctor } from '../../../server/doctor/run-doctor.ts'
import { SqliteClient } from '../../../server/lib/sqlite-driver.ts'
import { holdFolders } from '../../../server/owner/held-folders.ts'
import {
  folderMarker,
  MARKER_NAME,
  type Place,
  settleInstallation,
} from '../../../server/owner/installation.ts'
import { databaseKeys, type TestServer, useServers } from '../../support/server/server.ts'
import { uploadFile } from '../../support/server/uploads.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'

const { start } = useServers()
const folderDatabases = useDatabases()
const folders: string[] = []
const fresh = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-installation-'))
  folders.push(folder)
  return folder
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

let folder: string
let sqlite: Record<string, unknown>
beforeEach(() => {
  folder = fresh()
  sqlite = { db_type: 'sqlite', db_sqlite_file: join(folder, 'data/nanoclaw.db') }
})

/** Every file below the data folder and the workspaces with its content, without the databases. */
const filesIn = (place: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.includes('.db'))
      .map(({ parentPath, name }) => [
        join(parentPath, name),
        readFileSync(join(parentPath, name), 'base64'),
      ]),
  )

/** An installation with attached files and a project. @returns what a later start must still serve. */
async function install(config: Record<string, unknown>, dialect?: 'sqlite' | 'postgres') {
  const server = await start({ folder, config, ...(dialect === undefined ? {} : { dialect }) })
  const ids: string[] = []
  for (const text of ['one', 'two', 'three'])
    ids.push((await uploadFile(server.url, `${text}.txt`, text)).json.data.id)
  const { json } = await server.call('POST', '/api/projects', { body: { name: 'Herons' } })
  const project: string = json.data.id
  const note = `/api/projects/${project}/files/bird.txt`
  expect((await server.call('PUT', note, { body: { content: 'a heron' } })).status).toBe(200)
  await server.close()
  return {
    async expectServed(again: TestServer): Promise<void> {
      for (const id of ids) expect((await fetch(`${again.url}/api/files/${id}`)).status).toBe(200)
      expect(await (await fetch(`${again.url}${note}?raw=1`)).text()).toBe('a heron')
    },
  }
}

/** As an installation of a version before the id. */
function forgetInstallation(): void {
  for (const place of ['data', 'workspaces']) rmSync(join(folder, place, MARKER_NAME))
  const client = new SqliteClient(join(folder, 'data/nanoclaw.db'))
  client.prepare("delete from settings where key = 'shared_folders'").run()
  client.close()
}

const configOf = (config: Record<string, unknown>) =>
  parseConfig(
    JSON.stringify({
      data_dir: join(folder, 'data'),
      workspace_root: join(folder, 'workspaces'),
      ...config,
    }),
    {},
  )

const adoptWith = (config: Record<string, unknown>, ...more: string[]) =>
  administer(configOf(config), ['adopt', ...more])

describe('a start is refused and loses nothing', () => {
  test('with a new PostgreSQL database on the folders of a SQLite installation', async () => {
    const { expectServed } = await install(sqlite)
    const before = filesIn(folder)
    await expect(start({ folder, dialect: 'postgres' })).rejects.toThrow(
      /data_dir .* belongs to another database.*admin adopt$/,
    )
    expect(filesIn(folder)).toEqual(before)
    await expectServed(await start({ folder, config: sqlite }))
  })

  test('with a new PostgreSQL database on the folders of an installation of an earlier version, which then starts without a question', async () => {
    const { expectServed } = await install(sqlite)
    forgetInstallation()
    const before = filesIn(folder)
    await expect(start({ folder, dialect: 'postgres' })).rejects.toThrow(
      /data_dir .* contains files of another database\. This database is new/,
    )
    expect(filesIn(folder)).toEqual(before)
    await expectServed(await start({ folder, config: sqlite }))
    expect(existsSync(join(folder, 'workspaces', MARKER_NAME))).toBe(true)
  })

  test.each(['of this version', 'of an earlier version'])(
    'while the database file %s is set aside, and does not create another one',
    async (version) => {
      const { expectServed } = await install(sqlite)
      if (version !== 'of this version') forgetInstallation()
      const file = join(folder, 'data/nanoclaw.db')
      renameSync(file, `${file}.aside`)
      const before = filesIn(folder)
      await expect(start({ folder, config: sqlite })).rejects.toThrow(
        /nanoclaw\.db does not exist, and a new one would not belong to these files/,
      )
      expect(filesIn(folder)).toEqual(before)
      expect(existsSync(file)).toBe(false)
      renameSync(`${file}.aside`, file)
      await expectServed(await start({ folder, config: sqlite }))
    },
  )

  test('of a second server with a database of its own beside a running one, whose upload in progress stays', async () => {
    await install(sqlite)
    const first = await start({ folder, config: sqlite })
    const [own = ''] = readdirSync(join(folder, 'data/blobs/incoming'))
    const inProgress = join(folder, 'data/blobs/incoming', own, 'upload')
    writeFileSync(inProgress, 'half of a file')
    const other = { ...sqlite, db_sqlite_file: join(folder, 'other.db') }
    await expect(start({ folder, config: other })).rejects.toThrow(/does not exist, and a new one/)
    await expect(start({ folder, dialect: 'postgres' })).rejects.toThrow(/belongs to another/)
    expect(readFileSync(inProgress, 'utf8')).toBe('half of a file')
    await first.close()
  })

  test('with an empty data folder or workspace although the database refers to files there, and creates no key in it', async () => {
    const { expectServed } = await install(sqlite)
    const empty = fresh()
    const config = { ...sqlite, data_dir: join(empty, 'data') }
    await expect(start({ folder, config })).rejects.toThrow(
      /data_dir .* contains none of the files that this database refers to/,
    )
    expect(readdirSync(empty)).toEqual([])
    await expect(
      start({ folder, config: { ...sqlite, workspace_root: join(empty, 'workspaces') } }),
    ).rejects.toThrow(/workspace_root .* contains none of the files/)
    await expectServed(await start({ folder, config: sqlite }))
  })

  test.each(['.nanoclaw-moved', 'restore-unfinished'])(
    'while nobody can read %s, which says whether the folder may be used',
    async (mark) => {
      const { expectServed } = await install(sqlite)
      mkdirSync(join(folder, 'data', mark))
      const before = filesIn(folder)
      await expect(start({ folder, config: sqlite })).rejects.toThrow(/EISDIR/)
      expect(filesIn(folder)).toEqual(before)
      rmSync(join(folder, 'data', mark), { recursive: true })
      await expectServed(await start({ folder, config: sqlite }))
    },
  )

  test.each([
    ['data', '.nanoclaw-moved'],
    ['data', '.nanoclaw-moves'],
    ['workspaces', '.nanoclaw-moves'],
  ])(
    'while the mark %s/%s is damaged, unless the operator adopts the folders',
    async (of, mark) => {
      const { expectServed } = await install(sqlite)
      writeFileSync(join(folder, of, mark), '{"mo')
      const before = filesIn(folder)
      await expect(start({ folder, config: sqlite })).rejects.toThrow(
        /is damaged: it says .* adopt/,
      )
      expect(filesIn(folder)).toEqual(before)
      await adoptWith(sqlite)
      await expectServed(await start({ folder, config: sqlite }))
    },
  )

  test('with folders of two installations', async () => {
    await install(sqlite)
    const mine = folder
    folder = fresh()
    const theirs = { ...sqlite, db_sqlite_file: join(folder, 'data/nanoclaw.db') }
    await install(theirs)
    for (const config of [
      { ...sqlite, workspace_root: join(folder, 'workspaces') },
      { ...sqlite, data_dir: join(folder, 'data') },
      { ...theirs, data_dir: join(mine, 'data'), workspace_root: join(mine, 'workspaces') },
    ])
      await expect(start({ folder: mine, config })).rejects.toThrow(/belongs to another database/)
  })
})

test.each(DIALECTS)(
  'a restore into folders that belong to another installation is refused, and nothing of it is set aside (%s)',
  async (dialect) => {
    const { expectServed } = await install(sqlite)
    const own = folder
    folder = fresh()
    const keys = databaseKeys(await folderDatabases.migrated(dialect))
    await install(keys, dialect)
    const backup = join(fresh(), 'backup')
    expect(await backUp(configOf(keys), backup, {})).toMatchObject({ isComplete: true })
    folder = own
    const before = filesIn(own)
    const given = { keys: {}, isPartial: false }
    const target = databaseKeys(await folderDatabases.migrated(dialect))
    await expect(restore(configOf(target), backup, given)).rejects.toThrow(
      /^Nothing was restored: data_dir .* belongs to another database/,
    )
    expect(filesIn(own)).toEqual(before)
    await expectServed(await start({ folder, config: sqlite }))
  },
)

test.each(DIALECTS)(
  'a restore of a database that no server has used yet into folders of an installation is refused, too, and sets nothing aside (%s)',
  async (dialect) => {
    const { expectServed } = await install(sqlite)
    const own = folder
    folder = fresh()
    const backup = join(fresh(), 'backup')
    await backUp(configOf(databaseKeys(await folderDatabases.migrated(dialect))), backup, {})
    folder = own
    const before = filesIn(own)
    const target = databaseKeys(await folderDatabases.migrated(dialect))
    await expect(restore(configOf(target), backup, { keys: {}, isPartial: true })).rejects.toThrow(
      /^Nothing was restored: data_dir .* belongs to another database/,
    )
    expect(filesIn(own)).toEqual(before)
    await expectServed(await start({ folder, config: sqlite }))
  },
)

test.each(DIALECTS)(
  'folders into which an installation was restored belong to it before its first start: another database can take none of them (%s)',
  async (dialect) => {
    const { expectServed } = await install(sqlite)
    const backup = join(fresh(), 'backup')
    await backUp(configOf(sqlite), backup, {})
    const origin = folder
    folder = fresh()
    await restore(configOf(sqlite), backup, { keys: {}, isPartial: false })
    const service = await useBuckets()
    try {
      // Without a bucket, the files in the data folder would show that it is another one's.
      const { s3 } = service
      const other = { ...databaseKeys(await folderDatabases.migrated(dialect)), s3 }
      await expect(
        start({ folder: fresh(), config: { ...other, data_dir: join(folder, 'data') } }),
      ).rejects.toThrow(/data_dir .* belongs to another database/)
      // As in folders of an earlier version, which have no marker.
      rmSync(join(folder, 'data', MARKER_NAME))
      await expect(
        start({ folder: fresh(), config: { ...other, data_dir: join(folder, 'data') } }),
      ).rejects.toThrow(/data_dir .* contains files of another database\. This database is new/)
    } finally {
      await service.close()
    }
    const places = { data_dir: join(folder, 'data'), workspace_root: join(folder, 'workspaces') }
    await expectServed(await start({ folder: origin, config: { ...sqlite, ...places } }))
  },
)

test('folders that belong to another database are adopted by a command, and its former database is refused until it adopts them', async () => {
  const { expectServed } = await install(sqlite)
  const other = { ...sqlite, db_sqlite_file: join(folder, 'other.db') }
  await expect(adoptWith(other)).rejects.toThrow(/no NanoClaw database here.*nothing was created/)
  expect(existsSync(join(folder, 'other.db'))).toBe(false)
  await commands.migrate?.run({
    loaded: {
      config: configOf(other),
      file: null,
      presets: null,
      unknownVariables: [],
      sourceOf: () => null,
    },
    operands: [],
    flags: new Set(),
    options: new Map(),
    webRoot: '',
  })
  expect(await adoptWith(other)).toEqual([
    expect.stringMatching(/^data_dir .* now belongs to this database\.$/),
    expect.stringMatching(/^workspace_root .* now belongs to this database\.$/),
    expect.stringContaining('are removed after 14 days'),
  ])
  const adopted = await start({ folder, config: other })
  const { json } = await adopted.call('GET', '/api/admin/audit?action=folders_adopted')
  expect(json.data.items).toMatchObject([
    { user_id: null, details: { copy: false, by: 'command line' } },
  ])
  await adopted.close()
  await expect(start({ folder, config: sqlite })).rejects.toThrow(/belongs to another database/)
  await adoptWith(sqlite)
  await expectServed(await start({ folder, config: sqlite }))
})

test('the copy of a database becomes an installation of its own, and neither is served on the folders of the other', async () => {
  const { expectServed } = await install(sqlite)
  const copied = fresh()
  cpSync(folder, copied, { recursive: true })
  const copy = {
    ...sqlite,
    db_sqlite_file: join(copied, 'data/nanoclaw.db'),
    data_dir: join(copied, 'data'),
    workspace_root: join(copied, 'workspaces'),
  }
  await adoptWith(copy, 'copy')
  for (const own of [
    { folder: copied, config: copy },
    { folder, config: sqlite },
  ]) {
    const server = await start(own)
    await expectServed(server)
    await server.close()
  }
  const crossed = [
    { folder, config: { ...sqlite, db_sqlite_file: copy.db_sqlite_file } },
    { folder: copied, config: { ...copy, db_sqlite_file: sqlite.db_sqlite_file } },
  ]
  for (const place of crossed)
    await expect(start(place)).rejects.toThrow(/belongs to another database/)
})

/** A bucket service with two buckets, and the configuration of the first one. */
async function useBuckets() {
  const service = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: fresh(),
    configureBuckets: [
      { name: 'nanoclaw', configs: [] },
      { name: 'another', configs: [] },
    ],
  })
  const { port } = await service.run()
  const s3 = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'nanoclaw',
    region: 'us-east-1',
    access_key_id: 'S3RVER',
    secret_access_key: 'S3RVER',
  }
  return { s3, close: () => service.close() }
}

test('a bucket without a prefix belongs to one database', async () => {
  const service = await useBuckets()
  const { s3 } = service
  try {
    const { expectServed } = await install({ ...sqlite, s3 })
    const elsewhere = fresh()
    await expect(start({ folder: elsewhere, config: { s3 } })).rejects.toThrow(
      /s3 \(bucket nanoclaw, prefix ""\) belongs to another database/,
    )
    const prefixed = await start({ folder: fresh(), config: { s3: { ...s3, prefix: 'b/' } } })
    expect((await uploadFile(prefixed.url, 'own.txt', 'own')).status).toBe(200)
    await prefixed.close()
    const again = await start({ folder, config: { ...sqlite, s3 } })
    await expectServed(again)
    await again.close()
  } finally {
    await service.close()
  }
  // The service is down: conversations and projects work without it.
  const without = await start({ folder, config: { ...sqlite, s3 } })
  expect((await fetch(`${without.url}/api/projects`)).status).toBe(200)
}, 60_000)

describe.each(DIALECTS)('attached files that were in a bucket (%s)', (dialect) => {
  const databases = useDatabases()
  let service: Awaited<ReturnType<typeof useBuckets>>
  let database: Record<string, unknown>
  beforeEach(async () => {
    service = await useBuckets()
    database = databaseKeys(await databases.migrated(dialect))
  })
  afterEach(() => service.close())
  /** The doctor's finding about the installation, whatever else it finds. */
  async function examined(config: Record<string, unknown>) {
    const findings = await runDoctor(configOf(config), {
      webRoot: folder,
      secretKeys: {},
      environmentKeys: new Map(),
      mcpServers: async () => [],
    })
    return findings.find(({ subject }) => subject === 'installation')
  }

  test('prevent a start without the bucket, with another one or with another prefix, and nothing is changed', async () => {
    const { s3 } = service
    const own = { ...database, s3 }
    const { expectServed } = await install(own)
    const before = filesIn(folder)
    const others = {
      'data_dir .*': database,
      's3 \\(bucket another, prefix ""\\)': { ...database, s3: { ...s3, bucket: 'another' } },
      's3 \\(bucket nanoclaw, prefix "files/"\\)': { ...database, s3: { ...s3, prefix: 'files/' } },
    }
    for (const [place, config] of Object.entries(others))
      await expect(start({ folder, config }), place).rejects.toThrow(
        new RegExp(
          `^${place} contains 0 of the 3 attached files of this database, which were last in s3 \\(bucket nanoclaw, prefix ""\\)\\. Set s3 to that bucket\\. .*nanoclaw admin adopt$`,
        ),
      )
    expect(await examined(database)).toMatchObject({
      state: 'fail',
      code: 'installation_differs',
      detail: expect.stringContaining('which were last in s3 (bucket nanoclaw'),
    })
    expect(await examined(own)).toMatchObject({ state: 'ok', code: 'installation_ok' })
    expect(filesIn(folder)).toEqual(before)
    await expectServed(await start({ folder, config: own }))
  })

  test('are served from another bucket once all of them were restored there, and a part of them is not enough', async () => {
    const { s3 } = service
    const { expectServed } = await install({ ...database, s3 })
    const another = { ...database, s3: { ...s3, bucket: 'another' } }
    const backup = join(fresh(), 'backup')
    expect((await backUp(configOf({ ...database, s3 }), backup, {})).isComplete).toBe(true)
    await restore(configOf(another), backup, { keys: {}, isPartial: false })
    const moved = await start({ folder, config: another })
    await expectServed(moved)
    expect((await uploadFile(moved.url, 'four.txt', 'four')).status).toBe(200)
    await moved.close()
    await expect(start({ folder, config: { ...database, s3 } })).rejects.toThrow(
      /bucket nanoclaw, prefix ""\) contains 3 of the 4 attached files .* last in s3 \(bucket another/,
    )
    await adoptWith({ ...database, s3 })
    await expectServed(await start({ folder, config: { ...database, s3 } }))
  })

  test('prevent a start in a bucket while they are in the data folder, and a backup, which would lack all of them', async () => {
    const { s3 } = service
    const { expectServed } = await install(database)
    const backup = join(fresh(), 'backup')
    for (const [config, fault] of [
      [{ ...database, s3 }, /contains 0 of the 3 attached files .* last in data_dir/],
      [{ ...database, data_dir: fresh() }, /^data_dir .* contains none of the files/],
      [{ ...database, workspace_root: fresh() }, /^workspace_root .* contains none of the files/],
    ] as const) {
      await expect(backUp(configOf(config), backup, {})).rejects.toThrow(fault)
      expect(existsSync(backup)).toBe(false)
    }
    await expect(start({ folder, config: { ...database, s3 } })).rejects.toThrow(
      /contains 0 of the 3 attached files of this database, which were last in data_dir\. Remove s3 from the configuration\. /,
    )
    await expectServed(await start({ folder, config: database }))
  })
})

describe.each(DIALECTS)('while the original runs (%s)', (dialect) => {
  const databases = useDatabases()
  const keys = async () => databaseKeys(await databases.migrated(dialect))

  test('a copy of its database is refused in its folders, and in copies of them until it becomes an installation of its own', async () => {
    const own = await keys()
    await install(own, dialect)
    const original = await start({ folder, config: own, dialect })
    const backup = join(fresh(), 'backup')
    expect(await backUp(configOf(own), backup, {})).toMatchObject({ isComplete: true })
    const copied = await keys()
    const elsewhere = fresh()
    const places = {
      data_dir: join(elsewhere, 'data'),
      workspace_root: join(elsewhere, 'workspaces'),
    }
    const given = { keys: {}, isPartial: false }
    await expect(restore(configOf(copied), backup, given)).rejects.toThrow(
      /data_dir .* in use by a running NanoClaw process with another database/,
    )
    await restore(configOf({ ...copied, ...places }), backup, given)

    const begin = () => start({ folder: elsewhere, config: copied, dialect })
    await expect(start({ folder, config: copied, dialect })).rejects.toThrow(
      /data_dir .* in use by a running NanoClaw process with another database.*admin adopt copy$/,
    )
    await expect(adoptWith(copied)).rejects.toThrow('in use by a running')
    await expect(begin()).rejects.toThrow(
      new RegExp(`copies of those of the running .* in ${join(folder, 'data')}: .*adopt copy$`),
    )
    await adoptWith({ ...copied, ...places }, 'copy')
    const copy = await begin()
    await copy.close()
    await original.close()
    await (await start({ folder, config: own, dialect })).close()
  })

  test('an installation that was moved to other folders starts there once the original has ended', async () => {
    const own = await keys()
    const { expectServed } = await install(own, dialect)
    const elsewhere = fresh()
    cpSync(folder, elsewhere, { recursive: true })
    await expectServed(await start({ folder: elsewhere, config: own, dialect }))
  })

  test('an installation whose folders were moved starts there, although links lead there from the old places', async () => {
    const own = await keys()
    const { expectServed } = await install(own, dialect)
    const elsewhere = join(fresh(), 'moved')
    renameSync(folder, elsewhere)
    symlinkSync(elsewhere, folder)
    await expectServed(await start({ folder: elsewhere, config: own, dialect }))
  })

  test('an installation that was moved starts, although nobody can tell whether the old folder is in use', async () => {
    const own = await keys()
    const { expectServed } = await install(own, dialect)
    const elsewhere = fresh()
    cpSync(folder, elsewhere, { recursive: true })
    const lock = join(folder, 'data', '.nanoclaw-running.lock')
    rmSync(lock)
    mkdirSync(lock)
    await expectServed(await start({ folder: elsewhere, config: own, dialect }))
  })
})

test.each(DIALECTS)(
  'after a restore into other folders, the first ones, which lack what was stored since, are refused until the operator chooses them (%s)',
  async (dialect) => {
    const own = databaseKeys(await folderDatabases.migrated(dialect))
    await install(own, dialect)
    const backup = join(fresh(), 'backup')
    await backUp(configOf(own), backup, {})
    const second = fresh()
    const moved = {
      ...own,
      data_dir: join(second, 'data'),
      workspace_root: join(second, 'workspaces'),
    }
    await restore(configOf(moved), backup, { keys: {}, isPartial: false })
    const newer = await start({ folder: second, config: own, dialect })
    const { json } = await uploadFile(newer.url, 'newer.txt', 'newer')
    await newer.close()
    const isServed = async ({ url }: TestServer) =>
      (await fetch(`${url}/api/files/${json.data.id}`)).status === 200

    const before = filesIn(folder)
    for (const config of [
      own,
      { ...own, data_dir: moved.data_dir },
      { ...own, workspace_root: moved.workspace_root },
    ])
      await expect(start({ folder, config, dialect })).rejects.toThrow(
        new RegExp(
          `contains an older state of this installation: .* used with data_dir ${second}/data .*since.*adopt$`,
        ),
      )
    expect(filesIn(folder)).toEqual(before)
    const again = await start({ folder: second, config: own, dialect })
    expect(await isServed(again)).toBe(true)
    await again.close()

    // Chosen on purpose, or restored, they are the newest ones.
    await adoptWith(own)
    await (await start({ folder, config: own, dialect })).close()
    await expect(start({ folder: second, config: own, dialect })).rejects.toThrow('older state')
    await restore(configOf(moved), backup, { keys: {}, isPartial: false })
    await (await start({ folder: second, config: own, dialect })).close()
    await expect(start({ folder, config: own, dialect })).rejects.toThrow('older state')
  },
)

test('folders that are one folder are held once, without waiting for each other', async () => {
  const place = fresh()
  const link = join(fresh(), 'link')
  symlinkSync(place, link)
  // A wait for another process never ends.
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const folders = [
      { key: 'data_dir', path: place },
      { key: 'workspace_root', path: link },
    ]
    const held = await holdFolders(folders, 'a database', { warn() {} })
    await held.release()
  } finally {
    vi.useRealTimers()
  }
}, 5_000)

describe('the start', () => {
  /** Of a database whose id can be read `after` so many times. */
  const settle = (places: readonly Place[], id: string | null, after = 0) => {
    const warned: string[] = []
    let reads = 0
    const settled = settleInstallation({
      settings: {
        async get(_key, schema) {
          reads += 1
          return id === null || reads <= after ? undefined : schema.parse({ id })
        },
        create: async () => {},
      },
      references: async () => NO_REFERENCES,
      places,
      isShared: true,
      log: { warn: (_details, message) => void warned.push(message) },
      visibleMs: 0,
    })
    return { settled, warned }
  }
  const place = (marker: () => Promise<string | null>, isLocal = true): Place => ({
    key: isLocal ? 'data_dir' : 's3',
    name: 'place',
    isLocal,
    marker,
    mark: async () => {},
    contents: async () => 'none',
    isReferred: () => false,
  })
  const bucket = place(() => Promise.reject(new Error('no route to the bucket')), false)

  test('does not need the bucket if the folders belong to the database, and says what it could not check', async () => {
    const { settled, warned } = settle([place(async () => 'ours'), bucket], 'ours')
    expect(await settled).toBe('ours')
    expect(warned).toEqual([expect.stringMatching(/bucket .* could not be checked/)])
  })

  test.each([
    ['a folder of another database', 'theirs', 'ours'],
    ['an unmarked folder', null, 'ours'],
    ['a database without an id', 'ours', null],
  ])('is refused without the bucket and with %s', async (_name, marker, id) => {
    const { settled } = settle([place(async () => marker), bucket], id)
    await expect(settled).rejects.toThrow('no route to the bucket')
  })

  test('of an instance that finds the folders marked while another one stores the id is not refused', async () => {
    expect(await settle([place(async () => 'theirs')], 'theirs', 1).settled).toBe('theirs')
    await expect(settle([place(async () => 'others')], 'theirs', 1).settled).rejects.toThrow(
      /belongs to another database/,
    )
  })
})

test('a folder is marked once on a file system without hard links, too', async () => {
  const { link } = fs.promises
  Object.assign(fs.promises, {
    link: () => Promise.reject(Object.assign(new Error('EPERM: link'), { code: 'EPERM' })),
  })
  // The server imports the function by name.
  syncBuiltinESMExports()
  try {
    const marked = folderMarker(join(folder, 'linkless'))
    await marked.mark('first')
    await marked.mark('second')
    expect(await marked.marker()).toBe('first')
    expect(readdirSync(join(folder, 'linkless'))).toEqual([MARKER_NAME])
  } finally {
    Object.assign(fs.promises, { link })
    syncBuiltinESMExports()
  }
})

test.each(['of this version', 'of an earlier version'])(
  'a restored backup %s of the same installation starts, and what is newer than it stays on disk for the database that it replaced',
  async (version) => {
    const { expectServed } = await install(sqlite)
    const config = configOf(sqlite)
    const run = async (name: string, file: string) => {
      const result = await commands[name]?.run({
        loaded: { config, file: null, presets: null, unknownVariables: [], sourceOf: () => null },
        operands: [file],
        flags: new Set(),
        options: new Map(),
        webRoot: '',
      })
      expect(result).toMatchObject({ status: 0 })
      return result?.lines.join('\n')
    }
    mkdirSync(join(folder, 'backups'))
    const backup = join(folder, 'backups/old.db')
    await run('backup', backup)
    if (version === 'of an earlier version') {
      // In an earlier version, a backup was a file with the folder of its attached files beside it.
      const folderOfBackup = `${backup}.folder`
      renameSync(backup, folderOfBackup)
      renameSync(join(folderOfBackup, 'database.db'), backup)
      renameSync(join(folderOfBackup, 'files'), `${backup}.files`)
      const client = new SqliteClient(backup)
      client.prepare("delete from settings where key = 'shared_folders'").run()
      client.close()
    }
    const newer = await start({ folder, config: sqlite })
    const { json } = await uploadFile(newer.url, 'newer.txt', 'newer than the backup')
    await newer.close()
    expect(await run('restore', backup)).toBe(`Restored ${backup}.`)
    const restored = await start({ folder, config: sqlite })
    await expectServed(restored)
    expect((await fetch(`${restored.url}/api/files/${json.data.id}`)).status).toBe(404)
    await restored.close()

    const aside = readdirSync(join(folder, 'data')).find((name) => name.includes('.before-restore'))
    renameSync(join(folder, 'data', aside ?? ''), join(folder, 'data/nanoclaw.db'))
    const again = await start({ folder, config: sqlite })
    const found = await fetch(`${again.url}/api/files/${json.data.id}`)
    expect(await found.text()).toBe('newer than the backup')
  },
)
