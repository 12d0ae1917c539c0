// The call that begins a background task begins it once, also when a restart makes the same call again.
import { expect, test } from 'vitest'
import { createBackground } from '../../../server/chat/background.ts'
import { createStore } from '../../../server/db/store.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { chatRun, say, somebody } from '../../support/store-rows.ts'

describeOnEachDatabase('a background task', (open) => {
  test('is begun once for each call of its run', async () => {
    const database = await open()
    const store = createStore(database)
    const user = await somebody(store)
    const conversation = await store.conversations.create(user.id, {})
    const question = await say(database, conversation.id, 'Go', null)
    const parent = {
      ...chatRun(user.id, conversation.id, question),
      options: { toolsEnabled: true, approval: 'ask', onDisconnect: 'continue' },
    }
    await database.write((tx) => store.runs.insert(tx, parent))
    const { begin, list } = createBackground(
      {
        store,
        instance: 'test',
        now: () => new Date(),
        maxIterations: 3,
      },
      {
        beginBackground: (run, message) =>
          database.write(async (tx) => {
            await store.messages.insertApart(tx, message)
            await store.runs.insert(tx, run)
          }),
        stop: () => Promise.reject(new Error('nobody stops it here')),
      },
    )
    const task = { task: 'count the stars', announce: true, tools: [] }
    const first = await begin(parent.id, { callId: 'call_1', ...task })
    const again = await begin(parent.id, { callId: 'call_1', ...task })
    const other = await begin(parent.id, { callId: 'call_2', ...task })
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
    expect(await list(user.id, conversation.id)).toHaveLength(2)
  })
})
