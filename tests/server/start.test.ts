// Start-up and shutdown as an operator sees them: output, exit codes, signals. Each server is a separate process.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { pendingMigrations } from '../../server/db/migrate.ts'
import { useProcesses } from '../support/server/process.ts'
import { databaseKeys } from '../support/server/server.ts'
import { useDatabases } from '../support/store/databases.ts'
import { DIALECTS } from '../support/store/dialects.ts'
import { onConnection } from '../support/store/explain.ts'

const { folder, start } = useProcesses()
const databases = useDatabases()

const missingDatabase = Object.assign(new URL(inject('postgres').url), {
  pathname: '/nowhere',
}).href

// What a configuration must not say is tested with the configuration; here one fault of it stands for all.
describe('a start that cannot succeed', () => {
  test.each([
    ['an unknown key', 'nonsense: 1\n', {}, 2, /config\.yml: nonsense: /],
    [
      'a missing file',
      null,
      { NANOCLAW_CONFIG: '/nowhere/config.yml' },
      2,
      /\/nowhere\/config\.yml/,
    ],
    ['a database that is a folder', 'db_sqlite_file: .\n', {}, 1, /database/],
    [
      'a folder for projects below a file',
      'workspace_root: /dev/null/projects\n',
      {},
      1,
      /\/dev\/null\S* cannot be used by this user \(ENOTDIR\)/,
    ],
    [
      'a file instead of the folder for projects',
      'workspace_root: ./config.yml\n',
      {},
      1,
      /config\.yml cannot be used by this user \(EEXIST\)/,
    ],
    // `mkdir` of Node never ends there: the system refuses new folders as if their parent were missing.
    [
      'a folder for projects in /proc',
      'workspace_root: /proc/nope\n',
      {},
      1,
      /\/proc(\/nope)? cannot be used by this user \(E\w+\)/,
    ],
    [
      'a folder for data in /proc',
      'data_dir: /proc/nope\ndb_sqlite_file: ./own.db\n',
      {},
      1,
      /\/proc(\/nope)? cannot be used by this user \(E\w+\)/,
    ],
    [
      'a database in /proc',
      'db_sqlite_file: /proc/nope/n.db\n',
      {},
      1,
      /\/proc\/nope\/n\.db cannot be used/,
    ],
    [
      'a database server that is not there',
      'db_type: postgresql\ndb_host: 127.0.0.1\ndb_port: 1\ndb_user: nobody\n',
      {},
      1,
      /127\.0\.0\.1|database|PostgreSQL/i,
    ],
    [
      'a database that the server does not have',
      `database_url: ${JSON.stringify(missingDatabase)}\ndb_type: postgresql\n`,
      {},
      1,
      /database "nowhere" does not exist\. Create it, for example with `createdb`, or correct db_name/,
    ],
  ])('because of %s ends with a clear line', async (_name, config, environment, status, line) => {
    const server = start(folder(), { config, environment })
    expect((await server.ended).status).toBe(status)
    const { stderr, stdout } = server.output()
    expect(stderr).toMatch(line)
    // One line for the error, no stack trace.
    expect(stderr).not.toMatch(/\n\s+at /)
    expect(stdout).not.toContain('ready')
  })

  test('shows no secret of the configuration', async () => {
    const server = start(folder(), {
      config: `models: [{id: a, name: A, api_url: "http://127.0.0.1:1", api_key: key-hunter2}]
db_sqlite_file: /dev/null/key-hunter2/nanoclaw.db
`,
    })
    expect((await server.ended).status).toBe(1)
    const { stderr } = server.output()
    expect(stderr).toContain('/dev/null/')
    expect(stderr).not.toContain('hunter2')
  })

  test('because of a taken port ends with a clear line', async () => {
    const taken = createServer()
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done))
    const address = taken.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const server = start(folder(), { config: '', environment: { PORT: String(port) } })
    expect((await server.ended).status).toBe(1)
    expect(server.output().stderr).toContain(`Port ${port} on 127.0.0.1 is already in use`)
    taken.close()
  })

  test('because of a damaged database names the file and does not change it', async () => {
    const place = folder()
    mkdirSync(join(place, 'data'))
    const file = join(place, 'data/nanoclaw.db')
    writeFileSync(file, 'this is no database '.repeat(500))
    const before = readFileSync(file)
    const server = start(place, { config: '' })
    expect((await server.ended).status).toBe(1)
    expect(server.output().stderr).toContain('nanoclaw.db')
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('because of an unknown command lists the known ones', async () => {
    const server = start(folder(), { config: '', arguments: ['fly'] })
    expect((await server.ended).status).toBe(2)
    expect(server.output().stderr).toMatch(/Available: start, doctor, config, .*backup, restore/)
  })
})

describe('migrate', () => {
  test.each(DIALECTS)(
    'creates all tables in an empty database, leaves an up-to-date one unchanged, and says what prevents a migration (%s)',
    async (dialect) => {
      const settings = await databases.settings(dialect)
      if (dialect === 'postgres')
        await onConnection(settings, 'drop schema public cascade; create schema public')
      const migrate = async () => {
        const command = start(folder(), {
          config: JSON.stringify(databaseKeys(settings)),
          arguments: ['migrate'],
        })
        const { status } = await command.ended
        return { status, stdout: command.output().stdout }
      }
      const noted = () => onConnection(settings, 'select created_at from __drizzle_migrations')
      const known = pendingMigrations(dialect, []).map(({ folderMillis }) => folderMillis)
      for (let times = 0; times < 2; times += 1) {
        expect(await migrate()).toEqual({
          status: 0,
          stdout: 'The database is up to date.\n',
        })
        expect((await noted()).map((row) => Number(row.created_at))).toEqual(known)
      }
      await onConnection(
        settings,
        "insert into __drizzle_migrations (hash, created_at) values ('newer', 9999999999999)",
      )
      const refused = await migrate()
      expect(refused.status).toBe(1)
      expect(refused.stdout).toMatch(/newer version/)
    },
  )
})

describe('a server that runs', () => {
  test('serves without any configuration, keeps its files private, opens no inspector at SIGUSR1, and ends cleanly at SIGTERM', async () => {
    const place = folder()
    const server = start(place, { config: null })
    const url = await server.ready
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(statSync(join(place, 'data')).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(join(place, 'data')))
      expect(statSync(join(place, 'data', name)).mode & 0o077, name).toBe(0)
    server.child.kill('SIGUSR1')
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ status: 0, signal: null })
    expect(server.output().stderr).not.toContain('Debugger')
  })

  test('logs its version, configuration, database, folders and address, and each request without what is secret in its address', async () => {
    const place = folder()
    const server = start(place, { config: 'log_level: debug\n' })
    const url = await server.ready
    const version = /^nanoclaw_build_info\{version="(.*)"\} 1$/m.exec(
      await (await fetch(`${url}/metrics`)).text(),
    )?.[1]
    const healthy = { code: 0, data: { status: 'ok', version } }
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual(healthy)
    const token = 'Zk9-secret-of-a-share-link-Zk9'
    for (const path of [
      `/s/${token}`,
      `/api/shared/${token}`,
      `/elsewhere/${token}?q=${token}`,
      `/api/search?q=${token}`,
    ])
      await (await fetch(url + path)).arrayBuffer()
    const lines = () =>
      server
        .output()
        .stderr.split('\n')
        .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
    const requests = () => lines().filter(({ msg }) => msg.startsWith('request'))
    await expect.poll(() => requests().length).toBe(6)
    expect(lines().find(({ msg }) => msg === 'NanoClaw has started')).toMatchObject({
      level: 30,
      version,
      configuration: join(place, 'config.yml'),
      database: `SQLite, ${join(place, 'data/nanoclaw.db')}`,
      data: join(place, 'data'),
      projects: join(place, 'workspaces'),
      address: url,
    })
    expect(requests()).toMatchObject([
      { level: 20, method: 'GET', path: '/metrics', status: 200, address: '127.0.0.1' },
      { level: 20, path: '/healthz', request_id: expect.any(String), ms: expect.any(Number) },
      { level: 30, path: '/s/:token', status: 404 },
      { level: 30, path: '/api/shared/:token', status: 404, reason: 'share_not_found' },
      { level: 20, path: '/elsewhere/…', status: 200 },
      { level: 20, path: '/api/search', status: 200 },
    ])
    expect(server.output().stderr).not.toContain('Zk9')
  })

  test('writes readable lines with log_format: text, and JSON to a program by default', async () => {
    const server = start(folder(), { config: 'log_format: text\n' })
    await server.ready
    const line =
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} INFO {2}NanoClaw has started version=\S+ .* address=http:/m
    await expect.poll(() => server.output().stderr).toMatch(line)
    expect(server.output().stderr).not.toContain('{"level"')
  })

  test('drains and exits with 1 after an uncaught exception, so that the next start recovers', async () => {
    const stray =
      "data:text/javascript,process.on('SIGUSR2', () => setImmediate(() => { throw new Error('stray') }))"
    const server = start(folder(), {
      config: null,
      environment: { NODE_OPTIONS: `--import="${encodeURI(stray)}"` },
    })
    await server.ready
    server.child.kill('SIGUSR2')
    expect(await server.ended).toEqual({ status: 1, signal: null })
    expect(server.output().stderr).toMatch(/"uncaught exception"/)
  })

  test('leaves data that doctor, backup and restore can use', async () => {
    const place = folder()
    const first = start(place, { config: null })
    const url = await first.ready
    const json = { 'content-type': 'application/json' }
    await fetch(`${url}/api/conversations`, {
      method: 'POST',
      headers: json,
      body: '{"title":"kept"}',
    })
    const backup = start(place, { config: null, arguments: ['backup', 'copy.db'] })
    expect((await backup.ended).status, backup.output().stdout).toBe(0)
    expect(statSync(join(place, 'copy.db')).mode & 0o777).toBe(0o700)
    await fetch(`${url}/api/conversations`, {
      method: 'POST',
      headers: json,
      body: '{"title":"lost"}',
    })
    first.child.kill('SIGTERM')
    await first.ended

    const restore = start(place, { config: null, arguments: ['restore', 'copy.db'] })
    expect((await restore.ended).status, restore.output().stdout).toBe(0)
    const doctor = start(place, { config: null, arguments: ['doctor'] })
    const { status } = await doctor.ended
    expect(doctor.output().stdout).toContain('[ ok ] database: SQLite')
    expect(status).toBe(doctor.output().stdout.includes('[FAIL]') ? 1 : 0)

    const second = start(place, { config: null })
    const list = await fetch(`${await second.ready}/api/conversations`)
    const { data } = (await list.json()) as { data: { items: { title: string }[] } }
    expect(data.items.map(({ title }) => title)).toEqual(['kept'])
    expect(existsSync(join(place, 'copy.db'))).toBe(true)
  })
})
