// Moves all rows of one database into another one, of either kind: table by table, so that an interrupted move continues.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { connect } from '../connect.ts'
import type { DatabaseSettings } from '../database.ts'
import { inspectDatabase } from '../inspect.ts'
import { PROGRESS_KEYS } from '../search-progress.ts'
import { createDigest, isSameDigest, type TableDigest } from './digest.ts'
import type { MoveSource, MoveTarget, MoveWriter } from './move-end.ts'
import { MOVED_TABLES, type MovedRow, type MovedTable, UNFINISHED_MOVE } from './moved-tables.ts'

/** In the target while a move is not complete: where it comes from, and the tables that are there. */
const Unfinished = z.object({
  source: z.string(),
  tables: z.record(z.string(), z.object({ rows: z.int(), sum: z.string() })),
})
type Unfinished = z.infer<typeof Unfinished>

/** What was moved. */
export interface MoveReport {
  tables: number
  rows: number
  /** Tables that an earlier, interrupted call had moved. */
  resumed: number
}

/** How a move is named and followed. */
export interface MoveOptions {
  /** Identifies the source: an interrupted move is continued only from the same one. */
  source: string
  /** Called when a table is in the target. */
  onTable?(name: string, rows: number): void
  /**
   * Called once all rows are verified, in the transaction that completes the target. What it throws leaves the move unfinished.
   * It may be called again by a repeated move.
   */
  onEnd?(write: Pick<MoveWriter, 'insert'>, rows: number): Promise<void>
}

/**
 * Copies all rows, verifies each table by its number of rows and a checksum, and leaves the source as it is. The target must be
 * empty, or contain the beginning of the same move. Until the move is complete, servers refuse the target.
 * @throws AppError with a text for the operator.
 */
export async function moveDatabase(
  from: DatabaseSettings,
  to: DatabaseSettings,
  options: MoveOptions,
): Promise<MoveReport> {
  await prepareTarget(to)
  const source = await openSource(from)
  try {
    const target = await openTarget(to)
    try {
      return await moveTables(source, target, options)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Creates the tables. @throws AppError when the database is of another version. */
async function prepareTarget(to: DatabaseSettings): Promise<void> {
  const isThere = to.dialect === 'postgres' || existsSync(resolve(to.file))
  const { isEmpty, pending } = isThere ? await inspectDatabase(to) : { isEmpty: true, pending: 0 }
  if (!isEmpty && pending > 0)
    throw new AppError(
      'conflict',
      'The target has tables of an older version. Choose an empty database.',
    )
  if (isEmpty) await (await connect(to, { log: { info() {}, warn() {} } })).close()
}

async function moveTables(
  source: MoveSource,
  target: MoveTarget,
  options: MoveOptions,
): Promise<MoveReport> {
  const state = await beginMove(source, target, options)
  const resumed = Object.keys(state.tables).length
  for (const table of MOVED_TABLES) {
    if (state.tables[table.name] !== undefined) continue
    await target.transaction(async (write) => {
      const digest = await copyTable(source, write, table)
      state.tables[table.name] = digest
      await write.set(UNFINISHED_MOVE, JSON.stringify(state))
      options.onTable?.(table.name, digest.rows)
    })
  }
  for (const table of MOVED_TABLES) {
    const digest = await target.digest(table)
    const expected = state.tables[table.name]
    if (expected === undefined || !isSameDigest(expected, digest))
      throw new AppError(
        'conflict',
        `The table ${table.name} is not the same in both databases (${expected?.rows} rows here, ${digest.rows} there). The source is unchanged; empty the target and try again.`,
      )
  }
  const rows = Object.values(state.tables).reduce((sum, digest) => sum + digest.rows, 0)
  await target.transaction(async (write) => {
    await options.onEnd?.(write, rows)
    await endMove(source, write)
  })
  return { tables: MOVED_TABLES.length, rows, resumed }
}

/** The state of an interrupted move of this source, whose tables are still the same; else that of a new one. */
async function beginMove(
  source: MoveSource,
  target: MoveTarget,
  { source: name }: MoveOptions,
): Promise<Unfinished> {
  const json = await target.setting(UNFINISHED_MOVE)
  const found = json === null ? undefined : Unfinished.safeParse(JSON.parse(json)).data
  if (found !== undefined && found.source === name) {
    if (await isUnchanged(source, found)) return found
  } else {
    if (json !== null)
      throw new AppError(
        'conflict',
        'A move from another database into this target was interrupted. Continue that one, or choose an empty database.',
      )
    const used: string[] = []
    for (const table of MOVED_TABLES) if (await target.hasRows(table)) used.push(table.name)
    if (used.length > 0)
      throw new AppError(
        'conflict',
        `The target is not empty: it has rows in ${used.slice(0, 5).join(', ')}${used.length > 5 ? ', …' : ''}. Choose an empty database; nothing was changed.`,
      )
  }
  const state: Unfinished = { source: name, tables: {} }
  await target.transaction(async (write) => {
    await write.clear()
    await write.set(UNFINISHED_MOVE, JSON.stringify(state))
  })
  return state
}

/** Whether the tables that were moved before the interruption are as they were. */
async function isUnchanged(source: MoveSource, { tables }: Unfinished): Promise<boolean> {
  for (const table of MOVED_TABLES) {
    const moved = tables[table.name]
    if (moved !== undefined && !isSameDigest(moved, await source.digest(table))) return false
  }
  return true
}

async function copyTable(
  source: Pick<MoveSource, 'rows' | 'digest' | 'computesDigests'>,
  write: MoveWriter,
  table: MovedTable,
): Promise<TableDigest> {
  const digest = createDigest(table)
  async function* read(): AsyncGenerator<MovedRow> {
    for await (const row of source.rows(table)) {
      digest.add(row)
      yield row
    }
  }
  await write.insert(table, read())
  const result = digest.result()
  if (source.computesDigests && !isSameDigest(result, await source.digest(table)))
    throw new AppError(
      'conflict',
      `The rows of the table ${table.name} were not read as the source stores them. The source is unchanged, and nothing of this table was moved.`,
    )
  return result
}

/** Numbers continue where the source was; the search index is built anew, with everything that this version indexes. */
async function endMove(source: MoveSource, write: MoveWriter): Promise<void> {
  for (const table of MOVED_TABLES)
    if (table.counter !== undefined) {
      const next = await source.nextNumber(table)
      await write.setNextNumber(table, next)
      if (table.name === 'messages') {
        const done = JSON.stringify({ from: next - 1, next: 0 })
        await write.set(PROGRESS_KEYS.characters, done)
        await write.set(PROGRESS_KEYS.words, done)
      }
    }
  await write.set(UNFINISHED_MOVE, null)
}

/**
 * Replaces all rows of a database by those of a source, in one transaction.
 * @throws AppError or the driver's error; the database is then unchanged.
 */
export async function replaceRows(source: MoveSource, to: DatabaseSettings): Promise<void> {
  const target = await openTarget(to)
  try {
    await target.transaction(async (write) => {
      await write.clear()
      for (const table of MOVED_TABLES) await write.insert(table, source.rows(table))
      await endMove(source, write)
    })
  } finally {
    await target.close()
  }
}

/** @throws AppError or the driver's error when the database cannot be reached. It must have all migrations. */
export async function openSource(settings: DatabaseSettings): Promise<MoveSource> {
  if (settings.dialect === 'sqlite')
    return (await import('./sqlite-end.ts')).openSqliteSource(settings)
  return await (await import('./postgres-end.ts')).openPostgresSource(settings)
}

/** @throws AppError or the driver's error when the database cannot be reached. It must have all migrations. */
async function openTarget(settings: DatabaseSettings): Promise<MoveTarget> {
  if (settings.dialect === 'sqlite')
    return (await import('./sqlite-end.ts')).openSqliteTarget(settings)
  return await (await import('./postgres-end.ts')).openPostgresTarget(settings)
}
