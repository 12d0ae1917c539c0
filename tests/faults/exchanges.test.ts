// Databases, folders, buckets and backups exchanged in any order, with kill -9 between: what a started server refers to exists, and no
// file, project or key is ever gone.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import S3rver from 's3rver'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { z } from 'zod'
import { blobPath, trashPath } from '../../server/files/disk-blobs.ts'
import { type Random, rounds } from '../support/random.ts'
import { freePort } from '../support/server/free-port.ts'
import { databaseKeys } from '../support/server/server.ts'
import { uploadFile } from '../support/server/uploads.ts'
import { SHORT_LIVED } from '../support/short-lived.ts'
import { useDatabases } from '../support/store/databases.ts'

const IS_FULL = process.env.FAULTS === 'full'
const ROUNDS = IS_FULL ? 12 : 1
const STEPS = IS_FULL ? 40 : 7
/** Less than a file may wait for its message, and more than a content without a row is new. */
const MAX_HOURS = 23
const HOUR_MS = 60 * 60_000
const CLOCK = pathToFileURL(join(import.meta.dirname, '../support/clock-ahead.mjs')).href
const SQLITE = ['one', 'two'] as const
const DATABASES = [...SQLITE, 'postgres'] as const
type DatabaseName = (typeof DATABASES)[number]
const BUCKETS = ['bucket-1', 'bucket-2'] as const

/** What the configuration names. */
interface Pair {
  database: DatabaseName
  data: string
  workspaces: string
  /** Where the attached files are; null: in the data folder. */
  bucket: (typeof BUCKETS)[number] | null
}

/** Where a note is: at its path, or where restores have set it aside. */
const notePlaces = (file: string): string[] => {
  const project = dirname(file)
  const user = dirname(project)
  const root = dirname(user)
  const end = join(basename(user), basename(project), basename(file))
  const asides = readdirSync(root).filter((name) => name.startsWith('.before-restore-'))
  return [file, ...asides.map((name) => join(root, name, end))].filter(existsSync)
}

/** What a database must serve, and where. */
interface Contents {
  files: readonly { id: string; text: string; blob: { folder: string; sha256: string } }[]
  notes: readonly { project: string; text: string; file: string }[]
  /** Shared conversations, whose tokens are sealed with the key. */
  links: readonly { conversation: string; token: string }[]
  /** Where it was last ready or restored; null before. */
  home: Pick<Pair, 'data' | 'workspaces' | 'bucket'> | null
}
const Created = z.object({ data: z.object({ id: z.string() }) })
const Share = z.object({ conversation_id: z.string(), token: z.string().nullable() })
const Shared = z.object({ data: Share })
const SharePage = z.object({ data: z.object({ items: z.array(Share) }) })
const NOTHING: Contents = { files: [], notes: [], links: [], home: null }

const databases = useDatabases()
const folders: string[] = []
const buckets: S3rver[] = []
const running = new Set<ChildProcess>()
afterAll(async () => {
  for (const child of [...running]) {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  for (const service of buckets) await service.close()
  vi.useRealTimers()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** The path of an object in a bucket of the test server, which is its name and this end. */
const OBJECT_END = '._S3rver_object'

/** One machine with two data folders, two workspace folders, two buckets and three databases. */
async function machine(random: Random, what: string) {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-exchanges-'))
  folders.push(folder)
  const service = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: join(folder, 'buckets'),
    configureBuckets: BUCKETS.map((name) => ({ name, configs: [] })),
  })
  buckets.push(service)
  const endpoint = `http://127.0.0.1:${(await service.run()).port}`
  const postgres = databaseKeys(await databases.migrated('postgres'))
  const contents = new Map<DatabaseName, Contents>()
  const backups: { file: string; contents: Contents; isPostgres: boolean }[] = []
  const keys = new Map<string, string>()
  const stored: Contents[] = []
  let hours = 0
  let pair: Pair = {
    database: 'one',
    data: 'data-1',
    workspaces: 'workspaces-1',
    bucket: random.pick([null, 'bucket-1']),
  }
  const path = (name: string): string => join(folder, name)
  const fileOf = (name: DatabaseName): string => path(`${name}.db`)
  const contentsOf = (name: DatabaseName): Contents => contents.get(name) ?? NOTHING

  /** Whether the configured database exists; in folders of nobody, a start creates a new one. */
  const isThere = (): boolean => pair.database === 'postgres' || existsSync(fileOf(pair.database))
  /**
   * A restore sets aside what other databases have in its folders, such as copies of the same installation. It says so if
   * the places are not those of the restored database: the next start is refused there.
   */
  const restored = (backup: Contents, output: string): void => {
    const { database, ...home } = pair
    for (const [other, known] of contents)
      if (known.home?.workspaces === home.workspaces || known.home?.data === home.data)
        contents.set(other, { ...known, notes: [], links: [], home: null })
    contents.set(database, {
      ...backup,
      home: output.includes('The next start is refused') ? null : home,
    })
  }

  async function run(values: readonly string[]) {
    const port = await freePort()
    // The bucket service refuses requests of another time.
    const now = performance.timeOrigin + performance.now()
    vi.useFakeTimers({ toFake: ['Date'], now: now + hours * HOUR_MS })
    writeFileSync(
      path('config.yml'),
      JSON.stringify({
        data_dir: path(pair.data),
        workspace_root: path(pair.workspaces),
        ...(pair.database === 'postgres'
          ? postgres
          : { db_type: 'sqlite', db_sqlite_file: fileOf(pair.database) }),
        ...(pair.bucket === null
          ? {}
          : {
              s3: {
                endpoint,
                bucket: pair.bucket,
                region: 'us-east-1',
                access_key_id: 'S3RVER',
                secret_access_key: 'S3RVER',
              },
            }),
      }),
    )
    const program = join(inject('serverBuild'), 'main.js')
    const child = spawn(process.execPath, [...SHORT_LIVED, '--import', CLOCK, program, ...values], {
      cwd: folder,
      env: {
        ...process.env,
        NANOCLAW_CONFIG: path('config.yml'),
        PORT: String(port),
        AHEAD_MS: String(hours * HOUR_MS),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    let output = ''
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    const exited = once(child, 'exit').then(([code]) => {
      running.delete(child)
      return typeof code === 'number' ? code : null
    })
    const ready = new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        output += `${line}\n`
        if (line.includes('is ready')) resolve()
      })
    })
    return { child, exited, ready, url: `http://127.0.0.1:${port}`, output: () => output }
  }

  /** What the database refers to is there. */
  async function expectServed(url: string, { files, notes }: Contents): Promise<void> {
    for (const { id, text } of files) {
      const response = await fetch(`${url}/api/files/${id}`)
      expect([response.status, await response.text()], what).toEqual([200, text])
    }
    for (const { project, text } of notes) {
      const response = await fetch(`${url}/api/projects/${project}/files/note.txt?raw=1`)
      expect([response.status, await response.text()], what).toEqual([200, text])
    }
  }

  /** What was sealed with the keys can be opened. */
  async function expectOpened(url: string, { links }: Contents): Promise<void> {
    const response = await fetch(`${url}/api/shares?limit=100`)
    const { items } = SharePage.parse(await response.json()).data
    const tokens = new Map(items.map((share) => [share.conversation_id, share.token]))
    for (const { conversation, token } of links)
      expect([conversation, tokens.get(conversation)], what).toEqual([conversation, token])
  }

  /** Uploads a file, shares a conversation, and creates a project with a file. */
  async function use(url: string): Promise<void> {
    const text = `${pair.database} ${random.share()}`
    const { json } = await uploadFile(url, 'file.txt', text)
    const { id, sha256 } = json.data
    const created = await fetch(`${url}/api/projects`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: text }),
    })
    const { data } = Created.parse(await created.json())
    const conversation = await fetch(`${url}/api/conversations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: text }),
    })
    const talk = Created.parse(await conversation.json()).data.id
    const shared = await fetch(`${url}/api/conversations/${talk}/share`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({}),
    })
    const { token } = Shared.parse(await shared.json()).data
    if (token === null) throw new Error('the share was sealed with a key that is gone')
    const written = await fetch(`${url}/api/projects/${data.id}/files/note.txt`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: text }),
    })
    expect(written.status, what).toBe(200)
    const before = contentsOf(pair.database)
    const blobFolder =
      pair.bucket === null ? join(path(pair.data), 'blobs') : path(`buckets/${pair.bucket}`)
    const root = path(pair.workspaces)
    const file = readdirSync(root)
      .map((user) => join(root, user, data.id, 'note.txt'))
      .find(existsSync)
    if (file === undefined) throw new Error('the note is not on disk')
    const now: Contents = {
      home: { data: pair.data, workspaces: pair.workspaces, bucket: pair.bucket },
      files: [...before.files, { id, text, blob: { folder: blobFolder, sha256 } }],
      notes: [...before.notes, { project: data.id, text, file }],
      links: [...before.links, { conversation: talk, token }],
    }
    contents.set(pair.database, now)
    stored.push({ ...now, files: now.files.slice(-1), notes: now.notes.slice(-1) })
  }

  return {
    /** `areKeysThere`: whether the keys with which links were sealed are in place. */
    async start(areKeysThere = false): Promise<'ready' | 'refused'> {
      const wasThere = isThere()
      const { child, exited, ready, url, output } = await run([])
      const outcome = await Promise.race([ready.then(() => 'ready' as const), exited])
      if (outcome !== 'ready') {
        expect([outcome, output()], what).toEqual([
          1,
          expect.stringMatching(/^.*(belongs? to|contains).*nanoclaw admin adopt.*\n$/),
        ])
        return 'refused'
      }
      if (!wasThere) contents.set(pair.database, NOTHING)
      await expectServed(url, contentsOf(pair.database))
      if (areKeysThere) await expectOpened(url, contentsOf(pair.database))
      await use(url)
      child.kill(random.pick(['SIGTERM', 'SIGKILL']))
      await exited
      return 'ready'
    },
    async startKilled(): Promise<void> {
      const wasThere = isThere()
      const { child, exited, ready } = await run([])
      const timer = setTimeout(() => child.kill('SIGKILL'), random.below(1_500))
      await Promise.race([ready, exited])
      clearTimeout(timer)
      child.kill('SIGKILL')
      await exited
      if (!wasThere && isThere()) contents.set(pair.database, NOTHING)
    },
    switch(to: Partial<Pair> = {}): void {
      pair = {
        database: random.pick(DATABASES),
        data: random.pick(['data-1', 'data-2']),
        workspaces: random.pick(['workspaces-1', 'workspaces-2']),
        bucket: random.pick([null, ...BUCKETS]),
        ...to,
      }
    },
    setAside(): void {
      const file = fileOf(random.pick(SQLITE))
      const [from, to] = existsSync(file) ? [file, `${file}.aside`] : [`${file}.aside`, file]
      // With what its process left beside it when it was killed.
      for (const end of ['', '-wal', '-shm'])
        if (existsSync(from + end)) renameSync(from + end, to + end)
    },
    async backUp(): Promise<void> {
      const file = path(`backup-${backups.length}`)
      const { exited, output } = await run(['backup', file])
      const isPostgres = pair.database === 'postgres'
      // One that lacks something says so, and does not bring everything back.
      if ((await exited) === 0 && !output().includes('Not in the backup'))
        backups.push({ file, contents: contentsOf(pair.database), isPostgres })
    },
    async restore(): Promise<void> {
      const isPostgres = pair.database === 'postgres'
      const own = backups.filter((backup) => backup.isPostgres === isPostgres)
      if (own.length === 0) return
      const backup = random.pick(own)
      const { child, exited, output } = await run(['restore', backup.file])
      const isKilled = random.share() < 0.3
      const timer = setTimeout(() => isKilled && child.kill('SIGKILL'), random.below(1_000))
      const code = await exited
      clearTimeout(timer)
      if (code === 0) restored(backup.contents, output())
      // A killed one has replaced the database or not; repeated, it has.
      else if (isKilled) {
        const again = await run(['restore', backup.file])
        const outcome = await again.exited
        // It was killed before it could refuse places of another installation.
        if (outcome !== 0)
          expect([outcome, again.output()], what).toEqual([
            1,
            expect.stringContaining('Nothing was restored'),
          ])
        else restored(backup.contents, again.output())
      }
    },
    passTime(): void {
      hours = Math.min(MAX_HOURS, hours + random.below(6))
    },
    path,
    /** Backs the installation up, and restores it with kill -9 as soon as `place` has a file of this name, then once more. */
    async restoreKilled(place: string, name: string): Promise<void> {
      const file = path(`backup-${name}`)
      expect(await (await run(['backup', file])).exited, what).toBe(0)
      const restoring = await run(['restore', file])
      const watcher = watch(path(place), (_event, found) => {
        if (found?.startsWith(name) === true) restoring.child.kill('SIGKILL')
      })
      const code = await restoring.exited
      watcher.close()
      // On a slow machine, it may have ended before it was killed.
      expect([null, 0], `${what}: ${restoring.output()}`).toContain(code)
      expect(await (await run(['restore', file])).exited, what).toBe(0)
    },
    /** Nothing that was ever stored is gone, and no key has changed. */
    expectNothingGone(): void {
      for (const { files, notes } of stored) {
        for (const { blob } of files) {
          const { folder: place, sha256 } = blob
          const paths = [
            blobPath(place, sha256),
            join(place, sha256 + OBJECT_END),
            ...[trashPath(place, sha256)].flatMap((inTrash) => [inTrash, inTrash + OBJECT_END]),
          ]
          const isThere = paths.some(existsSync)
          expect([isThere, sha256], what).toEqual([true, sha256])
        }
        for (const { file, text } of notes)
          expect(
            notePlaces(file).map((place) => readFileSync(place, 'utf8')),
            `${what}: ${file}`,
          ).toContain(text)
      }
      for (const name of ['data-1', 'data-2']) {
        const file = join(path(name), 'secret.key')
        if (!existsSync(file)) continue
        const key = readFileSync(file, 'utf8')
        const kept = readdirSync(path(name))
          .filter((found) => found.startsWith('secret.key.before-restore-'))
          .map((found) => readFileSync(join(path(name), found), 'utf8'))
        expect([key, ...kept], what).toContain(keys.get(name) ?? key)
        keys.set(name, key)
      }
    },
    homes: () =>
      DATABASES.flatMap((database) => {
        const { home } = contentsOf(database)
        const isAside = database !== 'postgres' && !existsSync(fileOf(database))
        return home === null || isAside ? [] : [{ database, ...home }]
      }),
  }
}

for (const { random, what } of rounds(ROUNDS))
  test(`${STEPS} exchanges of databases, folders, buckets and backups with kill -9 between lose no file, project or key (${what})`, {
    timeout: 3_600_000,
  }, async () => {
    const all = await machine(random, what)
    expect(await all.start()).toBe('ready')
    for (let step = 0; step < STEPS; step += 1) {
      const act = random.pick([
        () => all.start(),
        () => all.start(),
        () => all.start(),
        all.startKilled,
        all.switch,
        all.switch,
        all.setAside,
        all.backUp,
        all.restore,
        all.passTime,
        all.passTime,
      ])
      await act()
      all.expectNothingGone()
    }
    for (const home of all.homes()) {
      all.switch(home)
      expect([home, await all.start()], what).toEqual([home, 'ready'])
    }
    all.expectNothingGone()
  })

for (const { random, what } of rounds(1)) {
  test('keys that two installations exchange, with kill -9 at each step, are neither overwritten nor lost: with all of them, every sealed value opens', async () => {
    const all = await machine(random, what)
    const ONE: Pair = {
      database: 'one',
      data: 'data-1',
      workspaces: 'workspaces-1',
      bucket: null,
    }
    const TWO: Pair = {
      database: 'postgres',
      data: 'data-2',
      workspaces: 'workspaces-2',
      bucket: 'bucket-1',
    }
    const [one, two, aside] = [
      all.path('data-1/secret.key'),
      all.path('data-2/secret.key'),
      all.path('aside.key'),
    ]
    for (const pair of [ONE, TWO]) {
      all.switch(pair)
      expect(await all.start()).toBe('ready')
    }
    const [ofOne, ofTwo] = [one, two].map((file) => readFileSync(file, 'utf8'))

    renameSync(one, aside)
    all.switch(ONE)
    await all.startKilled()
    rmSync(one, { force: true })
    renameSync(two, one)
    await all.startKilled()
    // It says which secrets do not open, and seals new ones with the key that is there.
    expect(await all.start(false)).toBe('ready')
    expect(readFileSync(one, 'utf8')).toBe(ofTwo)
    all.switch(TWO)
    await all.startKilled()
    copyFileSync(aside, two)
    expect(await all.start(false)).toBe('ready')
    expect(readFileSync(two, 'utf8')).toBe(ofOne)

    for (const file of [one, two]) writeFileSync(file, `${ofOne}${ofTwo}`)
    for (const pair of [ONE, TWO]) {
      all.switch(pair)
      expect(await all.start(true)).toBe('ready')
    }
  })

  test.each([
    ['the projects are replaced', 'workspaces-1', '.before-restore'],
    ['the rows of PostgreSQL are replaced', 'data-1', 'database.before-restore'],
  ])(
    'a restore that is killed while %s loses nothing once it is repeated',
    async (_when, place, name) => {
      const all = await machine(random, what)
      all.switch({
        database: 'postgres',
        data: 'data-1',
        workspaces: 'workspaces-1',
        bucket: null,
      })
      expect(await all.start(true)).toBe('ready')
      await all.restoreKilled(place, name)
      expect(await all.start(true)).toBe('ready')
      all.expectNothingGone()
    },
  )
}
