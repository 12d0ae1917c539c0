// Stores a person's decision on a tool call: once per call, and before anything acts on it.

import { toPendingApproval } from '../../db/repositories/runs/approvals.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { appError } from '../../errors.ts'
import type { ApprovalDecisionBody } from '../../protocol/runs/run.ts'
import type { Decision } from '../../tools/approval.ts'
import type { ChatDependencies } from '../dependencies.ts'
import { readRunState } from '../state.ts'
import { toDecision } from './request.ts'

/**
 * Stores the decision, and the grant if it should be remembered, in one transaction.
 * @returns the decision in the executor's format.
 * @throws AppError if there is no such request, it is already decided, the run has ended, or the arguments are invalid.
 */
export async function decideApproval(
  run: RunRow,
  body: ApprovalDecisionBody,
  {
    store,
    database,
    registry,
    now,
  }: Pick<ChatDependencies, 'store' | 'database' | 'registry' | 'now'>,
): Promise<Decision> {
  const approval = await store.runs.approval(run.id, body.id_ref)
  if (approval === undefined) throw appError('approval_not_found')
  const alreadyDecided = appError('call_decided')
  if (approval.status !== 'pending') throw alreadyDecided
  const runEnded = appError('run_takes_no_decision')
  if (run.endedAt !== null) throw runEnded

  const { name, preview } = toPendingApproval(approval)
  const changed = body.decision === 'approve' ? readArguments(body.arguments) : null
  const tool = registry.snapshot(run.userId).get(name)
  if (changed !== null && tool !== undefined) {
    const parsed = tool.parse(changed)
    if (!parsed.ok) throw appError('approved_arguments_invalid', { detail: parsed.error })
  }
  const decision = {
    status: body.decision === 'approve' ? ('approved' as const) : ('rejected' as const),
    reason: body.reason ?? null,
    decidedArguments: changed,
    decidedAt: now(),
  }
  await database.write(async (tx) => {
    // Check again under the lock: the run may have been stopped in the meantime. From here on, nothing can end it.
    const unended = await store.runs.lockActive(tx, run.id)
    if (unended === undefined) throw runEnded
    if (!(await store.runs.decide(tx, run.id, body.id_ref, decision))) throw alreadyDecided
    if (body.decision !== 'approve' || tool === undefined) return
    // The grant is for what the person saw. The tool may have changed since.
    const grant = typeof preview?.grant_key === 'string' ? preview.grant_key : tool.name
    if (body.remember === 'run') {
      const state = readRunState(unended.state)
      await store.runs.write(tx, unended, {
        state: { ...state, grants: [...new Set([...state.grants, grant])] },
      })
    }
    if (body.remember === 'conversation')
      await store.conversations.addApprovalGrant(tx, run.conversationId, grant)
  })
  return toDecision(decision)
}

function readArguments(given: ApprovalDecisionBody['arguments']): string | null {
  if (given === undefined) return null
  if (typeof given !== 'string') return JSON.stringify(given)
  return given
}
