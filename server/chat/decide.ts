// A person decides a tool call: the decision is stored with its audit entry, once per call, before anything acts on it.
import { createHash } from 'node:crypto'
import {
  type ApprovalRow,
  hashOfRequest,
  toPendingApproval,
} from '../db/repositories/runs/approvals.ts'
import type { GrantRow } from '../db/repositories/runs/grants.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { appError } from '../errors.ts'
import { scheduleOf } from '../grants/covering.ts'
import { announceGrant, type NewGrant, prepareGrant, storeGrant } from '../grants/create.ts'
import { rememberTool } from '../grants/remember.ts'
import type { Actor, AuditDetails } from '../protocol/admin/audit.ts'
import type { RunId, UserId } from '../protocol/ids.ts'
import type { ApprovalDecisionBody } from '../protocol/runs/run.ts'
import type { AppCalls } from '../runs/app-calls.ts'
import { toDecision } from '../runs/approvals/request.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import type { RunRegistry } from '../runs/registry.ts'
import {
  announceRequest,
  doorOf,
  isChannel,
  noticeSettled,
  waitsForOthers,
} from '../runs/requests.ts'
import { originOfRun } from '../runs/state.ts'
import { decidableRun, ownedRun } from './owned.ts'

/**
 * Decides an approval request of the user's run, or of a run in a project that the user decides for, then passes the decision
 * to the waiting call, or continues the run if no call of this process waits for it.
 * @param actor who decides, and through which door, for the audit log.
 * @returns the run afterwards.
 * @throws AppError `not_found`, `not_yours`, `someone_else_must_decide`, and what `decideApproval` throws.
 */
export async function decide(
  { userId, runId }: { userId: UserId; runId: RunId },
  body: ApprovalDecisionBody,
  actor: Actor,
  dependencies: Parameters<typeof decideApproval>[3] & {
    runs: Pick<RunRegistry, 'get' | 'continue'>
    appCalls: Pick<AppCalls, 'decided'>
  },
): Promise<RunRow> {
  const { store, runs, appCalls } = dependencies
  const run = await decidableRun(store, userId, runId)
  await assertMayDecide({ userId, run }, body, dependencies)
  const { decision, byApp } = await decideApproval(run, body, actor, dependencies)
  if (byApp) appCalls.decided(run, body.id_ref)
  else {
    const isDelivered = runs.get(runId)?.decide(body.id_ref, decision) ?? false
    if (!isDelivered) await runs.continue(runId)
  }
  return await ownedRun(store, run.userId, runId)
}

/** @throws AppError `not_yours` or `someone_else_must_decide`. */
async function assertMayDecide(
  { userId, run }: { userId: UserId; run: RunRow },
  { id_ref, arguments: changed, remember }: ApprovalDecisionBody,
  { store }: Pick<ChatDependencies, 'store'>,
): Promise<void> {
  if (userId !== run.userId) {
    if (changed !== undefined || remember !== undefined) throw appError('not_yours')
    return
  }
  const request = await store.runs.approval(run.id, id_ref)
  if (request !== undefined && (await waitsForOthers(run, request, store)))
    throw appError('someone_else_must_decide')
}

/** Maximum characters of a call's arguments in the audit log. */
const MAX_AUDITED_CHARACTERS = 2000

/**
 * Stores the decision, its audit entry, and the grant if there is to be one, in one transaction.
 * @param actor who decides, and through which door.
 * @returns the decision in the executor's format, and whether an app made the call.
 * @throws AppError if there is no such request, it is already decided, the run of a model's call has ended, the tool of an app's
 * call is gone, or the arguments or the grant are invalid.
 */
export async function decideApproval(
  run: RunRow,
  body: ApprovalDecisionBody,
  actor: Actor,
  dependencies: Pick<
    ChatDependencies,
    'store' | 'database' | 'registry' | 'now' | 'notices' | 'announce'
  > & {
    settings: Pick<ChatDependencies['settings'], 'approvalChannelHigh'>
    appCalls: Pick<AppCalls, 'toolOf' | 'withdraw'>
  },
): Promise<{ decision: ReturnType<typeof toDecision>; byApp: boolean }> {
  const { store, database, registry, appCalls, settings, now } = dependencies
  const approval = await store.runs.approval(run.id, body.id_ref)
  if (approval === undefined) throw appError('approval_not_found')
  if (body.call_hash !== undefined && body.call_hash !== hashOfRequest(approval))
    throw appError('approval_changed')
  const alreadyDecided = appError('call_decided')
  if (approval.status !== 'pending') throw alreadyDecided
  const runEnded = appError('run_takes_no_decision')
  const { byApp } = approval
  if (run.endedAt !== null && !byApp) throw runEnded
  // What nobody has marked yet.
  if (byApp && approval.deadline !== null && approval.deadline <= now()) throw alreadyDecided
  const door = doorOf(actor)
  // A messenger shows a part of the preview, if any.
  const needsPage = isChannel(door) && !settings.approvalChannelHigh
  if (needsPage && body.decision === 'approve' && approval.riskLevel === 'high')
    throw appError('open_the_page')

  const { name, preview } = toPendingApproval(approval)
  const changed = body.decision === 'approve' ? readArguments(body.arguments) : null
  const tool = byApp
    ? await appCalls.toolOf(run, approval.idRef)
    : registry.snapshot(run.userId).get(name)
  if (byApp && tool === undefined && body.decision === 'approve') {
    await appCalls.withdraw(run, approval.idRef)
    throw appError('app_call_gone')
  }
  if (changed !== null && tool !== undefined) {
    const parsed = tool.parse(changed)
    if (!parsed.ok) throw appError('approved_arguments_invalid', { detail: parsed.error })
    // Only the person of the run changes arguments; they must not make a call of high risk out of another.
    if (await waitsForOthers(run, parsed.input, store)) throw appError('someone_else_must_decide')
  }
  const decision = {
    status: body.decision === 'approve' ? ('approved' as const) : ('rejected' as const),
    reason: body.reason ?? null,
    decidedArguments: changed,
    decidedAt: now(),
    decidedBy: actor.userId,
    decidedThrough: door,
  }
  const grant = await grantOf(run, body, approval, dependencies)
  let made: GrantRow | null = null
  await database.write(async (tx) => {
    // Check again under the lock: the run may have been stopped in the meantime. From here on, nothing can end it.
    const locked = byApp
      ? await store.appCalls.lockRun(tx, run.id)
      : await store.runs.lockActive(tx, run.id)
    if (locked === undefined) throw runEnded
    const decided = await store.runs.decide(tx, approval, decision)
    if (decided === undefined) throw alreadyDecided
    await noticeSettled(tx, run, [decided], dependencies)
    await store.audit.record(tx, actor, {
      action: 'approval_decided',
      at: decision.decidedAt,
      details: {
        ...auditedDecision(run, body, { ...approval, ...decision }),
        ...(actor.userId === null || actor.userId === run.userId ? {} : { run_of: run.userId }),
      },
    })
    if (grant !== null) await storeGrant(tx, grant, actor, dependencies)
    made = grant?.row ?? null
    if (body.decision !== 'approve' || tool === undefined) return
    if (body.remember !== 'run' && body.remember !== 'conversation') return
    const remembered = {
      run,
      isForRun: body.remember === 'run',
      // What the person saw. The tool may have changed since.
      key: typeof preview?.grant_key === 'string' ? preview.grant_key : tool.name,
      createdFrom: approval.id,
      at: decision.decidedAt,
    }
    made = await rememberTool(tx, remembered, actor, dependencies)
  })
  announceRequest(run, approval.id, 'updated', dependencies)
  if (made !== null) announceGrant(made, 'created', dependencies)
  return { decision: toDecision(decision), byApp }
}

/** The grant that a decision makes, checked; null if it makes none. @throws AppError what `prepareGrant` throws. */
async function grantOf(
  run: RunRow,
  { decision, remember, grant }: ApprovalDecisionBody,
  approval: ApprovalRow,
  dependencies: Parameters<typeof prepareGrant>[2],
): Promise<NewGrant | null> {
  if (remember !== 'grant' || grant === undefined || decision !== 'approve') return null
  const places = {
    conversation: run.conversationId,
    project: run.projectId,
    schedule: scheduleOf(originOfRun(run)),
  }
  const body = {
    ...grant,
    tool: grant.tool ?? approval.name,
    scope_id: grant.scope_id ?? places[grant.scope] ?? '',
    approval_id: approval.id,
  }
  return await prepareGrant(run.userId, body, dependencies)
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
