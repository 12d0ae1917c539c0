// A run's questions to a person: stored before they are asked, so that a restart asks the same one.

import type { Writer } from '../db/database.ts'
import type { RunRepository, RunRow } from '../db/repositories/runs.ts'
import type { ToolCall } from '../llm/client.ts'
import type { ApprovalPreview, RiskLevel } from '../protocol/run-event.ts'
import type { Decision } from '../tools/executor.ts'
import type { ActiveRun } from './active-runs.ts'
import type { WorkClock } from './run-guards.ts'
import type { WriteGroup } from './write-group.ts'

interface Parts {
  active: ActiveRun
  run: Pick<RunRow, 'id' | 'messageId'>
  runs: RunRepository
  writes: WriteGroup
  clock: WorkClock
  setStatus(tx: Writer, status: 'running' | 'awaiting_approval'): Promise<void>
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
    const stored = await runs.approval(run.id, call.id)
    if (stored !== undefined && stored.status !== 'pending') return toDecision(stored)

    position += 1
    const decided = active.waitForDecision(call.id)
    await writes.commit(async (tx) => {
      await runs.insertApproval(tx, {
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
      await parts.setStatus(tx, 'awaiting_approval')
    })
    active.channel.appendEvent({
      event: 'approval_required',
      run_id: run.id,
      id_ref: call.id,
      name: call.name,
      arguments: call.arguments,
      risk_level: riskLevel,
      ...(preview === undefined ? {} : { preview }),
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
      if (active.channel.pendingApprovals.size === 0)
        await writes.commit((tx) => parts.setStatus(tx, 'running'))
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
