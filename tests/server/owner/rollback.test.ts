// `nanoclaw rollback`: the copy that an upgrade made comes back with the files it refers to, or nothing is changed.
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
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

const databases = useDatabases()
const { start } = useServers()
const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-rollback-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the copy of an upgrade comes back with attached files from the trash; without one of them, nothing is changed', async () => {
  const database = await databases.migrated('sqlite')
  if (database.dialect !== 'sqlite') throw new Error('not SQLite')
  const keys = databaseKeys(database)
  const data = join(folder, 'data')
  const config = parseConfig(
    JSON.stringify({ data_dir: data, workspace_root: join(folder, 'workspaces'), ...keys }),
    {},
  )
  await expect(rollBack(config, undefined, false)).rejects.toThrow(/no copy beside/)
  const begin = () => start({ folder, config: keys })
  const before = await begin()
  const uploaded = (await uploadFile(before.url, 'heron.txt', 'a heron')).json.data
  await before.close()
  const copy = `${database.file}.before-2026-01-02T03-04-05-678Z`
  copyFileSync(database.file, copy)
  // A copy that a restore made is newer, and not meant.
  copyFileSync(database.file, `${database.file}.before-restore-2027-01-02T03-04-05-678Z`)

  const since = await begin()
  await since.call('POST', '/api/conversations', { body: { title: 'since the upgrade' } })
  await expect(rollBack(config, undefined, false)).rejects.toThrow(/Another NanoClaw process/)
  await since.close()
  const blobs = await openDiskBlobs(join(data, 'blobs'))
  const contents: string[] = []
  for await (const { sha256 } of blobs.list()) contents.push(sha256)
  const [content = ''] = contents
  expect(contents).toHaveLength(1)
  expect(await blobs.discard(content, new Date(Date.now() + 60_000))).toBe(true)

  const lines = await rollBack(config, undefined, false)
  expect(lines.join('\n')).toMatch(
    new RegExp(
      `again as in ${copy}\\..*1 attached files were taken.*Start version ${packageJson.version} `,
      's',
    ),
  )
  const after = await begin()
  expect((await after.call('GET', '/api/conversations')).json.data.items).toEqual([])
  expect(await (await fetch(`${after.url}/api/files/${uploaded.id}`)).text()).toBe('a heron')
  await after.close()

  rmSync(blobPath(join(data, 'blobs'), content))
  const asides = () => readdirSync(dirname(database.file)).length
  const count = asides()
  await expect(rollBack(config, copy, false)).rejects.toThrow(
    new RegExp(`Nothing was changed: .* 1 attached files \\(${content}\\)`),
  )
  expect(asides()).toBe(count)
  expect((await rollBack(config, copy, true)).join('\n')).toContain(
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
  await expect(rollBack(config, undefined, false)).rejects.toThrow(/make no copy of a PostgreSQL/)
})
