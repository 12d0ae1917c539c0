// A run that waits for a person: its status, its clock, and the notice to the user's pages.
import type { Writer } from '../db/database.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import type { WorkClock } from '../lib/clocks.ts'
import type { ActiveRun } from './active-run.ts'
import type { ChatDependencies } from './dependencies.ts'
import type { WriteGroup } from './group-commit.ts'
import type { RunLog } from './log/log.ts'
import { announceRun } from './observation.ts'

/** One run. Approval requests and questions of MCP servers wait in the same way. */
export interface WaitingDependencies {
  active: Pick<ActiveRun, 'runLog'>
  run: Pick<RunRow, 'id' | 'messageId' | 'userId' | 'conversationId' | 'attempt'>
  store: Pick<Store, 'runs' | 'messages'>
  writes: WriteGroup
  /** Paused while the run waits for a person. */
  clock: Pick<WorkClock, 'pause' | 'resume'>
  announce: ChatDependencies['announce']
}

/** How a run waits for a person. Its time limit does not count the wait. */
export interface Waiting {
  /** Sets the status, in the transaction that stores what the person is asked. */
  begin(tx: Writer, status: 'awaiting_approval' | 'awaiting_input'): Promise<void>
  /**
   * Announces the wait, emits the request with `ask`, and pauses the clock until `answer` settles. `settle` removes the
   * request from the run log; afterwards, the status says what the run still waits for.
   */
  until<Answer>(request: {
    answer: Promise<Answer>
    ask(): void
    settle(answer: Answer): void
  }): Promise<Answer>
}

type Status = 'running' | 'awaiting_approval' | 'awaiting_input'

const statusOf = ({ pendingApprovals, pendingInputs }: RunLog): Status => {
  if (pendingApprovals.size > 0) return 'awaiting_approval'
  return pendingInputs.size > 0 ? 'awaiting_input' : 'running'
}

/** Create one per attempt. */
export function createWaiting(dependencies: WaitingDependencies): Waiting {
  const { active, run, store, writes, clock } = dependencies
  const { runLog } = active

  let current: Status = 'running'

  async function storeStatus(tx: Writer, status: Status): Promise<void> {
    // A waiting run cannot crash the server, so this attempt no longer counts as failed.
    const change = status === 'running' ? { status } : { status, failedAttempts: 0 }
    await store.runs.write(tx, run, change)
    await store.messages.update(tx, run.messageId, {
      status: status === 'running' ? 'streaming' : status,
    })
  }

  return {
    async begin(tx, status) {
      current = status
      await storeStatus(tx, status)
    },
    async until({ answer, ask, settle }) {
      announceRun(run, 'updated', dependencies.announce)
      ask()
      clock.pause()
      try {
        const given = await answer
        settle(given)
        const next = statusOf(runLog)
        if (next !== current) {
          current = next
          await writes.commit((tx) => storeStatus(tx, next))
          announceRun(run, 'updated', dependencies.announce)
        }
        return given
      } finally {
        clock.resume()
      }
    },
  }
}
