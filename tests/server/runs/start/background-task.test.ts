// A call that starts a background task starts it only once, even if a restart repeats the call.
import { expect, test } from 'vitest'
import { createStore } from '../../../../server/db/store.ts'
import { CallId } from '../../../../server/protocol/ids.ts'
import type { ChatSettings } from '../../../../server/runs/dependencies.ts'
import { startBackgroundTask } from '../../../../server/runs/start/background-task.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'
import { chatRun, say, somebody } from '../../../support/store/store-rows.ts'

describeOnEachDatabase('a background task', (open) => {
  test('is started once for each call of its run', async () => {
    const database = await open()
    const store = createStore(database)
    const user = await somebody(store)
    const conversation = await store.conversations.create(user.id, {})
    const question = await say(database, conversation.id, 'Go', null)
    const parent = {
      ...chatRun(user.id, conversation.id, question),
      options: {
        toolsEnabled: true,
        approval: 'ask',
        approvalDeadline: 60,
        origin: { type: 'api' },
        onDisconnect: 'continue',
      },
    }
    await database.write((tx) => store.runs.insert(tx, parent))
    const start = (callId: string) =>
      startBackgroundTask(
        parent,
        { callId: CallId.parse(callId), task: 'count the stars', announce: true, tools: [] },
        {
          store,
          // The only setting that is read.
          settings: { subAgents: { maxIterations: 3 } } as ChatSettings,
          instance: 'test',
          now: () => new Date(),
          runs: {
            begin: (run, write) =>
              database.write(async (tx) => {
                await store.runs.insert(tx, run)
                await write(tx)
              }),
          },
        },
      )
    const first = await start('call_1')
    const again = await start('call_1')
    const other = await start('call_2')
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
    const tasks = await store.runs.background(user.id, conversation.id)
    expect(tasks).toHaveLength(2)
    // Requests of the task expire like those of its run.
    for (const { options } of tasks)
      expect(options).toMatchObject({ approvalDeadline: 60, origin: { type: 'api' } })
  })
})
