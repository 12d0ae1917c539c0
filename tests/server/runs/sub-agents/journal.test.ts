// The journal of sub-agents without HTTP: each event with its usage in one transaction, and what a restart goes on from.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { SubAgentEvent } from '../../../../server/agent/sub-agent-log.ts'
import { createSubAgents } from '../../../../server/agent/sub-agents.ts'
import type { Database } from '../../../../server/db/database.ts'
import { dayOf } from '../../../../server/db/repositories/accounts/token-usage.ts'
import type { RunRow } from '../../../../server/db/repositories/runs/runs.ts'
import { createStore, type Store } from '../../../../server/db/store.ts'
import { CallId } from '../../../../server/protocol/ids.ts'
import { createWriteGroup } from '../../../../server/runs/group-commit.ts'
import {
  createSubAgentJournal,
  type RunJournal,
} from '../../../../server/runs/sub-agents/journal.ts'
import { createRunUsage } from '../../../../server/runs/usage/usage.ts'
import {
  calling,
  finished,
  says,
  scriptedClient,
  text,
  toolCall,
} from '../../../support/provider/scripted-client.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'
import { storeRun } from '../../../support/store/store-rows.ts'
import { bench, countingTool, gate, noApprovals, toolContext } from '../../tools/support.ts'

const now = () => new Date()
const callId = CallId.parse('tasks')
const used = [
  {
    model: 'scripted-1',
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  },
]
const ended: SubAgentEvent = { type: 'ended', outcome: { success: true, response: 'Done.' } }
const begun = (id: string): SubAgentEvent => ({ type: 'begun', id: CallId.parse(id) })

describeOnEachDatabase('the journal of sub-agents', (open) => {
  let database: Database
  let store: Store
  let run: RunRow
  let isSuspending: boolean
  let journal: RunJournal

  /** The journal of the current attempt, which stores `writes` events before the store fails. */
  function attempt(writes = Number.POSITIVE_INFINITY): RunJournal {
    let left = writes
    const usage = createRunUsage(run, {
      database,
      store,
      now,
      settings: { runTokens: undefined },
      access: { spendingLimits: () => [] },
      catalog: { priceOf: async () => null },
      budgets: { join: () => ({ admitCall: async () => true, release() {} }) },
      writes: createWriteGroup(
        {
          write: (work) => {
            left -= 1
            if (left < 0) return Promise.reject(new Error('the store is gone'))
            return database.write(work)
          },
        },
        [],
      ),
    })
    return createSubAgentJournal(run.id, store.subAgents, usage, () => isSuspending)
  }

  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })
  beforeEach(async () => {
    run = await storeRun(database, store)
    isSuspending = false
    journal = attempt()
  })

  const tokens = async (): Promise<number> => {
    const today = dayOf(now())
    return (await store.tokenUsage.total([run.userId], { from: today, to: today })).tokens
  }

  test('the events of a call come back in the order they were stored, and those of other calls do not', async () => {
    expect(journal.isUsed).toBe(false)
    await journal.write(callId, 1, begun('b'), [])
    await journal.write(callId, 0, begun('a'), [])
    await journal.write(CallId.parse('other'), 0, ended, [])
    await journal.write(callId, 1, ended, [])
    expect(await attempt().read(callId)).toEqual([
      { position: 1, event: begun('b') },
      { position: 0, event: begun('a') },
      { position: 1, event: ended },
    ])
    expect(await journal.read(CallId.parse('third'))).toEqual([])
    expect(journal.isUsed).toBe(true)
  })

  test('an event, its usage and what is written with it are stored together or not at all', async () => {
    await expect(
      journal.write(callId, 0, ended, used, async () => {
        throw new Error('the mark cannot be stored')
      }),
    ).rejects.toThrow('the mark cannot be stored')
    expect(await journal.read(callId)).toEqual([])
    expect(await tokens()).toBe(0)
    // The tokens were used all the same: they are stored with the next event.
    await journal.write(callId, 0, ended, used)
    expect(await journal.read(callId)).toHaveLength(1)
    expect(await tokens()).toBe(20)
  })

  test('closing waits for the writes in progress, and later events are ignored', async () => {
    const started = gate()
    const held = gate()
    const first = journal.write(callId, 0, begun('a'), used, async () => {
      started.open()
      await held.opened
    })
    await started.opened
    let isClosed = false
    const closing = journal.close().then(() => {
      isClosed = true
    })
    const late = journal.write(callId, 0, ended, used)
    expect(isClosed).toBe(false)
    held.open()
    await Promise.all([first, closing, late])
    expect(await journal.read(callId)).toEqual([{ position: 0, event: begun('a') }])
    expect(await tokens()).toBe(10)
  })

  test('while the process shuts down nothing is stored, so that the next attempt repeats the work', async () => {
    isSuspending = true
    await journal.write(callId, 0, ended, used)
    expect(await attempt().read(callId)).toEqual([])
    expect(await tokens()).toBe(0)
  })

  test('after a failure at any event, the next attempt completes every task, and no unrepeatable call runs twice', async () => {
    for (let writes = 0; writes <= 8; writes += 1) {
      run = await storeRun(database, store)
      const { tool, runs } = countingTool({ name: 'append', repeatable: false })
      /** Each of the two sub-agents calls the tool once, then answers. */
      const perform = (current: RunJournal) =>
        createSubAgents(
          {
            llm: {
              stream: (request) => {
                const task = String(request.messages[1]?.content)
                const isAnswered = request.messages.some(({ role }) => role === 'tool')
                return scriptedClient(
                  isAnswered
                    ? says([text(`${task} is done.`), finished()])
                    : says([
                        ...calling(toolCall(`call-${task}`, 'append', `{"value":"${task}"}`)),
                        finished('tool_calls'),
                      ]),
                ).stream(request)
              },
            },
            request: {},
            contextWindow: 32_000,
            tools: [tool],
            resources: bench([tool]).parts,
            approvals: noApprovals,
            countGrantUse: async () => true,
            isTainted: () => false,
            isBudgetLeft: async () => true,
            whenOwner: async () => {},
            journal: {
              read: current.read,
              write: (id, position, event, usage) => current.write(id, position, event, usage),
            },
          },
          { maxIterations: 3, maxConcurrency: 2, maxTokens: 100, timeout: 600 },
        )(
          [
            { name: 'one', instruction: 'one' },
            { name: 'two', instruction: 'two' },
          ],
          toolContext({ callId, runId: run.id }),
        )
      await perform(attempt(writes))
      const { outcomes } = await perform(attempt())
      expect(outcomes, `after ${writes} events`).toEqual([
        { success: true, response: 'one is done.' },
        { success: true, response: 'two is done.' },
      ])
      expect(runs.length, `after ${writes} events`).toBe(new Set(runs).size)
    }
  })
})
