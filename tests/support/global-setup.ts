// Runs once before all tests: builds the server and the programs that tests start, compiles
// Python, and provides a migrated SQLite file and a PostgreSQL server with a migrated template database.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { connect } from '../../server/db/connect.ts'
import type { DatabaseSettings } from '../../server/db/database.ts'
import { builtPrograms, builtServer } from './built.ts'
import { compilePython } from './sandbox/compiled-python.ts'
import {
  copyClauseOf,
  dropDatabases,
  findPostgres,
  onServer,
  withDatabase,
} from './store/postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of a database whose user may create others, the name of the template to clone, and how to copy it. */
    postgres: { url: string; template: string; copyClause: string }
    /** A migrated, empty SQLite file to copy. */
    sqliteTemplate: string
    /** Folder of the built server, with `main.js` and the child programs. */
    serverBuild: string
    /** Folder of the built programs of the tests. */
    programBuild: string
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [main, programs] = await Promise.all([builtServer(), builtPrograms(), compilePython()])
  project.provide('serverBuild', dirname(main))
  project.provide('programBuild', programs)
  const server = await findPostgres()
  const template = `nanoclaw_template_${randomUUID().slice(0, 8)}`
  await onServer(server.url, `create database ${template} encoding 'UTF8' template template0`)
  await migrate({ dialect: 'postgres', connection: { url: withDatabase(server.url, template) } })
  project.provide('postgres', {
    url: server.url,
    template,
    copyClause: await copyClauseOf(server.url),
  })
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-template-'))
  const file = join(folder, 'nanoclaw.db')
  await migrate({ dialect: 'sqlite', file })
  project.provide('sqliteTemplate', file)
  return async () => {
    await rm(folder, { recursive: true, force: true })
    await dropDatabases(server.url, template)
    await server.stop()
  }
}

async function migrate(settings: DatabaseSettings): Promise<void> {
  await (await connect(settings, { log: { info() {}, warn() {} } })).close()
}
