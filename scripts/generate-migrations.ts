// Writes the migrations of both databases from the one table definition: `npm run db:generate`; `-- --check` only compares.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  generateDrizzleJson,
  generateMigration,
  generateSQLiteDrizzleJson,
  generateSQLiteMigration,
} from 'drizzle-kit/api'
import * as postgres from '../server/db/schema/postgres.ts'
import * as sqlite from '../server/db/schema/sqlite.ts'
import { fullTextMigration } from './full-text-migration.ts'

/**
 * Nothing is released yet: there is one migration, written anew from empty at every change of the tables.
 * From the first release on it is frozen, and this script learns to write the next one from its snapshot.
 */
const initial = { tag: '0000_initial', when: 1_760_000_000_000 }
const noOrigin = '00000000-0000-0000-0000-000000000000'
const ownId = '00000000-0000-0000-0000-000000000001'
const breakpoint = '\n--> statement-breakpoint\n'

const kinds = {
  sqlite: {
    dialect: 'sqlite',
    version: '6',
    generate: async () => {
      const snapshot = await generateSQLiteDrizzleJson(sqlite)
      const empty = await generateSQLiteDrizzleJson({})
      return { snapshot, statements: await generateSQLiteMigration(empty, snapshot) }
    },
  },
  postgres: {
    dialect: 'postgresql',
    version: '7',
    generate: async () => {
      const snapshot = generateDrizzleJson(postgres)
      return { snapshot, statements: await generateMigration(generateDrizzleJson({}), snapshot) }
    },
  },
} as const

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** The files of one dialect's folder, by path inside of it. */
async function filesOf(name: keyof typeof kinds): Promise<Map<string, string>> {
  const { dialect, version, generate } = kinds[name]
  const { snapshot, statements } = await generate()
  const entry = { idx: 0, version, ...initial, breakpoints: true }
  return new Map([
    [
      `${initial.tag}.sql`,
      `${[...statements, ...fullTextMigration[name]].map((statement) => statement.trim()).join(breakpoint)}\n`,
    ],
    ['meta/_journal.json', json({ version: '7', dialect, entries: [entry] })],
    ['meta/0000_snapshot.json', json({ ...snapshot, id: ownId, prevId: noOrigin })],
  ])
}

const root = join(import.meta.dirname, '..', 'migrations')
const checking = process.argv.includes('--check')
let different = false

for (const name of ['sqlite', 'postgres'] as const) {
  const folder = join(root, name)
  const files = await filesOf(name)
  if (!checking) {
    rmSync(folder, { recursive: true, force: true })
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    continue
  }
  const present = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  const wrong = [
    ...present.filter((path) => !files.has(path)),
    ...[...files].filter(
      ([path, text]) =>
        !present.includes(path) || readFileSync(join(folder, path), 'utf8') !== text,
    ),
  ]
  if (wrong.length > 0) different = true
}

if (different) {
  console.error('The migrations differ from server/db/tables: run `npm run db:generate`.')
  process.exitCode = 1
}
