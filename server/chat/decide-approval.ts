// A person's decision on one call: for exactly this call, once, stored before anybody acts on it.

import { type RunRow, toPendingApproval } from '../db/repositories/runs.ts'
import { AppError } from '../errors.ts'
import type { ApprovalDecisionBody } from '../protocol/run.ts'
import type { Decision } from '../tools/executor.ts'
import type { ChatDependencies } from './chat-dependencies.ts'
import { toDecision } from './run-questions.ts'
import { readRunState } from './run-state.ts'

/** Stores the decision and hands it back in the executor's form. */
export async function decideApproval(
  run: RunRow,
  body: ApprovalDecisionBody,
  { store, database, registry, now }: ChatDependencies,
): Promise<Decision> {
  const approval = await store.runs.approval(run.id, body.id_ref)
  if (approval === undefined)
    throw new AppError('not_found', 'Nothing waits for a decision under this id_ref.')
  const decided = new AppError('approval_decided', 'This call was decided already.')
  if (approval.status !== 'pending') throw decided
  if (run.endedAt !== null)
    throw new AppError('approval_decided', 'This run has ended; nothing waits in it any more.')

  const { name } = toPendingApproval(approval)
  const changed = body.decision === 'approve' ? readArguments(body.arguments) : null
  const tool = registry.get(name)
  if (changed !== null && tool !== undefined) {
    const parsed = tool.parse(changed)
    if (!parsed.ok) throw new AppError('validation_failed', parsed.error)
  }
  const decision = {
    status: body.decision === 'approve' ? ('approved' as const) : ('rejected' as const),
    reason: body.reason ?? null,
    decidedArguments: changed,
    decidedAt: now(),
  }
  const conversation = await store.conversations.find(run.userId, run.conversationId)
  await database.write(async (tx) => {
    if (!(await store.runs.decide(tx, run.id, body.id_ref, decision))) throw decided
    if (body.decision !== 'approve' || tool === undefined) return
    if (body.remember === 'run') {
      const fresh = await store.runs.findIn(tx, run.id)
      const state = readRunState(fresh?.state)
      await store.runs.update(tx, run.id, {
        state: { ...state, grants: [...new Set([...state.grants, tool.name])] },
      })
    }
    if (body.remember === 'conversation')
      await store.conversations.update(tx, run.conversationId, {
        approvalGrants: [...new Set([...(conversation?.approvalGrants ?? []), tool.name])],
      })
  })
  return toDecision(decision)
}

function readArguments(given: ApprovalDecisionBody['arguments']): string | null {
  if (given === undefined) return null
  if (typeof given !== 'string') return JSON.stringify(given)
  return given
}
