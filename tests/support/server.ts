// The whole server for tests: built as `npm start` builds it, on a port of its own, with folders and databases of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, describe, inject } from 'vitest'
import type * as app from '../../server/app.ts'
import { parseConfig } from '../../server/config/load.ts'
import type { DatabaseSettings, Dialect } from '../../server/db/database.ts'
import { useDatabases } from './databases.ts'
import { shareImages } from './python-images.ts'

/** The application from the build: from its sources it takes a second of work to load, in each test file. */
const { createServer }: typeof app = await import(join(inject('serverBuild'), 'app.js'))

/** Long enough, and nobody's example. */
export const TEST_JWT_SECRET = 'a-secret-of-the-tests-0123456789abcdef'

export interface TestServer {
  /** `http://127.0.0.1:<port>` */
  url: string
  server: app.Server
  /** Everything that was logged, as text. */
  logged(): string
  /** One JSON request; `token` signs in. A body is sent as JSON. */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; token?: string | undefined; headers?: Record<string, string> },
  ): Promise<{ status: number; headers: Headers; json: Answer }>
  close(): Promise<void>
}

/** An answer of the API as tests look at it: `data` is whatever the route promises. */
export interface Answer {
  code: number
  message?: string
  details?: unknown
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape and fail by themselves where they are wrong
  data?: any
}

/** Starts servers that are closed after the last test of the file or `describe` that called this. */
export function useServers(): {
  start(options?: {
    config?: Record<string, unknown>
    dialect?: Dialect
    folder?: string
    /** The built page; without it the API is served alone. */
    webRoot?: string
    /** For tests that run Python: starts it from images that all tests share, instead of images that take 15 s of work. */
    sharedPythonImages?: boolean
  }): Promise<TestServer>
} {
  const databases = useDatabases()
  const undo: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const step of undo.reverse()) await step()
  })
  return {
    async start({
      config = {},
      dialect = 'sqlite',
      folder,
      webRoot,
      sharedPythonImages = false,
    } = {}) {
      const place = folder ?? mkdtempSync(join(tmpdir(), 'nanoclaw-server-'))
      if (sharedPythonImages) shareImages(join(place, 'data'))
      const started = await startServer(
        place,
        { ...databaseKeys(await databases.settings(dialect)), ...config },
        webRoot,
      )
      undo.push(async () => {
        await started.close()
        rmSync(place, { recursive: true, force: true })
      })
      return started
    },
  }
}

/** The same suite with the server on SQLite and on PostgreSQL. */
export function describeOnEachServer(
  name: string,
  suite: (start: (config?: Record<string, unknown>) => Promise<TestServer>) => void,
): void {
  for (const dialect of ['sqlite', 'postgres'] as const)
    describe(`${name} (${dialect})`, () => {
      const { start } = useServers()
      suite((config = {}) => start({ config, dialect }))
    })
}

/** The database keys of config.yml for a place. */
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
  webRoot = join(folder, 'web'),
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
  const server = await createServer({ config, log, webRoot })
  const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
  let closed = false
  return {
    url,
    server,
    logged: () => lines.join(''),
    async call(method, path, { body, token, headers } = {}) {
      const answer = await fetch(url + path, {
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
      // The border to the outside in tests: the assertions check the shape.
      const json = (await answer.json()) as Answer
      return { status: answer.status, headers: answer.headers, json }
    },
    async close() {
      if (closed) return
      closed = true
      await server.close()
    },
  }
}
