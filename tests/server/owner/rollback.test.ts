// `nanoclaw rollback`: the copy that an upgrade made comes back with the files it refers to, or nothing is changed.
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import packageJson from '../../../package.json' with { type: 'json' }
import { rollBack } from '../../../server/commands/rollback.ts'
import { parseConfig } from '../../../server/config/load.ts'
import { blobPath, openDiskBlobs } from '../../../server/files/disk-blobs.ts'
import { databaseKeys, useServers } from '../../support/server/server.ts'
import { uploadFile } from '../../support/server/uploads.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { onConnection } from '../../support/store/explain.ts'

const databases = useDatabases()
const { start } = useServers()
const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-rollback-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const options = (copy?: string) => ({
  copy,
  isPartial: false,
  keys: { configured: undefined, previous: undefined },
})
/** A time as the names of copies contain it. */
const stamp = (daysAgo: number): string =>
  new Date(Date.now() - daysAgo * 24 * 60 * 60 * 1000).toISOString().replaceAll(/[:.]/g, '-')

test('the copy of an upgrade comes back with attached files from the trash; without one of them, nothing is changed', async () => {
  const database = await databases.migrated('sqlite')
  if (database.dialect !== 'sqlite') throw new Error('not SQLite')
  const keys = databaseKeys(database)
  const data = join(folder, 'data')
  const config = parseConfig(
    JSON.stringify({ data_dir: data, workspace_root: join(folder, 'workspaces'), ...keys }),
    {},
  )
  await expect(rollBack(config, options())).rejects.toThrow(/no copy beside/)
  const begin = () => start({ folder, config: keys })
  const before = await begin()
  await before.call('POST', '/api/projects', { body: { name: 'Birds' } })
  const hook = { url: 'https://hooks.example/a', events: ['run.ended'] }
  expect((await before.call('POST', '/api/webhooks', { body: hook })).status).toBe(200)
  const uploaded = (await uploadFile(before.url, 'heron.txt', 'a heron')).json.data
  await before.close()
  await onConnection(database, 'update projects set size = 5, history_size = 6')
  const old = `${database.file}.before-${stamp(8)}`
  copyFileSync(database.file, old)
  await expect(rollBack(config, options())).rejects.toThrow(
    new RegExp(`Nothing was changed: .*not of an upgrade of the last 7 days.*rollback ${old}$`),
  )
  const copy = `${database.file}.before-${stamp(1)}`
  copyFileSync(database.file, copy)
  // A copy that a restore made is newer, and not meant.
  copyFileSync(database.file, `${database.file}.before-restore-${stamp(0)}`)

  const since = await begin()
  await since.call('POST', '/api/conversations', { body: { title: 'since the upgrade' } })
  await expect(rollBack(config, options())).rejects.toThrow(/Another NanoClaw process/)
  await since.close()
  const blobs = await openDiskBlobs(join(data, 'blobs'))
  const contents: string[] = []
  for await (const { sha256 } of blobs.list()) contents.push(sha256)
  const [content = ''] = contents
  expect(contents).toHaveLength(1)
  expect(await blobs.discard(content, new Date(Date.now() + 60_000))).toBe(true)

  const lines = await rollBack(config, options())
  expect(lines.join('\n')).toMatch(
    new RegExp(
      `again as in ${copy} \\(made at .*, of version .*\\)\\..*1 attached files were taken.*Start version ${packageJson.version} .*Attached files that this database does not refer to`,
      's',
    ),
  )
  expect(await onConnection(database, 'select distinct size, history_size from projects')).toEqual([
    { size: null, history_size: null },
  ])
  const after = await begin()
  const acts = await onConnection(
    database,
    "select details from audit_entries where action = 'backup_restored'",
  )
  expect(acts).toMatchObject([{ details: expect.stringContaining(copy) }])
  expect((await after.call('GET', '/api/conversations')).json.data.items).toEqual([])
  expect(await (await fetch(`${after.url}/api/files/${uploaded.id}`)).text()).toBe('a heron')
  await after.close()

  // As after the keys were rotated.
  const key = join(data, 'secret.key')
  const kept = readFileSync(key)
  writeFileSync(key, `${'ab'.repeat(32)}\n`)
  await expect(rollBack(config, options(copy))).rejects.toThrow(
    /Nothing was changed: .*the key of stored secrets \(.*webhooks.*--partial/,
  )
  writeFileSync(key, kept)

  rmSync(blobPath(join(data, 'blobs'), content))
  const asides = () => readdirSync(dirname(database.file)).length
  const count = asides()
  await expect(rollBack(config, options(copy))).rejects.toThrow(
    new RegExp(`Nothing was changed: .* 1 attached files \\(${content}\\)`),
  )
  expect(asides()).toBe(count)
  expect((await rollBack(config, { ...options(copy), isPartial: true })).join('\n')).toContain(
    `Missing: 1 attached files (${content})`,
  )
})

test('with PostgreSQL, of which upgrades make no copy, the command says what to restore instead', async () => {
  const config = parseConfig(
    JSON.stringify({
      data_dir: join(folder, 'unused'),
      db_type: 'postgresql',
      database_url: 'postgresql://127.0.0.1:1/none',
    }),
    {},
  )
  await expect(rollBack(config, options())).rejects.toThrow(/make no copy of a PostgreSQL/)
})
