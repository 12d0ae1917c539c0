// A run's approval requests: stored before they are emitted, so that after a restart the same one waits.

import type { WorkClock } from '../../agent/work-clock.ts'
import type { ApprovalRow } from '../../db/repositories/approvals.ts'
import type { RunRow } from '../../db/repositories/runs.ts'
import type { Store } from '../../db/store.ts'
import type { PendingApproval } from '../../protocol/run-event.ts'
import { visibleText, visibleValue } from '../../protocol/visible-text.ts'
import type { Approvals, Decision } from '../../tools/approval.ts'
import { needsApproval } from '../../tools/risk.ts'
import type { ActiveRun } from '../active-run.ts'
import { announceRun } from '../announce.ts'
import type { ChatDependencies } from '../dependencies.ts'
import type { Write, WriteGroup } from '../group-commit.ts'
import type { RunOptions } from '../state.ts'
import type { Taint } from './taint.ts'

interface Dependencies {
  active: Pick<ActiveRun, 'runLog' | 'waitForDecision'>
  run: Pick<RunRow, 'id' | 'messageId' | 'userId' | 'conversationId' | 'attempt'>
  mode: RunOptions['approval']
  taint: Pick<Taint, 'isTainted' | 'remembered' | 'reload'>
  store: Pick<Store, 'runs' | 'messages'>
  writes: WriteGroup
  /** Stands still while a person is waited for. */
  clock: Pick<WorkClock, 'pause' | 'resume'>
  announce: ChatDependencies['announce']
  now(): Date
}

export function createApprovals(dependencies: Dependencies): Approvals {
  const { active, run, mode, taint, store, writes, clock } = dependencies

  return {
    isNeeded: (tool) =>
      needsApproval({
        ...tool,
        mode,
        tainted: taint.isTainted(),
        remembered: taint.remembered(),
      }),

    async request({ call, riskLevel, preview, position }): Promise<Decision> {
      // Listening first: a decision is either heard, or the transaction below finds it.
      const decided = active.waitForDecision(call.id)
      let known: ApprovalRow | undefined
      await writes.commit(async (tx) => {
        // The run before its approval, as a decision locks them: the other way round each would wait for the other.
        await store.runs.lockUnended(tx, run.id)
        const stored = await store.runs.insertApproval(tx, {
          runId: run.id,
          idRef: call.id,
          position,
          name: call.name,
          arguments: call.arguments,
          riskLevel,
          preview: preview ?? null,
          status: 'pending',
          createdAt: dependencies.now(),
        })
        known = stored?.status === 'pending' ? undefined : stored
        if (known === undefined) await setStatus('awaiting_approval')(tx)
      })
      const decision =
        known === undefined
          ? await waitFor(decided, {
              id_ref: call.id,
              name: call.name,
              arguments: visibleText(call.arguments),
              risk_level: riskLevel,
              ...(preview === undefined ? {} : { preview: visibleValue(preview) }),
            })
          : toDecision(known)
      await taint.reload()
      return decision
    },
  }

  async function waitFor(decided: Promise<Decision>, request: PendingApproval): Promise<Decision> {
    announceRun(run, 'updated', dependencies)
    active.runLog.appendEvent({ event: 'approval_required', run_id: run.id, ...request })
    clock.pause()
    try {
      const decision = await decided
      active.runLog.settleApproval(request.id_ref)
      // The result may be long in coming: every page that shows the request learns that it is decided.
      active.runLog.reportProgress({
        id_ref: request.id_ref,
        progress: { kind: 'decided', decision: decision.decision },
      })
      if (active.runLog.pendingApprovals.size === 0) {
        await writes.commit(setStatus('running'))
        announceRun(run, 'updated', dependencies)
      }
      return decision
    } finally {
      clock.resume()
    }
  }

  function setStatus(status: 'running' | 'awaiting_approval'): Write {
    return async (tx) => {
      // As it waits it can do no harm: what this attempt did before counts as done well.
      const change = status === 'running' ? { status } : { status, failedAttempts: 0 }
      await store.runs.write(tx, run, change)
      await store.messages.update(tx, run.messageId, {
        status: status === 'running' ? 'streaming' : status,
      })
    }
  }
}

/** A stored decision in the executor's form. */
export function toDecision(stored: {
  status: string
  reason: string | null
  decidedArguments: string | null
}): Decision {
  if (stored.status === 'approved')
    return stored.decidedArguments === null
      ? { decision: 'approve' }
      : { decision: 'approve', arguments: stored.decidedArguments }
  return stored.reason === null
    ? { decision: 'reject' }
    : { decision: 'reject', reason: stored.reason }
}
