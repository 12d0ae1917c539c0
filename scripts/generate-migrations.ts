// Writes the next migration of both databases from the one table definition: `npm run db:generate -- <name>`; `-- --check` only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  generateDrizzleJson,
  generateMigration,
  generateSQLiteDrizzleJson,
  generateSQLiteMigration,
} from 'drizzle-kit/api'
import * as postgres from '../server/db/schema/postgres.ts'
import * as sqlite from '../server/db/schema/sqlite.ts'

/**
 * A migration that was ever on the main branch is frozen: databases were made with it. What is written here is a draft:
 * statements that lose data, and what drizzle-kit can't express (the full-text indexes), are mended by hand before it is
 * committed.
 */
const breakpoint = '\n--> statement-breakpoint\n'

interface Journal {
  version: string
  dialect: string
  entries: { idx: number; version: string; when: number; tag: string; breakpoints: boolean }[]
}
type SqliteSnapshot = Awaited<ReturnType<typeof generateSQLiteDrizzleJson>>
type PostgresSnapshot = ReturnType<typeof generateDrizzleJson>

/** The statements from the newest snapshot to the tables as they are, and the snapshot of these. */
const kinds = {
  sqlite: async (newest: string) => {
    // Written by this script.
    const before = JSON.parse(newest) as SqliteSnapshot
    const snapshot = await generateSQLiteDrizzleJson(sqlite, before.id)
    return { snapshot, statements: await generateSQLiteMigration(before, snapshot) }
  },
  postgres: async (newest: string) => {
    const before = JSON.parse(newest) as PostgresSnapshot
    const snapshot = generateDrizzleJson(postgres, before.id)
    return { snapshot, statements: await generateMigration(before, snapshot) }
  },
} as const

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
const numbered = (index: number): string => String(index).padStart(4, '0')

const root = join(import.meta.dirname, '..', 'migrations')
const checking = process.argv.includes('--check')
const name = process.argv.slice(2).find((argument) => /^[a-z0-9_]+$/.test(argument))
const when = Date.now()
let differs = false

for (const kind of ['sqlite', 'postgres'] as const) {
  const folder = join(root, kind)
  const journalFile = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(journalFile, 'utf8')) as Journal
  const last = journal.entries.at(-1)
  if (last === undefined) throw new Error(`${journalFile} names no migration.`)
  const newest = readFileSync(join(folder, `meta/${numbered(last.idx)}_snapshot.json`), 'utf8')
  const { snapshot, statements } = await kinds[kind](newest)
  if (statements.length === 0) continue
  differs = true
  if (checking) continue
  if (name === undefined) {
    console.error('Name the migration: `npm run db:generate -- what_it_does`.')
    process.exit(2)
  }
  const idx = last.idx + 1
  const tag = `${numbered(idx)}_${name}`
  journal.entries.push({ ...last, idx, when, tag })
  writeFileSync(
    join(folder, `${tag}.sql`),
    `${statements.map((statement) => statement.trim()).join(breakpoint)}\n`,
  )
  writeFileSync(join(folder, `meta/${numbered(idx)}_snapshot.json`), json(snapshot))
  writeFileSync(journalFile, json(journal))
}

if (differs && checking) {
  console.error(
    'The migrations differ from server/db/tables: run `npm run db:generate -- what_it_does`.',
  )
  process.exitCode = 1
}
