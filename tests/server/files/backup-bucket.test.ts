// Backups in a bucket, against a real server: what is sent, what stays, what an interruption leaves, and the way back.
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { bucketBackups, restoreFromBucket } from '../../../server/commands/backup-bucket.ts'
import { parseConfig } from '../../../server/config/load.ts'
import { createStore } from '../../../server/db/store.ts'
import { createBackupBucket } from '../../../server/files/backup-bucket.ts'
import { entryOf, writeManifest } from '../../../server/files/backup-folder.ts'
import { createS3Client, objectsBelow, type S3Settings } from '../../../server/files/s3-client.ts'
import {
  BACKUPS_KEY,
  BackupRecord,
  type MadeBackup,
  scheduleBackups,
} from '../../../server/files/scheduled-backups.ts'
import { databaseKeys, useServers } from '../../support/server/server.ts'
import { simulatedClock } from '../../support/server/simulated-clock.ts'
import { uploadFile } from '../../support/server/uploads.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { startMailServer } from '../messaging/receivers.ts'

const root = mkdtempSync(join(tmpdir(), 'nanoclaw-bucket-'))
const service = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory: join(root, 'buckets'),
  configureBuckets: [{ name: 'backups', configs: [] }],
})
let endpoint: string
beforeAll(async () => {
  const { port } = await service.run()
  endpoint = `http://127.0.0.1:${port}`
})
afterAll(async () => {
  await service.close()
  rmSync(root, { recursive: true })
})

const databases = useDatabases()
const { start } = useServers()

const settingsOf = (prefix: string): S3Settings => ({
  endpoint,
  bucket: 'backups',
  region: 'us-east-1',
  // The keys of this server.
  accessKeyId: 'S3RVER',
  secretAccessKey: 'S3RVER',
  prefix,
})
const keysOf = (prefix: string) => ({
  endpoint,
  bucket: 'backups',
  region: 'us-east-1',
  access_key_id: 'S3RVER',
  secret_access_key: 'S3RVER',
  prefix,
})

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-bucket-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const objects = async (prefix: string): Promise<string[]> => {
  const found: string[] = []
  for await (const { name } of objectsBelow(createS3Client(settingsOf(prefix)), prefix))
    found.push(name)
  return found.sort()
}

/** Writes a backup with these files. */
async function writeBackup(
  folder: string,
  files: Record<string, string | Buffer>,
  missing: string[] = [],
): Promise<string> {
  mkdirSync(folder, { recursive: true })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const entries = await Promise.all(
    Object.keys(files).map((path) => entryOf(folder, join(folder, path))),
  )
  const header = {
    nanoclaw: 'backup' as const,
    format: 2 as const,
    version: '1',
    createdAt: new Date(0).toISOString(),
    dialect: 'sqlite' as const,
    database: 'database.db',
    missing,
  }
  await writeManifest(folder, header, entries)
  return folder
}

const OWN = 'nanoclaw-1234abcd'
const named = (day: string, installation = OWN) => `${installation}-2026-01-${day}T00-00-00Z`

test('a content is sent once, however many backups have it; what no backup that stays refers to is removed; other installations keep theirs', async () => {
  const bucket = createBackupBucket(settingsOf('once/'))
  const base = emptyFolder()
  const put = async (name: string, files: Record<string, string>, missing: string[] = []) =>
    await bucket.put(await writeBackup(join(base, name), files, missing), name)
  const photo = 'a photo '.repeat(10_000)
  const first = { 'database.db': 'one', 'files/a': photo, 'files/b': photo }
  expect(await put(named('01'), first)).toEqual({ sent: 2 })
  expect(await put(named('02'), { 'database.db': 'two', 'files/a': photo })).toEqual({ sent: 1 })
  const third = { 'database.db': 'three', 'files/a': photo, 'files/empty': '' }
  expect(await put(named('03'), third, ['a file'])).toEqual({ sent: 2 })
  const other = named('01', 'nanoclaw-99999999')
  await put(other, { 'database.db': 'other', 'files/a': photo })
  expect(await bucket.list()).toEqual([
    { name: named('03'), isComplete: false },
    { name: named('02'), isComplete: true },
    { name: named('01'), isComplete: true },
    { name: other, isComplete: true },
  ])
  // The newest one is incomplete, so that the newest complete one stays, too.
  expect(await bucket.prune(OWN, 1)).toEqual([named('01')])
  expect((await bucket.list()).map(({ name }) => name)).toEqual([named('03'), named('02'), other])
  const left = await objects('once/')
  expect(left.filter((name) => name.startsWith(`contents/${OWN}/`))).toHaveLength(4)
  expect(left.filter((name) => name.startsWith('contents/nanoclaw-99999999/'))).toHaveLength(2)
  const back = join(emptyFolder(), 'back')
  await bucket.fetch(named('03'), back)
  for (const path of [...Object.keys(third), 'manifest.jsonl'])
    expect(readFileSync(join(back, path))).toEqual(readFileSync(join(base, named('03'), path)))
  // A manifest that cannot be read may refer to anything: all contents stay.
  await createS3Client(settingsOf('once/')).putObject(
    `once/backups/${named('03')}.jsonl`,
    readFileSync(join(base, named('03'), 'manifest.jsonl'), 'utf8').replace('files/a', 'files/x'),
  )
  await put(named('04'), { 'database.db': 'four' })
  await put(named('05'), { 'database.db': 'five' })
  expect(await bucket.prune(OWN, 3)).toEqual([named('02')])
  expect(
    (await objects('once/')).filter((name) => name.startsWith(`contents/${OWN}/`)),
  ).toHaveLength(6)
})

test('a file that services refuse in one request is sent in parts, and comes back as it was', async () => {
  const bucket = createBackupBucket(settingsOf('parts/'))
  const content = randomBytes(65 * 1024 ** 2)
  const folder = await writeBackup(join(emptyFolder(), 'backup'), { 'database.db': content })
  await bucket.put(folder, named('01'))
  const back = join(emptyFolder(), 'back')
  await bucket.fetch(named('01'), back)
  expect(readFileSync(join(back, 'database.db')).equals(content)).toBe(true)
})

test('a bucket that cannot be used is named with the reason, without a key, and a name that it does not have is refused', async () => {
  const files = { 'database.db': 'one' }
  const folder = await writeBackup(join(emptyFolder(), 'backup'), files)
  const wrong = createBackupBucket({ ...settingsOf('x/'), bucket: 'elsewhere' })
  await expect(wrong.put(folder, named('01'))).rejects.toThrow(
    /^The bucket s3:\/\/elsewhere\/x\/ cannot be used: there is no such bucket/,
  )
  const forged = createBackupBucket({
    ...settingsOf('x/'),
    accessKeyId: 'NOBODY',
    secretAccessKey: 'hidden-secret',
  })
  const refusal = await forged.put(folder, named('01')).catch((error: unknown) => String(error))
  expect(refusal).toContain('it does not accept the key')
  expect(refusal).not.toContain('hidden-secret')
  const bucket = createBackupBucket(settingsOf('x/'))
  for (const name of [named('05'), '../../etc/passwd', ''])
    await expect(bucket.fetch(name, join(emptyFolder(), 'back'))).rejects.toThrow(/has no backup/)
})

test.each(DIALECTS)(
  'a server whose backups go only to a bucket leaves nothing on its disk, and another machine restores from there (%s)',
  async (dialect) => {
    const prefix = `server-${dialect}/`
    const folder = emptyFolder()
    const settings = databaseKeys(await databases.migrated(dialect))
    const clock = simulatedClock('2026-01-01T00:00:00Z')
    const backup = { every: '12h', keep: 2, s3: keysOf(prefix), reserve: '1MB' }
    const server = await start({ folder, dialect, config: { ...settings, backup }, clock })
    await uploadFile(server.url, 'heron.txt', 'a heron')
    await clock.set('2026-01-01T06:00:00Z')
    const manifests = async () =>
      (await objects(prefix)).filter((name) => name.startsWith('backups/'))
    expect(await manifests()).toHaveLength(1)
    const [name = ''] = (await manifests()).map((key) => key.slice('backups/'.length, -6))
    expect(name).toMatch(/^nanoclaw-[0-9a-f]{8}-2026-01-01T06-00-00Z$/)
    expect(readdirSync(join(folder, 'data', 'outgoing-backups'))).toEqual([])
    const { items } = (await server.call('GET', '/api/admin/health')).json.data
    expect(
      items.find(({ code }: { code: string }) => code.startsWith('backups_'))?.params.folder,
    ).toBe(`s3://backups/${prefix}${name}`)
    await clock.set('2026-01-01T18:00:00Z')
    await clock.set('2026-01-02T06:00:00Z')
    expect(await manifests()).toHaveLength(2)
    await server.close()

    const fresh = emptyFolder()
    const other = databaseKeys(await databases.migrated(dialect))
    const config = parseConfig(
      JSON.stringify({
        data_dir: join(fresh, 'data'),
        workspace_root: join(fresh, 'workspaces'),
        ...other,
        backup,
      }),
      {},
    )
    const lines = await bucketBackups(config)
    expect(lines).toHaveLength(3)
    expect(lines[0]).toContain('2026-01-02T06-00-00Z')
    const keys = { configured: undefined, previous: undefined }
    expect(
      await restoreFromBucket(config, lines[0] ?? '', { keys, isPartial: false }),
    ).toMatchObject({ isComplete: true })
    expect(existsSync(join(fresh, 'data', 'downloaded-backup'))).toBe(false)
    const restored = await start({ folder: fresh, dialect, config: other })
    const found = await restored.call('GET', '/api/search?q=heron&type=file')
    expect(found.status).toBe(200)
    await restored.close()

    // Damaged in the bucket: nothing is restored. Missing: only what is asked for.
    const client = createS3Client(settingsOf(prefix))
    const installation = name.slice(0, 'nanoclaw-12345678'.length)
    const contents = (await objects(prefix)).filter((key) =>
      key.startsWith(`contents/${installation}`),
    )
    const again = { keys, isPartial: false }
    const [victim = ''] = contents.filter((key) => key.endsWith(HERON))
    await client.putObject(`${prefix}${victim}`, 'a crane')
    await expect(restoreFromBucket(config, lines[0] ?? '', again)).rejects.toThrow(
      /cannot be used|damaged/,
    )
    await client.deleteObject(`${prefix}${victim}`)
    await expect(restoreFromBucket(config, lines[0] ?? '', again)).rejects.toThrow(/--partial/)
    expect(
      await restoreFromBucket(config, lines[0] ?? '', { keys, isPartial: true }),
    ).toMatchObject({ isComplete: false })
  },
)

/** The SHA-256 of "a heron". */
const HERON = '2befaa10dc2e11ce8ef0d78142da4107b92d9eaeefe8dbd7663a9ae944877fed'

test('a copy that fails is mailed once and made later from the backup that is there, without another backup', async () => {
  const database = await databases.open('sqlite')
  const store = createStore(database)
  const clock = simulatedClock('2026-01-01T00:00:00Z')
  const folder = emptyFolder()
  const made: string[] = []
  const copied: string[] = []
  const told: string[] = []
  const note = (): void => {}
  let isDown = true
  const stop = scheduleBackups({
    schedule: {
      everyMs: 86_400_000,
      keep: 2,
      folder,
      staysInFolder: false,
      bucket: { bucket: 'backups', prefix: 'x/' },
      reserve: 1,
    },
    prefix: `${OWN}-`,
    store,
    async makeBackup(target): Promise<MadeBackup> {
      made.push(target)
      await writeBackup(target, { 'database.db': 'one' })
      return { bytes: 3, missing: [] }
    },
    async copyToBucket(source) {
      if (isDown)
        throw new Error('The bucket s3://backups/x/ cannot be used: it refused the connection.')
      copied.push(source)
    },
    databaseBytes: async () => 1,
    freeBytes: async () => 1e12,
    tellFailure: async (reason) => void told.push(reason),
    clock,
    log: { info: note, warn: note, error: note },
  })
  const record = () => store.settings.get(BACKUPS_KEY, BackupRecord)
  await clock.set('2026-01-01T00:01:00Z')
  expect(await record()).toMatchObject({ failures: 1, last: null, uncopied: { bytes: 3 } })
  await clock.set('2026-01-01T01:02:00Z')
  expect(await record()).toMatchObject({ failures: 2, last: null })
  isDown = false
  await clock.set('2026-01-01T02:03:00Z')
  expect(made).toHaveLength(1)
  expect(copied).toEqual(made)
  expect(told).toHaveLength(1)
  expect(readdirSync(folder)).toEqual([])
  const audit = async () =>
    (await store.audit.list({ action: 'backup_created' }, { limit: 5 })).items.length
  expect(await audit()).toBe(1)
  expect(await record()).toMatchObject({
    failures: 0,
    failure: null,
    uncopied: null,
    last: { folder: `s3://backups/x/${named('01').replace('T00-00', 'T00-01')}` },
  })
  // One that waited until the next was due is replaced by it.
  isDown = true
  await clock.set('2026-01-02T02:04:00Z')
  await clock.set('2026-01-03T02:05:00Z')
  expect(made).toHaveLength(3)
  expect(readdirSync(folder)).toHaveLength(1)
  await stop()
})

test('backups have to go somewhere, and a wrong key is told by mail', async () => {
  expect(() => parseConfig(JSON.stringify({ backup: { every: '1d' } }), {})).toThrow(
    /to \(a folder\) or s3 \(a bucket\)/,
  )
  const { smtp, mails } = await startMailServer()
  const folder = emptyFolder()
  const clock = simulatedClock('2026-01-01T00:00:00Z')
  const s3 = { ...keysOf('mail/'), access_key_id: 'NOBODY', secret_access_key: 'hidden-secret' }
  const backup = { every: '1d', s3, reserve: '1MB' }
  const server = await start({ folder, config: { smtp, backup }, clock })
  await server.call('PATCH', '/api/auth/profile', { body: { email: 'kim@example.org' } })
  await clock.set('2026-01-01T06:00:00Z')
  await expect.poll(() => mails.length).toBe(1)
  const text = mails[0]?.replaceAll('=\r\n', '') ?? ''
  expect(text).toContain('The scheduled backup to s3://backups/mail/ failed')
  expect(text).toContain('does not accept the key')
  expect(text).not.toContain('hidden-secret')
  const { items } = (await server.call('GET', '/api/admin/health')).json.data
  const codes = items.map(({ code }: { code: string }) => code)
  expect(codes).toEqual(expect.arrayContaining(['backup_bucket_broken', 'backups_failed']))
})
