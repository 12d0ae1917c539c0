// Where the sub-agents of a run store what they have done: together with its usage, which is added once.
import pLimit from 'p-limit'
import type { CallUsage, SubAgentJournal } from '../../agent/run-scope.ts'
import { SubAgentEvent } from '../../agent/sub-agent-log.ts'
import type { SubAgentRepository } from '../../db/repositories/sub-agents.ts'
import type { CallId, RunId } from '../../protocol/ids.ts'
import type { Write, WriteGroup } from '../group-commit.ts'
import type { RunUsage } from '../usage/usage.ts'

interface Dependencies {
  runId: RunId
  repository: SubAgentRepository
  usage: Pick<RunUsage, 'add' | 'storeWith'>
  writes: WriteGroup
  /** The process goes away: what is cut off now is no event, the next start makes it again. */
  isLeaving(): boolean
}

/** The journal as the run itself sees it. */
export interface RunJournal extends Pick<SubAgentJournal, 'read'> {
  /** As in `SubAgentJournal`; `also` is written in the same transaction. */
  write(
    callId: CallId,
    position: number,
    event: SubAgentEvent,
    used: readonly CallUsage[],
    also?: Write,
  ): Promise<void>
  /** Whether this attempt of the run had sub-agents. */
  readonly isUsed: boolean
  /** The run comes to its end: what sub-agents that were broken off still write is left out. */
  close(): Promise<void>
}

export function createSubAgentJournal(dependencies: Dependencies): RunJournal {
  const { runId, repository, usage, writes, isLeaving } = dependencies
  // One at a time: each write holds the run's sums, and an older one must not come after a newer.
  const inTurn = pLimit(1)
  let isUsed = false
  let isClosed = false
  return {
    get isUsed() {
      return isUsed
    },
    close() {
      isClosed = true
      return inTurn(async () => {})
    },
    async read(callId) {
      isUsed = true
      const rows = await repository.list(runId, callId)
      return rows.map(({ position, event }) => ({ position, event: SubAgentEvent.parse(event) }))
    },
    write: (callId, position, event, used, also) =>
      inTurn(async () => {
        if (isClosed || isLeaving()) return
        for (const one of used) usage.add(one)
        await usage.storeWith(false, (write) =>
          writes.commit(async (tx) => {
            if (!(await write(tx))) return
            await repository.append(tx, { runId, callId, position, event })
            await also?.(tx)
          }),
        )
      }),
  }
}
