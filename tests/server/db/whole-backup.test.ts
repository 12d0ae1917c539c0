// Backups of whole installations: everything comes back, damage is refused before anything changes, gaps are named.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { backUp, restore } from '../../../server/commands/backup.ts'
import { parseConfig } from '../../../server/config/load.ts'
import { copyPlaces } from '../../../server/config/settings.ts'
import { blobPath } from '../../../server/files/disk-blobs.ts'
import { replacedCopies } from '../../../server/files/replaced-copies.ts'
import { databaseKeys, type TestServer, useServers } from '../../support/server/server.ts'
import { uploadFile } from '../../support/server/uploads.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { onConnection } from '../../support/store/explain.ts'

const databases = useDatabases()
const { start } = useServers()
const root = mkdtempSync(join(tmpdir(), 'nanoclaw-whole-backup-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const keys = { configured: undefined, previous: undefined }

/** Puts files, a project with history and a secret into a server. @returns a check that all of it is there. */
async function fill(server: TestServer): Promise<(again: TestServer) => Promise<void>> {
  const { id } = (await uploadFile(server.url, 'heron.txt', 'a heron')).json.data
  const project = (await server.call('POST', '/api/projects', { body: { name: 'Birds' } })).json
    .data.id
  const content = `/api/projects/${project}/files/content?path=bird.txt`
  await server.call('PUT', content, { body: { content: 'a wren' } })
  const channel = { type: 'webhook', name: 'ops', settings: { url: 'https://hooks.example/a' } }
  await server.call('POST', '/api/channels', { body: channel })
  const history = async (one: TestServer) =>
    (await one.call('GET', `/api/projects/${project}/checkpoints`)).json.data
  const before = await history(server)
  return async (again) => {
    expect(await (await fetch(`${again.url}/api/files/${id}`)).text()).toBe('a heron')
    expect((await again.call('GET', content)).json.data.content).toBe('a wren')
    expect(await history(again)).toEqual(before)
    const channels = await again.call('GET', '/api/channels')
    expect(channels.json.data.items[0].settings.url).toBe('https://hooks.example/…')
  }
}

/** Every file below a folder with its contents. */
const contentsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((file) => [file, readFileSync(file, 'base64')]),
  )

test.each(DIALECTS)(
  'a backup made while the server runs brings everything back on an empty installation; damage is refused and changes nothing; what is missing is named (%s)',
  async (dialect) => {
    const place = async (name: string) => {
      const folder = join(root, `${dialect}-${name}`)
      mkdirSync(folder)
      const database = await databases.migrated(dialect)
      const settings = databaseKeys(database)
      const config = parseConfig(
        JSON.stringify({
          data_dir: join(folder, 'data'),
          workspace_root: join(folder, 'workspaces'),
          ...settings,
        }),
        {},
      )
      return {
        config,
        settings: database,
        begin: () => start({ folder, dialect, config: settings }),
      }
    }
    const first = await place('first')
    const server = await first.begin()
    const expectAll = await fill(server)
    const backup = join(root, `${dialect}-backup`)
    // The top of a volume has folders that are not NanoClaw's.
    const foreign = (of: typeof first) => join(of.config.workspace_root, 'lost+found')
    mkdirSync(foreign(first))
    const made = await backUp(first.config, backup, keys)
    expect(made).toMatchObject({ isComplete: true })
    const entry = { user_id: null, username: null, address: null }
    const details = { folder: backup, complete: true, by: 'command line' }
    const audited = async (of: TestServer, action: string) =>
      (await of.call('GET', `/api/admin/audit?action=${action}`)).json.data.items
    expect(await audited(server, 'backup_created')).toMatchObject([{ ...entry, details }])
    expect(existsSync(join(backup, 'workspaces', 'lost+found'))).toBe(false)
    expect(statSync(backup).mode & 0o777).toBe(0o700)
    await expect(backUp(first.config, backup, keys)).rejects.toThrow(/already exists/)
    await server.close()

    const second = await place('second')
    mkdirSync(second.config.data_dir)
    const empty = contentsOf(second.config.data_dir)
    const back = (isPartial = false) => restore(second.config, backup, { keys, isPartial })
    // Eight flipped bytes, in a file of each kind and in the manifest itself.
    const all = Object.keys(contentsOf(backup))
    const kinds = ['/database.', '/files/', '/workspaces/', '/secret.key', '/manifest.jsonl']
    for (const kind of kinds) {
      const file = all.find((name) => name.slice(backup.length).includes(kind)) ?? ''
      const intact = readFileSync(file)
      const flipped = Buffer.from(intact)
      const middle = Math.max(0, Math.floor(intact.length / 2) - 4)
      for (let at = middle; at < Math.min(middle + 8, intact.length); at += 1)
        flipped[at] = (flipped[at] ?? 0) ^ 0xff
      writeFileSync(file, flipped)
      for (const isPartial of [false, true])
        await expect(back(isPartial), kind).rejects.toThrow(/damaged.*Nothing was restored/)
      writeFileSync(file, intact)
    }
    const lock = /\.lock$/
    const now = Object.keys(contentsOf(second.config.data_dir)).filter((name) => !lock.test(name))
    expect(now).toEqual(Object.keys(empty))

    expect(await back()).toEqual({ lines: [], isComplete: true })
    const restored = await second.begin()
    await expectAll(restored)
    expect(await audited(restored, 'backup_restored')).toMatchObject([{ ...entry, details }])
    await restored.close()

    // An interrupted restore is completed before a start.
    const mark = join(second.config.data_dir, 'restore-unfinished')
    writeFileSync(mark, backup)
    await expect(second.begin()).rejects.toThrow(/was interrupted\. Run `nanoclaw restore/)
    mkdirSync(foreign(second))
    // A damaged database is a reason to restore.
    if (dialect === 'sqlite')
      for (const end of ['', '-wal'])
        writeFileSync(`${second.config.db_sqlite_file}${end}`, 'no longer a database'.repeat(500))
    expect(await back()).toEqual({ lines: [], isComplete: true })
    expect(existsSync(foreign(second))).toBe(true)
    expect(existsSync(mark)).toBe(false)
    const aside = readdirSync(second.config.workspace_root).filter((name) =>
      name.startsWith('.before-restore'),
    )
    expect(aside).toHaveLength(1)
    // What a restore keeps is what the doctor lists.
    const copies = (await replacedCopies(copyPlaces(second.config))).map(({ path }) => path)
    expect(copies).toContain(join(second.config.workspace_root, aside[0] ?? ''))
    const database = dialect === 'sqlite' ? 'nanoclaw.db.before-restore' : 'database.before-restore'
    expect(copies.join()).toContain(database)
    const again = await second.begin()
    await expectAll(again)
    await again.close()

    const third = await place('third')
    if (third.settings.dialect === 'postgres') {
      const later = [
        "insert into __drizzle_migrations (hash, created_at) values ('later', 9999999999999)",
        "delete from __drizzle_migrations where hash = 'later'",
      ] as const
      await onConnection(third.settings, later[0])
      await expect(restore(third.config, backup, { keys, isPartial: false })).rejects.toThrow(
        /newer version/,
      )
      await onConnection(third.settings, later[1])
      expect(existsSync(third.config.workspace_root)).toBe(false)
      expect(existsSync(third.config.data_dir)).toBe(false)
    }

    // A backup of an earlier version: the database, and beside it a folder with the attached files, which is missing.
    const earlier = join(root, `${dialect}-earlier`)
    const file = readdirSync(backup).find((name) => name.startsWith('database.')) ?? ''
    copyFileSync(join(backup, file), earlier)
    const withoutFiles = (isPartial: boolean) => restore(third.config, earlier, { keys, isPartial })
    await expect(withoutFiles(false)).rejects.toThrow(
      new RegExp(`nothing was restored. It lacks the folder ${dialect}-earlier\\.files with the`),
    )
    const changed = existsSync(third.config.data_dir) ? contentsOf(third.config.data_dir) : {}
    expect(Object.keys(changed).filter((name) => !lock.test(name))).toEqual([])
    expect(existsSync(third.config.workspace_root)).toBe(false)
    // One of its attached files is missing: it is named.
    cpSync(join(backup, 'files'), `${earlier}.files`, { recursive: true })
    const [one = ''] = readdirSync(`${earlier}.files`, { recursive: true })
      .map((name) => basename(String(name)))
      .filter((name) => /^[0-9a-f]{64}$/.test(name))
    rmSync(blobPath(`${earlier}.files`, one))
    await expect(withoutFiles(false)).rejects.toThrow(
      `nothing was restored. It lacks 1 attached files (${one})`,
    )
    rmSync(`${earlier}.files`, { recursive: true })
    expect((await withoutFiles(true)).lines.join('\n')).toMatch(
      /^Missing in the backup: the folder \S+-earlier\.files.*cannot be opened: .*channels/s,
    )

    rmSync(join(backup, 'files'), { recursive: true })
    rmSync(join(backup, 'data/secret.key'))
    const gaps = (isPartial: boolean) => restore(third.config, backup, { keys, isPartial })
    await expect(gaps(false)).rejects.toThrow(
      /not complete, and nothing was restored.*2 of its files/,
    )
    expect(existsSync(join(third.config.data_dir, 'restore-unfinished'))).toBe(false)
    const partial = await gaps(true)
    expect(partial.isComplete).toBe(false)
    expect(partial.lines.join('\n')).toMatch(/2 of its files.*cannot be opened: .*channels/s)
  },
)

test.each(DIALECTS)(
  'an earlier backup of an installation without files is complete without a folder beside it (%s)',
  async (dialect) => {
    const [folder, other] = [join(root, `${dialect}-empty`), join(root, `${dialect}-from-empty`)]
    const own = databaseKeys(await databases.migrated(dialect))
    const server = await start({ folder, config: own, dialect })
    const { json } = await server.call('POST', '/api/conversations', { body: { title: 'Herons' } })
    await server.close()
    const backup = join(root, `${dialect}-empty-backup`)
    await backUp(server.server.config, backup, keys)
    const file = readdirSync(backup).find((name) => name.startsWith('database.')) ?? ''
    const earlier = join(root, `${dialect}-empty-earlier`)
    copyFileSync(join(backup, file), earlier)

    const replaced = databaseKeys(await databases.migrated(dialect))
    const begin = () => start({ folder: other, config: replaced, dialect })
    const before = await begin()
    await before.close()
    const restored = await restore(before.server.config, earlier, { keys, isPartial: false })
    expect(restored.lines.join(' ')).not.toContain('Missing')
    expect(existsSync(earlier)).toBe(true)
    expect(json.code).toBe(0)
  },
)
