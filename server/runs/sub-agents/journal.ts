// Stores the progress of a run's sub-agents, each event together with its usage.
import type { CallUsage, SubAgentJournal } from '../../agent/run-scope.ts'
import { SubAgentEvent } from '../../agent/sub-agent-log.ts'
import type { SubAgentRepository } from '../../db/repositories/runs/sub-agents.ts'
import type { CallId, RunId } from '../../protocol/ids.ts'
import type { Write } from '../group-commit.ts'
import type { RunUsage } from '../usage/usage.ts'

/** The journal from the run's point of view. */
export interface RunJournal extends Pick<SubAgentJournal, 'read'> {
  /** Like `write` of `SubAgentJournal`. `also` is written in the same transaction. */
  write(
    callId: CallId,
    position: number,
    event: SubAgentEvent,
    used: readonly CallUsage[],
    also?: Write,
  ): Promise<void>
  /** Whether this attempt of the run had sub-agents. */
  readonly isUsed: boolean
  /** Call it when the run ends: ignores later writes of interrupted sub-agents. Resolves when pending writes are done. */
  close(): Promise<void>
}

/**
 * Create one per attempt of a run.
 * @param isSuspending whether the process is shutting down. Events that this causes are not stored; the next attempt repeats
 * the work.
 */
export function createSubAgentJournal(
  runId: RunId,
  repository: SubAgentRepository,
  usage: Pick<RunUsage, 'add' | 'inTurn' | 'storeNow'>,
  isSuspending: () => boolean,
): RunJournal {
  let isUsed = false
  let isClosed = false
  return {
    get isUsed() {
      return isUsed
    },
    close() {
      isClosed = true
      return usage.inTurn(async () => {})
    },
    async read(callId) {
      isUsed = true
      const rows = await repository.list(runId, callId)
      return rows.map(({ position, event }) => ({ position, event: SubAgentEvent.parse(event) }))
    },
    write: (callId, position, event, used, also) =>
      usage.inTurn(async () => {
        if (isClosed || isSuspending()) return
        for (const one of used) usage.add(one)
        await usage.storeNow(async (tx) => {
          await repository.append(tx, { runId, callId, position, event })
          await also?.(tx)
        })
      }),
  }
}
