// Runs once before all tests: builds the server for the processes and threads that tests start, and offers a real
// PostgreSQL with a migrated database to clone.
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import type { TestProject } from 'vitest/node'
import { connect } from '../../server/db/connect.ts'
import { builtServer } from './built.ts'
import { findPostgres, onServer, withDatabase } from './postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of a database in which others may be made, and the name of the one to clone. */
    postgres: { url: string; template: string }
    /** Folder of the built server: `main.js` and the child programs. */
    serverBuild: string
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('serverBuild', dirname(await builtServer()))
  const server = await findPostgres()
  const template = `nanoclaw_template_${randomUUID().slice(0, 8)}`
  await onServer(server.url, `create database ${template} encoding 'UTF8' template template0`)
  const database = await connect(
    { dialect: 'postgres', connection: { url: withDatabase(server.url, template) } },
    { log: { info() {}, warn() {} } },
  )
  await database.close()
  project.provide('postgres', { url: server.url, template })
  return async () => {
    await onServer(server.url, `drop database if exists ${template} with (force)`)
    await server.stop()
  }
}
