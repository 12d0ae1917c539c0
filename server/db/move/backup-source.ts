// The rows of a backup as the source of a move, for a restore into a database of the other kind.
import { createReadStream } from 'node:fs'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { makeFolder } from '../../lib/make-folder.ts'
import { connect } from '../connect.ts'
import { BackupEnd, ROW_LINE, readLines } from '../postgres/backup.ts'
import type { MoveSource } from './move-end.ts'
import {
  type ColumnKind,
  LEFT_SETTINGS,
  MOVED_TABLES,
  type MovedRow,
  type MovedTable,
  type MovedValue,
} from './moved-tables.ts'
import { openSqliteSource } from './sqlite-end.ts'

/** Begins the names of folders with a copy that is read, in the data folder. */
const COPY_PREFIX = '.restoring-database-'

/**
 * A SQLite file of a backup, of any earlier version: a copy of it is upgraded and read.
 * @param workFolder has space for the copy, unlike the system's folder for temporary files, which often is in memory. Only one
 * restore at a time may use it: what an interrupted one left is removed.
 */
export async function openSqliteBackup(file: string, workFolder: string): Promise<MoveSource> {
  makeFolder(workFolder)
  for (const name of await readdir(workFolder))
    if (name.startsWith(COPY_PREFIX))
      await rm(join(workFolder, name), { recursive: true, force: true })
  const folder = await mkdtemp(join(workFolder, COPY_PREFIX))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const copy = { dialect: 'sqlite' as const, file: join(folder, 'backup.db') }
    await copyFile(file, copy.file)
    await (await connect(copy, { log: { info() {}, warn() {} } })).close()
    const source = openSqliteSource(copy)
    return {
      ...source,
      async close() {
        await source.close()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

const JsonRow = z.record(z.string(), z.unknown())

/** A value as `row_to_json` writes it. */
function fromJson(kind: ColumnKind, value: unknown): MovedValue {
  if (value === null || value === undefined) return null
  switch (kind) {
    case 'json':
      return JSON.stringify(value)
    case 'text':
      return z.string().parse(value)
    case 'boolean':
      return z.boolean().parse(value)
    case 'bytes':
      return Buffer.from(z.string().startsWith('\\x').parse(value).slice(2), 'hex')
    case 'time':
      return z.number().parse(Date.parse(z.string().parse(value)))
    default:
      return z.number().parse(value)
  }
}

/**
 * The lines of a backup of PostgreSQL, which are read once: ask for the tables in the order of `MOVED_TABLES`.
 * @throws AppError when the file ends early.
 */
export function openPostgresBackup(file: string): MoveSource {
  const input = createReadStream(file)
  const lines = readLines(input)
  let waiting: { table: string; row: string } | null = null
  let count = 0
  let isComplete = false
  const highest = new Map<string, number>()
  const known = new Set(MOVED_TABLES.map(({ name }) => name))

  async function next(): Promise<void> {
    waiting = null
    for (;;) {
      const { value: line, done } = await lines.next()
      if (done) return
      const [, table, row] = ROW_LINE.exec(line) ?? []
      if (table !== undefined && row !== undefined) {
        count += 1
        // Rows of tables that a move derives are left out.
        if (!known.has(table)) continue
        waiting = { table, row }
        return
      }
      isComplete ||= line !== '' && BackupEnd.safeParse(JSON.parse(line)).data?.rows === count
    }
  }

  async function* rows({ name, columns, counter }: MovedTable): AsyncGenerator<MovedRow> {
    if (count === 0) await next()
    for (; waiting?.table === name; await next()) {
      const found = JsonRow.parse(JSON.parse(waiting.row))
      if (counter !== undefined)
        highest.set(name, Math.max(highest.get(name) ?? 0, Number(found[counter])))
      if (name !== 'settings' || !LEFT_SETTINGS.includes(String(found.key)))
        yield columns.map((column) => fromJson(column.kind, found[column.name]))
    }
  }

  return {
    rows,
    async nextNumber({ name }) {
      if (waiting !== null || !isComplete)
        throw new AppError('bad_request', 'The backup is incomplete: its last line is missing.')
      return (highest.get(name) ?? 0) + 1
    },
    computesDigests: false,
    digest: () => Promise.reject(new Error('A backup has checksums of its own.')),
    async close() {
      input.destroy()
    },
  }
}
