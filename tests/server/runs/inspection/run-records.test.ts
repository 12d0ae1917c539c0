// Storing and removing the records of runs, on both databases.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../server/db/database.ts'
import type { RunRow } from '../../../../server/db/repositories/runs/runs.ts'
import { createStore, type Store } from '../../../../server/db/store.ts'
import { beginExchange, type ProviderExchange } from '../../../../server/llm/exchange.ts'
import type { ConversationId, UserId } from '../../../../server/protocol/ids.ts'
import {
  createRunRecords,
  type RunRecords,
} from '../../../../server/runs/inspection/run-records.ts'
import { describeOnEachDatabase, silentLog } from '../../../support/store/databases.ts'
import { chatRun, say, somebody } from '../../../support/store/store-rows.ts'

const SECRET = 'a secret of this server'
const KEEP_DAYS = 14
const now = new Date()
const daysAgo = (days: number): Date => new Date(now.getTime() - days * 24 * 60 * 60 * 1_000)

describeOnEachDatabase('records of runs', (open) => {
  let database: Database
  let store: Store
  let userId: UserId
  let time = now
  let records: RunRecords
  const statements: string[] = []
  beforeAll(async () => {
    database = await open({ onStatement: (sql) => statements.push(sql) })
    store = createStore(database)
    userId = (await somebody(store)).id
    records = createRunRecords({
      repository: store.runRecords,
      keepDays: KEEP_DAYS,
      instance: 'here',
      redact: (text) => text.replaceAll(SECRET, '[secret]'),
      log: silentLog,
      now: () => time,
    })
  })

  const conversation = async (temporary = false): Promise<ConversationId> =>
    (await store.conversations.create(userId, { temporary })).id
  /** Performs a run that sends these messages, and ends it. What it recorded is not stored yet. */
  const perform = async (id: ConversationId, messages: readonly string[]): Promise<RunRow> => {
    const run = chatRun(userId, id, await say(database, id, messages.at(-1) ?? '', null))
    await database.write((tx) => store.runs.insert(tx, { ...run, endedAt: now }))
    const exchanges: ProviderExchange[] = []
    const body = { model: 'm', messages: messages.map((content) => ({ role: 'user', content })) }
    beginExchange(
      { model: 'm', into: exchanges },
      {
        url: new URL('https://a:b@c.test/v1?key=abc&api-version=2'),
        headers: { 'x-key': SECRET },
        body,
      },
    )
    const own = records.begin(run)
    own.addCall(1, exchanges)
    own.addStored('end')
    own.end()
    return run
  }
  const record = async (id: ConversationId, messages: readonly string[]): Promise<RunRow> => {
    const run = await perform(id, messages)
    await records.flush(run.id)
    return run
  }
  const stored = async (id: ConversationId): Promise<string[]> =>
    (await store.runRecords.knownParts([id])).map(({ hash }) => hash)

  test('a text that is sent again is stored once, and no secret is stored', async () => {
    const id = await conversation()
    const run = await record(id, ['One', `Two with ${SECRET}`])
    await record(id, ['One', `Two with ${SECRET}`, 'Three'])
    expect(await stored(id)).toHaveLength(3)
    const [row] = await store.runRecords.list(run.id)
    expect(row).toMatchObject({ attempt: run.attempt, number: 0 })
    expect(JSON.stringify(row)).not.toContain(SECRET)
    expect(JSON.stringify(row)).toContain('"url":"https://c.test/v1?key=$API_KEY&api-version=2"')
  })

  test('a long prompt is stored completely, and the next run stores only the appended parts', async () => {
    const id = await conversation()
    const messages = Array.from({ length: 300 }, (_, at) => `Message ${at}`)
    await record(id, messages)
    expect(await stored(id)).toHaveLength(300)
    await record(id, [...messages, 'One more'])
    expect(await stored(id)).toHaveLength(301)
  })

  test('the records of eight conversations take as many statements as those of one', async () => {
    const storing = async (count: number): Promise<number> => {
      const ids = await Promise.all(Array.from({ length: count }, () => conversation()))
      const runs = await Promise.all(ids.map((id) => perform(id, [`Only in ${id}`])))
      statements.length = 0
      await records.close()
      const taken = statements.length
      for (const run of runs) expect(await store.runRecords.list(run.id)).toHaveLength(1)
      return taken
    }
    expect(await storing(8)).toBe(await storing(1))
  })

  test("a purged answer's parts are removed unless another run sent them, and parts that are sent again are stored again", async () => {
    const id = await conversation()
    await record(id, ['Shared', 'Kept'])
    const gone = await record(id, ['Shared', 'Purged'])
    await database.write((tx) => store.messages.removeSubtree(tx, id, gone.messageId))
    await store.messages.purge(new Date(Date.now() + 1_000))
    expect(await store.runRecords.list(gone.id)).toEqual([])
    expect(await stored(id)).toHaveLength(2)

    const again = await record(id, ['Shared', 'Purged', 'New'])
    expect(await store.runRecords.list(again.id)).toHaveLength(1)
    expect(await stored(id)).toHaveLength(4)
  })

  test('old records are removed with their parts, and deleting the conversation removes all of them', async () => {
    const [id, other] = [await conversation(), await conversation()]
    time = daysAgo(KEEP_DAYS + 1)
    const old = await record(id, ['Old', 'Both'])
    time = now
    const recent = await record(id, ['Both', 'Recent'])
    await store.runRecords.removeBefore(daysAgo(KEEP_DAYS))
    expect(await store.runRecords.list(old.id)).toEqual([])
    expect(await store.runRecords.list(recent.id)).toHaveLength(1)
    expect(await stored(id)).toHaveLength(2)
    await record(id, ['Old', 'Recent'])
    expect(await stored(id)).toHaveLength(3)

    const run = await record(other, ['Bye'])
    await store.conversations.remove(userId, other)
    expect([await store.runRecords.list(run.id), await stored(other)]).toEqual([[], []])
  })

  test('temporary conversations and runs deleted meanwhile are not recorded', async () => {
    const id = await conversation(true)
    expect(await store.runRecords.list((await record(id, ['Secret'])).id)).toEqual([])
    expect(await stored(id)).toEqual([])
    const gone = chatRun(userId, id, await say(database, id, 'Gone', null))
    const own = records.begin(gone)
    own.addStored('end')
    await records.flush(gone.id)
    expect(await store.runRecords.list(gone.id)).toEqual([])
  })
})
