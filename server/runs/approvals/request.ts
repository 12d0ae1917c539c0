// The approval requests of a run: stored before they are emitted, so that they survive a restart.

import type { ApprovalRow } from '../../db/repositories/runs/approvals.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import type { PendingApproval } from '../../protocol/runs/run-event.ts'
import { visibleText, visibleValue } from '../../protocol/runs/visible-text.ts'
import type { Approvals, Decision } from '../../tools/approval.ts'
import { needsApproval } from '../../tools/risk.ts'
import type { ActiveRun } from '../active-run.ts'
import type { RunNotices } from '../dependencies.ts'
import type { WriteGroup } from '../group-commit.ts'
import type { RunOptions } from '../state.ts'
import type { Waiting } from '../waiting.ts'
import type { Taint } from './taint.ts'

interface Dependencies {
  active: Pick<ActiveRun, 'runLog' | 'waitForDecision'>
  run: Pick<RunRow, 'id' | 'userId' | 'conversationId' | 'messageId' | 'attempt'>
  notices?: Pick<RunNotices, 'approvalRequired'>
  mode: RunOptions['approval']
  /** Nobody can decide, so calls that need approval fail. */
  isRefused?: boolean
  taint: Pick<Taint, 'isTainted' | 'remembered' | 'reload' | 'addresses'>
  store: Pick<Store, 'runs'>
  writes: WriteGroup
  waiting: Waiting
  now(): Date
}

/** What the model reads instead of a decision. */
const NOBODY_TO_ASK =
  'This call needs the approval of a person, and the program that sent this request does not wait for one. Do without it, or say what you would have done and that it needs approval.'

/** Decides which calls of a run need approval, requests it, and waits for the decision. */
export function createApprovals(dependencies: Dependencies): Approvals {
  const { active, run, mode, taint, store, writes, waiting } = dependencies

  return {
    ...(dependencies.isRefused === true ? { refusal: NOBODY_TO_ASK } : {}),

    isNeeded: (tool) =>
      needsApproval({
        ...tool,
        mode,
        tainted: taint.isTainted(),
        remembered: taint.remembered(),
      }),

    newAddresses: async (addresses) =>
      mode !== 'auto' && taint.isTainted() ? await taint.addresses.unknown(addresses) : [],

    allowsRedirect: async ({ hostname }) =>
      mode === 'auto' || !taint.isTainted() || (await taint.addresses.hasHost(hostname)),

    async request({ call, riskLevel, preview, position }): Promise<Decision> {
      // Subscribe first, so that no decision is missed: it either arrives here or is found by the transaction below.
      const decided = active.waitForDecision(call.id)
      let alreadyDecided: ApprovalRow | undefined
      await writes.commit(async (tx) => {
        // Lock the run before its approval, in the order that a decision uses; the reverse order could deadlock.
        await store.runs.lockAttempt(tx, run)
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
        if (alreadyDecided !== undefined) return
        await waiting.begin('awaiting_approval')(tx)
        await dependencies.notices?.approvalRequired(tx, run, {
          id: call.id,
          name: call.name,
          riskLevel,
          createdAt: dependencies.now(),
        })
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

  function waitFor(decided: Promise<Decision>, request: PendingApproval): Promise<Decision> {
    return waiting.until({
      answer: decided,
      ask: () =>
        active.runLog.appendEvent({ event: 'approval_required', run_id: run.id, ...request }),
      settle(decision) {
        active.runLog.settleApproval(request.id_ref)
        // The result may take a while, so tell every page that shows the request that it is decided.
        active.runLog.reportProgress({
          id_ref: request.id_ref,
          progress: { kind: 'decided', decision: decision.decision },
        })
      },
    })
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
