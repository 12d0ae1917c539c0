// A kill during a migration of a database with data: the next start completes the migration, and nothing is lost.
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { connect } from '../../server/db/connect.ts'
import { createStore } from '../../server/db/store.ts'
import { newId } from '../../server/lib/ids.ts'
import { SqliteClient } from '../../server/lib/sqlite-driver.ts'
import type { MessageId } from '../../server/protocol/ids.ts'
import { integrityOf } from '../support/faults/crash-rounds.ts'
import { canTrace, dyingAtWrite } from '../support/faults/write-killer.ts'
import { type ServerPlace, serverPlace } from '../support/server/server-process.ts'
import { silentLog } from '../support/store/databases.ts'
import { somebody } from '../support/store/store-rows.ts'

const isFull = process.env.FAULTS === 'full'
const MESSAGES = isFull ? 100_000 : 2_000
const root = resolve(import.meta.dirname, '../..')

/** What the migration of a later version might do: add a column, fill it in every row, create an index. */
const LATER = [
  'ALTER TABLE messages ADD COLUMN later text;',
  'UPDATE messages SET later = upper(text);',
  'CREATE INDEX messages_later ON messages (later);',
].join('\n--> statement-breakpoint\n')

let folder: string
let file: string
let place: ServerPlace

/** Copies the built program and adds one migration; returns the path of `main.js`. */
function installLater(target: string): string {
  cpSync(inject('serverBuild'), join(target, 'dist'), { recursive: true })
  for (const part of ['migrations', 'package.json'])
    cpSync(join(root, part), join(target, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'))
  const journalFile = join(target, 'migrations/sqlite/meta/_journal.json')
  const journal = JSON.parse(readFileSync(journalFile, 'utf8'))
  const idx = journal.entries.length
  const tag = `${String(idx).padStart(4, '0')}_later`
  const { when } = journal.entries.at(-1)
  journal.entries.push({ ...journal.entries.at(-1), idx, when: when + 1, tag })
  writeFileSync(journalFile, JSON.stringify(journal))
  writeFileSync(join(target, `migrations/sqlite/${tag}.sql`), LATER)
  return join(target, 'dist/main.js')
}

async function makeData(target: string): Promise<void> {
  const database = await connect({ dialect: 'sqlite', file: target }, { log: silentLog })
  const store = createStore(database)
  const { id: userId } = await somebody(store)
  const { id: conversationId } = await store.conversations.create(userId, {})
  const createdAt = new Date()
  for (let from = 0; from < MESSAGES; from += 500)
    await database.write(async (tx) => {
      await tx.insert(database.tables.messages).values(
        Array.from({ length: 500 }, (_, at) => ({
          id: newId<MessageId>(),
          conversationId,
          parentId: null,
          role: 'user' as const,
          text: `message ${from + at}`,
          tokenCount: 0,
          status: 'completed' as const,
          createdAt,
        })),
      )
    })
  await database.close()
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nanoclaw-migration-'))
  file = join(folder, 'data.db')
  await makeData(join(folder, 'before.db'))
  const program = [installLater(join(folder, 'later'))]
  place = await serverPlace(folder, { db_sqlite_file: file, log_level: 'warn' }, program)
})
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Kills the start at its n-th write, starts again and checks all data. True if the first start was not killed. */
async function round(n: number): Promise<boolean> {
  for (const name of readdirSync(folder).filter((name) => name.startsWith('data.db')))
    rmSync(join(folder, name))
  copyFileSync(join(folder, 'before.db'), file)
  const first = await place.start({ wrapper: dyingAtWrite('pwrite64', n) }).catch(() => null)
  await first?.kill('SIGKILL')
  const second = await place.start()
  await second.kill('SIGTERM')
  expect(integrityOf(file), `${n}`).toBe('ok')
  const client = new SqliteClient(file, { readonly: true })
  const count = client
    .prepare("select count(*) from messages where later = 'MESSAGE ' || substr(text, 9)")
    .pluck()
  expect(count.get(), `${n}`).toBe(MESSAGES)
  client.close()
  return first !== null
}

const title = `a kill during the migration of ${MESSAGES} messages is completed by the next start${canTrace ? '' : ' (skipped: strace is not here or may not be used)'}`
test.skipIf(!canTrace)(title, { timeout: 3_600_000 }, async () => {
  if (!isFull) {
    expect(await round(150)).toBe(false)
    return
  }
  // Tests the first writes one by one, then at growing distances.
  let n = 1
  let rounds = 0
  while (!(await round(n))) {
    rounds += 1
    n = Math.ceil(n * 1.4)
  }
  expect(rounds).toBeGreaterThan(15)
})
