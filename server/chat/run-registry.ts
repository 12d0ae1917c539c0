// Starts runs and knows those that this process performs; hands out the log of any run, performed here or long ended.
import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import type { StepRow } from '../db/repositories/steps.ts'
import type { Store } from '../db/store.ts'
import type { ConversationId, RunId } from '../protocol/ids.ts'
import { createRunChannel, type RunChannel } from '../runs/run-channel.ts'
import { type ActiveRun, createActiveRun, type StopReason } from './active-runs.ts'
import { channelHistory } from './run-history.ts'
import { nestedPrefix } from './sub-agent-journal.ts'

/** A log stays in memory a while after the run's end: those who lost the last events come back soon. */
const ENDED_LOGS = 50
const ENDED_LOG_MS = 20_000
/** Between two looks at a store that took no writes. */
const STORE_AWAY_MS = 5_000

export interface RunRegistry {
  /** Performs a new run; its rows are stored by `store` first, and nothing begins when that fails. */
  begin(run: RunRow, store: () => Promise<void>): Promise<void>
  /** Performs a run that is stored and not ended; does nothing when it is performed here already. */
  continue(run: RunRow): Promise<void>
  get(id: RunId): ActiveRun | undefined
  ofConversation(id: ConversationId): ActiveRun[]
  all(): ActiveRun[]
  /** The run's log: live, or read back from the store. */
  channel(run: RunRow): Promise<RunChannel>
}

export function createRunRegistry(
  { store, database }: { store: Store; database: Database },
  perform: (active: ActiveRun, run: RunRow) => Promise<boolean>,
): RunRegistry {
  const active = new Map<RunId, { run: ActiveRun; conversationId: ConversationId }>()
  const ended = new LRUCache<RunId, RunChannel>({ max: ENDED_LOGS, ttl: ENDED_LOG_MS })

  function launch(one: ActiveRun, run: RunRow): void {
    void perform(one, run).then((isStored) => {
      active.delete(run.id)
      if (one.channel.terminal !== null) ended.set(run.id, one.channel)
      if (!isStored) tryAgainLater(run.id)
    })
  }

  /** A run whose writes the store did not take goes on by itself when the store is back. */
  function tryAgainLater(id: RunId): void {
    const timer = setTimeout(async () => {
      try {
        const run = await store.runs.find(id)
        if (run !== undefined && run.endedAt === null) await continueRun(run)
      } catch {
        tryAgainLater(id)
      }
    }, STORE_AWAY_MS)
    timer.unref()
  }

  /** Runs being read back from the store; asking twice starts them once. */
  const starting = new Map<RunId, Promise<void>>()

  async function readBack(run: RunRow): Promise<void> {
    const again = { ...run, attempt: run.attempt + 1 }
    const rows = await store.steps.list(run.messageId)
    const stale = await staleQuestions(run, rows)
    await database.write(async (tx) => {
      await store.runs.update(tx, run.id, { attempt: again.attempt })
      await store.runs.withdrawApprovals(tx, run.id, stale)
    })
    const channel = createRunChannel(channelHistory(again, rows, { continues: true }))
    const one = createActiveRun(run.id, channel)
    active.set(run.id, { run: one, conversationId: run.conversationId })
    launch(one, again)
  }

  /** Open questions about calls that have their answer already: nobody waits for a decision on them any more. */
  async function staleQuestions(run: RunRow, rows: readonly StepRow[]): Promise<string[]> {
    const answered = new Set(rows.flatMap((row) => (row.type === 'tool_result' ? row.idRef : [])))
    const open = rows.flatMap((row) =>
      row.type !== 'tool_call' || row.idRef === null || answered.has(row.idRef) ? [] : row.idRef,
    )
    // Sub-agents ask under ids of their own, which begin with that of the call they work for.
    const mayAsk = (id: string): boolean =>
      open.some((call) => id === call || id.startsWith(nestedPrefix(call)))
    const pending = (await store.runs.pendingApprovals([run.id])).get(run.id) ?? []
    return pending.map(({ id_ref }) => id_ref).filter((id) => !mayAsk(id))
  }

  async function continueRun(run: RunRow): Promise<void> {
    if (active.has(run.id)) return
    ended.delete(run.id)
    const start = starting.get(run.id) ?? readBack(run).finally(() => starting.delete(run.id))
    starting.set(run.id, start)
    await start
  }

  return {
    async begin(run, storeRows) {
      const channel = createRunChannel({ entries: [], steps: [], lastId: 0 })
      channel.appendEvent({
        event: 'run',
        run_id: run.id,
        user_message_id: run.userMessageId,
        message_id: run.messageId,
      })
      const one = createActiveRun(run.id, channel)
      active.set(run.id, { run: one, conversationId: run.conversationId })
      try {
        await storeRows()
      } catch (error) {
        active.delete(run.id)
        one.markEnded()
        throw error
      }
      launch(one, run)
    },
    continue: continueRun,
    get: (id) => active.get(id)?.run,
    ofConversation: (id) =>
      [...active.values()].filter((one) => one.conversationId === id).map((one) => one.run),
    all: () => [...active.values()].map((one) => one.run),
    async channel(run) {
      const known = active.get(run.id)?.run.channel ?? ended.get(run.id)
      if (known !== undefined) return known
      if (run.endedAt === null) {
        await continueRun(run)
        const started = active.get(run.id)?.run.channel
        if (started !== undefined) return started
      }
      const rows = await store.steps.list(run.messageId)
      const fresh = (await store.runs.find(run.id)) ?? run
      return createRunChannel(channelHistory(fresh, rows, { continues: false }))
    },
  }
}

/** Stops a run and waits for its end, at most as long as promised. */
export async function stopAndWait(
  run: ActiveRun,
  reason: StopReason,
  milliseconds: number,
): Promise<void> {
  run.stop(reason)
  let timer: NodeJS.Timeout | undefined
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([run.ended, time])
  clearTimeout(timer)
}
