// A run's questions to a person: stored before they are asked, so that a restart asks the same one.

import type { WorkClock } from '../../agent/work-clock.ts'
import type { Writer } from '../../db/database.ts'
import type { ApprovalRow } from '../../db/repositories/approvals.ts'
import type { RunRepository, RunRow } from '../../db/repositories/runs.ts'
import type { ToolCall } from '../../llm/client.ts'
import type { ApprovalPreview, RiskLevel } from '../../protocol/run-event.ts'
import { visibleText, visibleValue } from '../../protocol/visible-text.ts'
import type { Decision } from '../../tools/executor.ts'
import type { ActiveRun } from '../active-run.ts'
import { announceRun } from '../announce.ts'
import type { ChatDependencies } from '../dependencies.ts'
import type { WriteGroup } from '../group-commit.ts'

interface Parts {
  active: ActiveRun
  run: Pick<RunRow, 'id' | 'messageId' | 'userId' | 'conversationId'>
  runs: RunRepository
  writes: WriteGroup
  clock: WorkClock
  setStatus(tx: Writer, status: 'running' | 'awaiting_approval'): Promise<void>
  announce: ChatDependencies['announce']
  now(): Date
}

/** The `ask` hook of a run's executor. */
export function createQuestions(parts: Parts) {
  const { active, run, runs, writes } = parts
  let position = 0

  return async function ask(question: {
    call: ToolCall
    riskLevel: RiskLevel
    preview?: ApprovalPreview
  }): Promise<Decision> {
    const { call, riskLevel, preview } = question
    position += 1
    // Listening first: a decision is either heard, or the transaction below finds it.
    const decided = active.waitForDecision(call.id)
    let known: ApprovalRow | undefined
    await writes.commit(async (tx) => {
      const stored = await runs.insertApproval(tx, {
        runId: run.id,
        idRef: call.id,
        position,
        name: call.name,
        arguments: call.arguments,
        riskLevel,
        preview: preview ?? null,
        status: 'pending',
        createdAt: parts.now(),
      })
      known = stored?.status === 'pending' ? undefined : stored
      if (known === undefined) await parts.setStatus(tx, 'awaiting_approval')
    })
    if (known !== undefined) return toDecision(known)
    announceRun(run, 'updated', parts)
    active.channel.appendEvent({
      event: 'approval_required',
      run_id: run.id,
      id_ref: call.id,
      name: call.name,
      arguments: visibleText(call.arguments),
      risk_level: riskLevel,
      ...(preview === undefined ? {} : { preview: visibleValue(preview) }),
    })
    parts.clock.pause()
    try {
      const decision = await decided
      active.channel.settleApproval(call.id)
      // The result may be long in coming: every page that shows the question learns that it is answered.
      active.channel.reportProgress({
        id_ref: call.id,
        progress: { kind: 'decided', decision: decision.decision },
      })
      if (active.channel.pendingApprovals.size === 0) {
        await writes.commit((tx) => parts.setStatus(tx, 'running'))
        announceRun(run, 'updated', parts)
      }
      return decision
    } finally {
      parts.clock.resume()
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
