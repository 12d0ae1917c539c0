// The whole server inside the test process: composed as in production, with its own port, folders and database.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, describe, inject } from 'vitest'
import type * as app from '../../../server/app.ts'
import { parseConfig } from '../../../server/config/load.ts'
import type { DatabaseSettings, Dialect } from '../../../server/db/database.ts'
import type { ProcessClock } from '../../../server/lib/clocks.ts'
import { shareCompiledPython } from '../sandbox/compiled-python.ts'
import { useDatabases } from '../store/databases.ts'
import { DIALECTS } from '../store/dialects.ts'

/** The application from the build; loading it from the sources would take a second in each test file. */
const { createServer }: typeof app = await import(join(inject('serverBuild'), 'app.js'))

/** Long enough, and not an example value from the documentation. */
export const TEST_JWT_SECRET = 'a-secret-of-the-tests-0123456789abcdef'

/** The cheapest password hashing: tests sign in hundreds of times, and each would take 50 ms at the production cost. */
const LEAST_COST = { memoryCost: 8, timeCost: 1, parallelism: 1 }

export interface TestServer {
  /** `http://127.0.0.1:<port>` */
  url: string
  server: app.Server
  /** The whole log as text. */
  logged(): string
  /** Sends one JSON request. `token` is sent as bearer token; a `body` that is not a string is serialized. */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; token?: string | undefined; headers?: Record<string, string> },
  ): Promise<{ status: number; headers: Headers; json: Answer }>
  close(): Promise<void>
}

/** A response of the API. `data` is unchecked; its shape depends on the route. */
export interface Answer {
  code: number
  message?: string
  details?: unknown
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape, and their assertions check it
  data?: any
}

/**
 * Starts servers. One that a test has started is closed after that test, because each holds up to eight connections to
 * PostgreSQL, which allows a hundred; one that a `beforeAll` has started, after the last test of the file or `describe`.
 */
export function useServers(): {
  start(options?: {
    config?: Record<string, unknown>
    dialect?: Dialect
    folder?: string
    /** Folder of the built page; without it only the API is served. */
    webRoot?: string
    /** Hashes passwords at the production cost, for tests that depend on how long hashing takes. */
    realPasswords?: boolean
    /** The clock of the server, for tests that move it. */
    clock?: ProcessClock
  }): Promise<TestServer>
} {
  const databases = useDatabases()
  const undo: (() => Promise<void>)[] = []
  const undoAll = async (steps: (() => Promise<void>)[]) => {
    for (const step of steps.splice(0).reverse()) await step()
  }
  /** Null outside of a test. */
  let undoOfTest: (() => Promise<void>)[] | null = null
  beforeEach(() => {
    undoOfTest = []
  })
  afterEach(async () => {
    const steps = undoOfTest ?? []
    undoOfTest = null
    await undoAll(steps)
  })
  afterAll(() => undoAll(undo))
  return {
    async start({
      config = {},
      dialect = 'sqlite',
      folder,
      webRoot,
      realPasswords = false,
      clock,
    } = {}) {
      const place = folder ?? mkdtempSync(join(tmpdir(), 'nanoclaw-server-'))
      if (folder === undefined && config.data_dir === undefined)
        shareCompiledPython(join(place, 'data'))
      const started = await startServer(
        place,
        { ...databaseKeys(await databases.migrated(dialect)), ...config },
        {
          webRoot: webRoot ?? join(place, 'web'),
          ...(realPasswords ? {} : { passwordCost: LEAST_COST }),
          ...(clock === undefined ? {} : { clock }),
        },
      )
      const steps = undoOfTest ?? undo
      steps.push(async () => {
        await started.close()
        rmSync(place, { recursive: true, force: true })
      })
      return started
    },
  }
}

/** Registers a user of a server in multi mode. @returns the user's token. */
export async function register(server: TestServer, username: string): Promise<string> {
  const { json } = await server.call('POST', '/api/auth/register', {
    body: { username, password: 'a good password' },
  })
  return json.data.token
}

/** Runs the same suite with the server on SQLite and on PostgreSQL. */
export function describeOnEachServer(
  name: string,
  suite: (
    start: (
      config?: Record<string, unknown>,
      options?: { realPasswords?: boolean },
    ) => Promise<TestServer>,
  ) => void,
  dialects: readonly Dialect[] = DIALECTS,
): void {
  for (const dialect of dialects)
    describe(`${name} (${dialect})`, () => {
      const { start } = useServers()
      suite((config = {}, options = {}) => start({ config, dialect, ...options }))
    })
}

/** The keys of config.yml that select this database. */
export const databaseKeys = (settings: DatabaseSettings): Record<string, unknown> =>
  settings.dialect === 'sqlite'
    ? { db_type: 'sqlite', db_sqlite_file: settings.file }
    : {
        db_type: 'postgresql',
        ...('url' in settings.connection ? { database_url: settings.connection.url } : {}),
      }

async function startServer(
  folder: string,
  keys: Record<string, unknown>,
  options: Pick<app.ServerOptions, 'webRoot' | 'passwordCost'>,
): Promise<TestServer> {
  const config = parseConfig(
    JSON.stringify({
      backend_port: 0,
      data_dir: join(folder, 'data'),
      workspace_root: join(folder, 'workspaces'),
      ...keys,
    }),
    {},
  )
  const lines: string[] = []
  const log = pino({ level: 'info', base: null }, { write: (line: string) => lines.push(line) })
  const server = await createServer({ config, log, ...options })
  const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
  let closed = false
  return {
    url,
    server,
    logged: () => lines.join(''),
    async call(method, path, { body, token, headers } = {}) {
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      // Not validated here: the assertions check the shape.
      const json = (await response.json()) as Answer
      return { status: response.status, headers: response.headers, json }
    },
    async close() {
      if (closed) return
      closed = true
      await server.close()
    },
  }
}
