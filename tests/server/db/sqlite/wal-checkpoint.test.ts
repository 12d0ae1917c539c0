// The write-ahead log of SQLite: its pages are moved into the file on a thread, and it stays short however much is written.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../../../server/db/database.ts'
import {
  CHECKPOINT_PAGES,
  connectSqlite,
  LONGEST_LOG_PAGES,
} from '../../../../server/db/sqlite/connect.ts'
import { SqliteClient } from '../../../../server/lib/sqlite-driver.ts'
import { addProject, addUser } from '../../../support/store/rows.ts'

const PAGE_BYTES = 4096

describe('the write-ahead log', () => {
  let folder: string
  let file: string
  let database: Database
  const warnings: string[] = []
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-wal-'))
    file = join(folder, 'nanoclaw.db')
    database = await connectSqlite(
      { dialect: 'sqlite', file },
      {
        refuseNestedWrites: true,
        log: { info() {}, warn: (_details, message) => warnings.push(message) },
      },
    )
    await addProject(database, await addUser(database))
  })
  afterEach(async () => {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Commits at least so many pages in one transaction. */
  const writePages = (pages: number): Promise<unknown> =>
    database.write((tx) =>
      tx.update(database.tables.projects).set({ name: 'x'.repeat(pages * PAGE_BYTES) }),
    )
  /** Pages in the log, and those of them that are in the file. */
  const lengths = (): { log: number; checkpointed: number } => {
    const other = new SqliteClient(file)
    try {
      const [found] = other.pragma('wal_checkpoint(NOOP)') as [
        { log: number; checkpointed: number },
      ]
      return found
    } finally {
      other.close()
    }
  }

  test('is moved into the file once it is long, and then starts again', async () => {
    await writePages(CHECKPOINT_PAGES / 2)
    const short = lengths()
    expect(short.checkpointed).toBeLessThan(short.log)
    await writePages(CHECKPOINT_PAGES)
    // SQLite itself would not have moved anything yet.
    expect(lengths().log).toBeLessThan(LONGEST_LOG_PAGES)
    await expect.poll(() => lengths().log - lengths().checkpointed).toBe(0)
    await writePages(1)
    expect(lengths().log).toBeLessThan(CHECKPOINT_PAGES)
    expect(warnings).toEqual([])
  })

  test('has an upper bound while commits leave the thread no time', async () => {
    for (let written = 0; written < 2 * LONGEST_LOG_PAGES; written += 1_000) await writePages(1_000)
    const bytes = statSync(`${file}-wal`).size
    expect(bytes).toBeLessThan((LONGEST_LOG_PAGES + 2 * CHECKPOINT_PAGES) * PAGE_BYTES * 1.1)
    expect(warnings).toEqual([])
  })
})
