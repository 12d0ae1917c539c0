// The approval requests of a run: stored before they are emitted, so that they survive a restart.

import { type ApprovalRow, toPendingApproval } from '../../db/repositories/runs/approvals.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { newId } from '../../lib/ids.ts'
import type { ApprovalRequest, Approvals, Decision } from '../../tools/approval.ts'
import type { ActiveRun } from '../active-run.ts'
import type { ChatDependencies, RunNotices } from '../dependencies.ts'
import type { WriteGroup } from '../group-commit.ts'
import { announceRequest, answerInTime, deadlineAfter, expireRequest } from '../requests.ts'
import type { RunOptions } from '../state.ts'
import type { TellRequest } from '../telling.ts'
import type { Waiting } from '../waiting.ts'
import { createGates } from './gates.ts'

type GateDependencies = Parameters<typeof createGates>[0]

interface Dependencies extends GateDependencies {
  active: Pick<ActiveRun, 'runLog' | 'waitForDecision' | 'decide' | 'signal'>
  run: Pick<RunRow, 'id' | 'userId' | 'conversationId' | 'projectId' | 'messageId' | 'attempt'>
  notices?: RunNotices
  /** Seconds after which a request expires; undefined: none does. */
  deadline: RunOptions['approvalDeadline']
  announce: ChatDependencies['announce']
  /** Tells the person of the request while it waits. */
  tell: TellRequest
  /** Nobody can decide, so calls that need approval fail. */
  isRefused?: boolean
  store: Pick<Store, 'runs' | 'projects'>
  writes: WriteGroup
  waiting: Waiting
  now(): Date
}

/** What the model reads instead of a decision. */
const NOBODY_TO_ASK =
  'This call needs the approval of a person, and the program that sent this request does not wait for one. Do without it, or say what you would have done and that it needs approval.'

/** Decides which calls of a run need approval, requests it, and waits for the decision. */
export function createApprovals(dependencies: Dependencies): Approvals {
  return {
    ...(dependencies.isRefused === true ? { refusal: NOBODY_TO_ASK } : {}),

    ...createGates(dependencies),

    request: (call) => request(dependencies, call),
  }
}

function waitFor(
  dependencies: Dependencies,
  decided: Promise<Decision>,
  request: ApprovalRow,
): Promise<Decision> {
  const shown = toPendingApproval(request)
  return dependencies.waiting.until({
    answer: answerInTime({
      answer: decided,
      deadline: request.deadline,
      now: dependencies.now,
      signal: dependencies.active.signal,
      expire: () => expire(dependencies, request),
      tell: (signal) =>
        dependencies.tell(
          { type: 'approval', ...request },
          { run: dependencies.run, runLog: dependencies.active.runLog, signal },
        ),
    }),
    ask: () =>
      dependencies.active.runLog.appendEvent({
        event: 'approval_required',
        run_id: dependencies.run.id,
        ...shown,
      }),
    settle({ decision }) {
      dependencies.active.runLog.settleApproval(shown.id_ref)
      // The result may take a while, so tell every page that shows the request that it is decided.
      dependencies.active.runLog.reportProgress({
        id_ref: shown.id_ref,
        progress: { kind: 'decided', decision },
      })
    },
  })
}

async function expire(dependencies: Dependencies, request: ApprovalRow): Promise<void> {
  const stored = await expireRequest(
    {
      run: dependencies.run,
      mark: (tx, decidedAt) =>
        dependencies.store.runs.decide(tx, request, {
          status: 'expired',
          decidedAt,
          decidedThrough: 'deadline',
        }),
      read: (tx) => dependencies.store.runs.storedApproval(tx, request),
    },
    dependencies,
  )
  if (stored !== undefined && stored.status !== 'pending' && stored.status !== 'void')
    dependencies.active.decide(request.idRef, toDecision(stored))
}

async function request(
  dependencies: Dependencies,
  { call, hash, riskLevel, preview, position }: ApprovalRequest,
): Promise<Decision> {
  // Subscribe first, so that no decision is missed: it either arrives here or is found by the transaction below.
  const decided = dependencies.active.waitForDecision(call.id)
  const createdAt = dependencies.now()
  let request: ApprovalRow | undefined
  let isNew = false
  await dependencies.writes.commit(async (tx) => {
    // Lock the run before its approval, in the order that a decision uses; the reverse order could deadlock.
    await dependencies.store.runs.lockAttempt(tx, dependencies.run)
    const { stored, isNew: isFirst } = await dependencies.store.runs.insertApproval(tx, {
      runId: dependencies.run.id,
      idRef: call.id,
      id: newId<string>(),
      userId: dependencies.run.userId,
      position,
      name: call.name,
      arguments: call.arguments,
      riskLevel,
      preview: preview ?? null,
      tainted: dependencies.taint.isTainted(),
      byApp: false,
      callHash: hash,
      status: 'pending',
      reason: null,
      decidedArguments: null,
      createdAt,
      deadline: deadlineAfter(createdAt, dependencies.deadline),
      decidedAt: null,
      decidedBy: null,
      decidedThrough: null,
    })
    request = stored
    isNew = isFirst
    if (stored.status !== 'pending') return
    await dependencies.waiting.begin(tx, 'awaiting_approval')
    await dependencies.notices?.approvalRequired(tx, dependencies.run, {
      id: call.id,
      name: call.name,
      riskLevel,
      createdAt,
    })
  })
  if (request === undefined) throw new Error('The request was not stored.')
  if (isNew) announceRequest(dependencies.run, request.id, 'created', dependencies)
  return request.status === 'pending'
    ? await waitFor(dependencies, decided, request)
    : toDecision(request)
}

/** Converts a stored decision to the executor's format. */
export function toDecision(
  stored: Pick<ApprovalRow, 'status' | 'reason' | 'decidedArguments'> &
    Partial<Pick<ApprovalRow, 'deadline' | 'decidedAt'>>,
): Decision {
  if (stored.status === 'expired')
    return {
      decision: 'expire',
      deadline: stored.deadline ?? stored.decidedAt ?? new Date(),
    }
  if (stored.status === 'approved')
    return stored.decidedArguments === null
      ? { decision: 'approve' }
      : { decision: 'approve', arguments: stored.decidedArguments }
  return stored.reason === null
    ? { decision: 'reject' }
    : { decision: 'reject', reason: stored.reason }
}
