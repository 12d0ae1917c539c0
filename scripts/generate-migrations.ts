// Generates the next migration for both databases from the table definitions: `npm run db:generate -- <name>`; `-- --check` only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  generateDrizzleJson,
  generateMigration,
  generateSQLiteDrizzleJson,
  generateSQLiteMigration,
} from 'drizzle-kit/api'
import { postgresColumns } from '../server/db/columns/postgres.ts'
import { sqliteColumns } from '../server/db/columns/sqlite.ts'
import { defineTables } from '../server/db/tables.ts'

/**
 * Never change a migration that has been on the main branch: databases were created with it. The generated migration is a
 * draft: before committing, fix statements that lose data and add what drizzle-kit cannot express (full-text indexes).
 */
const BREAKPOINT = '\n--> statement-breakpoint\n'

interface Journal {
  version: string
  dialect: string
  entries: { idx: number; version: string; when: number; tag: string; breakpoints: boolean }[]
}
type SqliteSnapshot = Awaited<ReturnType<typeof generateSQLiteDrizzleJson>>
type PostgresSnapshot = ReturnType<typeof generateDrizzleJson>

/** The statements that migrate from the newest snapshot to the current tables, and the new snapshot. */
const generators = {
  sqlite: async (newest: string) => {
    // Written by this script.
    const before = JSON.parse(newest) as SqliteSnapshot
    const snapshot = await generateSQLiteDrizzleJson(defineTables(sqliteColumns), before.id)
    return { snapshot, statements: await generateSQLiteMigration(before, snapshot) }
  },
  postgres: async (newest: string) => {
    const before = JSON.parse(newest) as PostgresSnapshot
    const snapshot = generateDrizzleJson(defineTables(postgresColumns), before.id)
    return { snapshot, statements: await generateMigration(before, snapshot) }
  },
} as const

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
const numbered = (index: number): string => String(index).padStart(4, '0')

const root = join(import.meta.dirname, '..', 'migrations')
const isCheck = process.argv.includes('--check')
const name = process.argv.slice(2).find((argument) => /^[a-z0-9_]+$/.test(argument))
const when = Date.now()
let hasChanges = false

for (const kind of ['sqlite', 'postgres'] as const) {
  const folder = join(root, kind)
  const journalFile = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(journalFile, 'utf8')) as Journal
  const last = journal.entries.at(-1)
  if (last === undefined) throw new Error(`${journalFile} contains no migration.`)
  const newest = readFileSync(join(folder, `meta/${numbered(last.idx)}_snapshot.json`), 'utf8')
  const { snapshot, statements } = await generators[kind](newest)
  if (statements.length === 0) continue
  hasChanges = true
  if (isCheck) continue
  if (name === undefined) {
    console.error('Specify a name for the migration: `npm run db:generate -- what_it_does`.')
    process.exit(2)
  }
  const idx = last.idx + 1
  const tag = `${numbered(idx)}_${name}`
  journal.entries.push({ ...last, idx, when, tag })
  writeFileSync(
    join(folder, `${tag}.sql`),
    `${statements.map((statement) => statement.trim()).join(BREAKPOINT)}\n`,
  )
  writeFileSync(join(folder, `meta/${numbered(idx)}_snapshot.json`), json(snapshot))
  writeFileSync(journalFile, json(journal))
}

if (hasChanges && isCheck) {
  console.error(
    'The migrations differ from server/db/tables. Run `npm run db:generate -- what_it_does`.',
  )
  process.exitCode = 1
}
