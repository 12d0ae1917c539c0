// The approval requests of a run: stored before they are emitted, so that they survive a restart.

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
  /** Nobody can be asked: calls that need approval fail. */
  isRefused?: boolean
  taint: Pick<Taint, 'isTainted' | 'remembered' | 'reload'>
  store: Pick<Store, 'runs' | 'messages'>
  writes: WriteGroup
  /** Paused while the run waits for a person. */
  clock: Pick<WorkClock, 'pause' | 'resume'>
  announce: ChatDependencies['announce']
  now(): Date
}

/** For the model, in place of a decision. */
const NOBODY_TO_ASK =
  'This call needs the approval of a person, and the program that sent this request does not wait for one. Do without it, or say what you would have done and that it needs approval.'

/** Decides which calls of a run need approval, requests it, and waits for the decision. */
export function createApprovals(dependencies: Dependencies): Approvals {
  const { active, run, mode, taint, store, writes, clock } = dependencies

  return {
    ...(dependencies.isRefused === true ? { refusal: NOBODY_TO_ASK } : {}),

    isNeeded: (tool) =>
      needsApproval({
        ...tool,
        mode,
        tainted: taint.isTainted(),
        remembered: taint.remembered(),
      }),

    async request({ call, riskLevel, preview, position }): Promise<Decision> {
      // Subscribe first, so that no decision is missed: it either arrives here or is found by the transaction below.
      const decided = active.waitForDecision(call.id)
      let alreadyDecided: ApprovalRow | undefined
      await writes.commit(async (tx) => {
        // Lock the run before its approval, in the same order as a decision does; the reverse order could deadlock.
        await store.runs.lockActive(tx, run.id)
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
        alreadyDecided = stored?.status === 'pending' ? undefined : stored
        if (alreadyDecided === undefined) await setStatus('awaiting_approval')(tx)
      })
      const decision =
        alreadyDecided === undefined
          ? await waitFor(decided, {
              id_ref: call.id,
              name: call.name,
              arguments: visibleText(call.arguments),
              risk_level: riskLevel,
              ...(preview === undefined ? {} : { preview: visibleValue(preview) }),
            })
          : toDecision(alreadyDecided)
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
      // The result may take a while, so tell every page that shows the request that it is decided.
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
      // A waiting run cannot crash the server, so this attempt no longer counts as failed.
      const change = status === 'running' ? { status } : { status, failedAttempts: 0 }
      await store.runs.write(tx, run, change)
      await store.messages.update(tx, run.messageId, {
        status: status === 'running' ? 'streaming' : status,
      })
    }
  }
}

/** Converts a stored decision to the executor's format. */
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
