// The search on SQLite.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../server/db/connect.ts'
import type { Row } from './row.ts'
import { measureSearch } from './search.ts'

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-bench-'))
  const settings = { dialect: 'sqlite', file: join(folder, 'nanoclaw.db') } as const
  const database = await connect(settings, { log: { info() {}, warn() {} } })
  try {
    return await measureSearch(settings, database, 'sqlite')
  } finally {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
