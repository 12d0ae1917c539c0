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
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { commands } from '../../../server/cli.ts'
import { administer } from '../../../server/composition/commands/admin.ts'
import { parseConfig } from '../../../server/config/load.ts'
import { NO_REFERENCES } from '../../../server/db/repositories/installation.ts'
import { SqliteClient } from '../../../server/lib/sqlite-driver.ts'
import {
  folderMarker,
  MARKER_NAME,
  type Place,
  settleInstallation,
} from '../../../server/owner/installation.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'
import { uploadFile } from '../../support/server/uploads.ts'

const { start } = useServers()
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

test('folders that belong to another database are adopted by a command, and its former database is refused until it adopts them', async () => {
  const { expectServed } = await install(sqlite)
  const other = { ...sqlite, db_sqlite_file: join(folder, 'other.db') }
  await expect(adoptWith(other)).rejects.toThrow(/no NanoClaw database here.*nothing was created/)
  expect(existsSync(join(folder, 'other.db'))).toBe(false)
  await commands.migrate?.run({
    loaded: { config: configOf(other), file: null },
    operands: [],
    flags: new Set(),
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

test('a bucket without a prefix belongs to one database', async () => {
  const buckets = fresh()
  const service = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: buckets,
    configureBuckets: [{ name: 'nanoclaw', configs: [] }],
  })
  const { port } = await service.run()
  const s3 = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'nanoclaw',
    region: 'us-east-1',
    access_key_id: 'S3RVER',
    secret_access_key: 'S3RVER',
  }
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
        putNew: async () => {},
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
        loaded: { config, file: null },
        operands: [file],
        flags: new Set(),
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
