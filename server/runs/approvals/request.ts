// Which calls of a run need a person, and their approval requests: stored before they are emitted, so that they survive a restart.
import { type ApprovalRow, toPendingApproval } from '../../db/repositories/runs/approvals.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import type { RunGrants } from '../../grants/covering.ts'
import { newId } from '../../lib/ids.ts'
import type { ApprovalRequest, Approvals, Decision } from '../../tools/approval.ts'
import { needsApproval } from '../../tools/risk.ts'
import type { ActiveRun } from '../active-run.ts'
import type { ChatDependencies, RunNotices } from '../dependencies.ts'
import type { WriteGroup } from '../group-commit.ts'
import {
  announceRequest,
  answerInTime,
  deadlineAfter,
  expireRequest,
  type TellRequest,
  type Waiting,
  waitsForOthers,
} from '../requests.ts'
import type { RunOptions } from '../state.ts'
import type { Taint } from './taint.ts'

/** What the rules of a run depend on. */
interface GateDependencies {
  run: Pick<RunRow, 'projectId'>
  mode: RunOptions['approval']
  taint: Pick<Taint, 'isTainted'> & {
    readonly addresses: Pick<Taint['addresses'], 'unknown' | 'hasHost'>
  }
  grants: Pick<RunGrants, 'covering'>
  store: Pick<Store, 'projects'>
  /** Repeats a read while the store is unavailable. */
  retry<T>(read: () => Promise<T>): Promise<T>
}

/** The rules of one run: which calls need a person, and which of them a grant lets through. For calls of models and of apps alike. */
export function createGates({
  run,
  mode,
  taint,
  grants,
  store,
  retry,
}: GateDependencies): Pick<Approvals, 'permissionFor' | 'newAddresses' | 'allowsRedirect'> {
  return {
    async permissionFor({ asksAlways, ...call }) {
      const { tool, riskLevel } = call
      if (asksAlways === true && mode !== 'auto') return { kind: 'ask' }
      const isForOthers = await retry(() => waitsForOthers(run, call, store))
      const { name, category } = tool
      const tainted = taint.isTainted()
      if (!isForOthers && !needsApproval({ name, category, riskLevel, mode, tainted }))
        return { kind: 'free' }
      // What always asks is covered by no grant. Grants are of the person of the run, who may not decide what waits for others.
      if (asksAlways === true || isForOthers) return { kind: 'ask' }
      // What a conversation with text from outside puts on the calendar is asked for, whatever was granted.
      if (category === 'schedule' && tainted) return { kind: 'ask' }
      const grantId = await grants.covering({ ...call, tainted })
      return grantId === null ? { kind: 'ask' } : { kind: 'granted', grantId }
    },

    newAddresses: async (addresses) =>
      mode !== 'auto' && taint.isTainted() ? await taint.addresses.unknown(addresses) : [],

    allowsRedirect: async ({ hostname }) =>
      mode === 'auto' || !taint.isTainted() || (await taint.addresses.hasHost(hostname)),
  }
}

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
