// The fence of a run: an attempt that a later one has replaced writes nothing, whatever it still tries to write.
import { describe, expect, test } from 'vitest'
import type { Database, Writer } from '../../../server/db/database.ts'
import { RunOver, type RunRow } from '../../../server/db/repositories/runs/runs.ts'
import { createStore, type Store } from '../../../server/db/store.ts'
import { describeOnEachDatabase, useDatabases } from '../../support/store/databases.ts'
import { storeRun } from '../../support/store/store-rows.ts'

const text = (run: RunRow, content: string) => ({
  messageId: run.messageId,
  position: 0,
  type: 'text' as const,
  content,
  closed: false,
  firstEvent: 2,
  cuts: `${content.length}`,
})
const call = (run: RunRow) => ({
  messageId: run.messageId,
  position: 1,
  type: 'tool_call' as const,
  content: '{}',
  idRef: 'call',
  name: 'tool',
  skipped: false,
  closed: true,
  firstEvent: 3,
})

/** Everything that an attempt writes, by name. */
const writesOf = (store: Store, run: RunRow): Record<string, (tx: Writer) => Promise<unknown>> => ({
  text: (tx) => store.steps.storeProse(tx, run.userId, text(run, 'stale'), run),
  'a call or result': (tx) =>
    store.steps.storeOf(run, tx, run.userId, { ...call(run), content: '1' }),
  'the mark of a call': (tx) =>
    store.steps.markStarted(tx, run.messageId, 1, { startedAt: new Date() }, run),
  'the id of an event': (tx) => store.steps.setFirstEvent(tx, run.messageId, 1, 99, run),
  'its row': (tx) => store.runs.write(tx, run, { status: 'completed' }),
  usage: (tx) => store.runs.writeOnce(tx, run, 1, { promptTokens: 7 }),
  'a request to a person': (tx) => store.runs.lockAttempt(tx, run),
})

describeOnEachDatabase('an attempt of a run', (open) => {
  async function begun(): Promise<{ database: Database; store: Store; run: RunRow }> {
    const database = await open()
    const store = createStore(database)
    const run = await storeRun(database, store)
    await database.write(async (tx) => {
      await store.steps.storeProse(tx, run.userId, text(run, 'first'), run)
      await store.steps.storeOf(run, tx, run.userId, call(run))
    })
    return { database, store, run }
  }
  const stored = async (store: Store, run: RunRow) => ({
    run: await store.runs.find(run.id),
    steps: await store.steps.list(run.messageId),
  })

  test('writes nothing once a later one has begun', async () => {
    const { database, store, run } = await begun()
    await database.write((tx) => store.runs.claim(tx, run.id, 'another instance'))
    const before = await stored(store, run)
    for (const [name, write] of Object.entries(writesOf(store, run)))
      await expect(database.write(write), name).rejects.toThrow(RunOver)
    expect(await stored(store, run)).toEqual(before)
  })

  test('writes nothing once another process has ended the run', async () => {
    const { database, store, run } = await begun()
    await database.write((tx) =>
      store.runs.end(tx, run.id, { status: 'stopped', endedAt: new Date() }),
    )
    const before = await stored(store, run)
    for (const [name, write] of Object.entries(writesOf(store, run)))
      await expect(database.write(write), name).rejects.toThrow(RunOver)
    expect(await stored(store, run)).toEqual(before)
  })

  test('writes as long as it is the latest', async () => {
    const { database, store, run } = await begun()
    const [next] = await database.write((tx) =>
      Promise.all([store.runs.claim(tx, run.id, 'another instance')]),
    )
    if (next === undefined) throw new Error('the run is active')
    for (const write of Object.values(writesOf(store, next))) await database.write(write)
    expect((await store.steps.list(run.messageId)).map(({ content }) => content)).toEqual([
      'stale',
      '1',
    ])
  })
})

describe('two attempts at once on PostgreSQL', () => {
  const databases = useDatabases()

  test('a write that waits for the claim of a later attempt is refused when the claim is stored', async () => {
    const settings = await databases.migrated('postgres')
    const [first, second] = [await databases.connect(settings), await databases.connect(settings)]
    const store = createStore(first)
    const run = await storeRun(first, store)
    for (const [name, write] of Object.entries(writesOf(store, run))) {
      let late: Promise<unknown> = Promise.resolve()
      const claimed = await second.write(async (tx) => {
        const row = await createStore(second).runs.claim(tx, run.id, 'another instance')
        late = first.write(write)
        late.catch(() => undefined)
        return row
      })
      await expect(late, name).rejects.toThrow(RunOver)
      run.attempt = claimed?.attempt ?? Number.NaN
    }
  })
})
