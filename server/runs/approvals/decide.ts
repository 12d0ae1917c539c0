// Stores a person's decision on a tool call with its audit entry: once per call, and before anything acts on it.
import { createHash } from 'node:crypto'

import { type ApprovalRow, toPendingApproval } from '../../db/repositories/runs/approvals.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { appError } from '../../errors.ts'
import type { Actor, AuditDetails } from '../../protocol/admin/audit.ts'
import type { ApprovalDecisionBody } from '../../protocol/runs/run.ts'
import type { Decision } from '../../tools/approval.ts'
import type { ChatDependencies } from '../dependencies.ts'
import { readRunState } from '../state.ts'
import { toDecision } from './request.ts'

/** Maximum characters of a call's arguments in the audit log. */
const MAX_AUDITED_CHARACTERS = 2000

/**
 * Stores the decision, its audit entry, and the grant if it should be remembered, in one transaction.
 * @param actor who decides, and through which door.
 * @returns the decision in the executor's format.
 * @throws AppError if there is no such request, it is already decided, the run has ended, or the arguments are invalid.
 */
export async function decideApproval(
  run: RunRow,
  body: ApprovalDecisionBody,
  actor: Actor,
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
    await store.audit.record(tx, actor, {
      action: 'approval_decided',
      at: decision.decidedAt,
      details: auditedDecision(run, body, { ...approval, ...decision }),
    })
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

/** What was decided about which call, with the arguments that will run. */
function auditedDecision(
  run: RunRow,
  { decision, remember }: ApprovalDecisionBody,
  approval: ApprovalRow,
): AuditDetails {
  const text = approval.decidedArguments ?? approval.arguments
  const isCut = text.length > MAX_AUDITED_CHARACTERS
  return {
    id: run.id,
    id_ref: approval.idRef,
    decision,
    ...(remember === undefined ? {} : { remember }),
    tool: approval.name,
    arguments: text.slice(0, MAX_AUDITED_CHARACTERS),
    // So that the entry still says which arguments they were.
    ...(isCut ? { arguments_sha256: createHash('sha256').update(text).digest('hex') } : {}),
  }
}

function readArguments(given: ApprovalDecisionBody['arguments']): string | null {
  if (given === undefined) return null
  if (typeof given !== 'string') return JSON.stringify(given)
  return given
}
