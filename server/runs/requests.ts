// Requests to the person of a run, approvals and questions alike: who is told of them, and how they end.
import type { Writer } from '../db/database.ts'
import type { SettledRequest } from '../db/repositories/runs/approvals.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { passed } from '../lib/clocks.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { DecidedThrough } from '../protocol/runs/approval.ts'
import type { RiskLevel } from '../protocol/runs/run-event.ts'
import type { ChatDependencies } from './dependencies.ts'
import type { WriteGroup } from './group-commit.ts'

type RequestRun = Pick<RunRow, 'id' | 'userId' | 'conversationId' | 'messageId' | 'attempt'>

/** Whether only others than the person of the run may decide a call of this risk. Reads nothing unless it is high. */
export const waitsForOthers = async (
  { projectId }: Pick<RunRow, 'projectId'>,
  { riskLevel }: { riskLevel: RiskLevel },
  { projects }: Pick<Store, 'projects'>,
): Promise<boolean> =>
  riskLevel === 'high' && projectId !== null && (await projects.needsOthers(projectId))

/** Notifies the user's open pages. Call it after the commit. */
export const announceRequest = (
  { id: run_id, userId, conversationId }: Pick<RunRow, 'id' | 'userId' | 'conversationId'>,
  id: string,
  change: 'created' | 'updated',
  { announce }: Pick<ChatDependencies, 'announce'>,
): void =>
  announce(userId, { type: 'approval', id, change, run_id, conversation_id: conversationId })

/** Notifies webhooks, in the transaction that settles the requests. */
export async function noticeSettled(
  tx: Writer,
  run: RequestRun,
  requests: readonly SettledRequest[],
  { notices, now }: Pick<ChatDependencies, 'notices' | 'now'>,
): Promise<void> {
  for (const { id, status, decidedThrough } of requests)
    await notices?.approvalDecided(tx, run, {
      id,
      state: status,
      through: decidedThrough,
      decidedAt: now(),
    })
}

/**
 * Marks everything that the run still waits for as void, in the transaction that ends it. Returns what to announce after the
 * commit.
 */
export async function withdrawRequests(
  tx: Writer,
  run: RequestRun,
  dependencies: Pick<ChatDependencies, 'store' | 'notices' | 'now'>,
): Promise<SettledRequest[]> {
  const { store, now } = dependencies
  const at = now()
  const withdrawn = [
    ...(await store.runs.withdrawAllApprovals(tx, run.id, at)),
    ...(await store.runInputs.close(tx, { runId: run.id, at })),
  ]
  await noticeSettled(tx, run, withdrawn, dependencies)
  return withdrawn
}

/** Notifies the user's open pages of settled requests. Call it after the commit. */
export function announceSettled(
  run: Pick<RunRow, 'id' | 'userId' | 'conversationId'>,
  requests: readonly SettledRequest[],
  dependencies: Pick<ChatDependencies, 'announce'>,
): void {
  for (const { id } of requests) announceRequest(run, id, 'updated', dependencies)
}

/** How a decision reached the server. */
export const doorOf = ({ details }: Actor): DecidedThrough => {
  const { by } = details
  if (by === 'mcp' || by === 'link') return by
  if (typeof by === 'string' && isChannel(by)) return by
  return details.api_key === undefined ? 'page' : 'api'
}

/** Whether a decision came through a channel. */
export const isChannel = (door: string): door is `channel:${string}` => door.startsWith('channel:')

/** When a request expires that is made at `time`; `seconds` is undefined for one that does not. */
export const deadlineAfter = (time: Date, seconds: number | undefined): Date | null =>
  seconds === undefined ? null : new Date(time.getTime() + seconds * 1000)

/** A request whose deadline has passed. */
interface Expiry<Stored> {
  run: RequestRun
  /** Marks the request as expired; undefined if somebody has decided it. */
  mark(tx: Writer, at: Date): Promise<SettledRequest | undefined>
  /** Reads what is stored afterwards. */
  read(tx: Writer): Promise<Stored>
}

/**
 * Stores that nobody decided in time, unless somebody has. Returns what is stored afterwards: an earlier write may have been
 * committed although its confirmation was lost.
 */
export async function expireRequest<Stored>(
  { run, mark, read }: Expiry<Stored>,
  dependencies: Pick<ChatDependencies, 'notices' | 'now' | 'announce'> & {
    store: { runs: Pick<ChatDependencies['store']['runs'], 'lockAttempt'> }
    writes: Pick<WriteGroup, 'commit'>
  },
): Promise<Stored> {
  const { store, writes, now } = dependencies
  const expired: SettledRequest[] = []
  let stored: { value: Stored } | undefined
  await writes.commit(async (tx) => {
    expired.length = 0
    await store.runs.lockAttempt(tx, run)
    const settled = await mark(tx, now())
    if (settled !== undefined) expired.push(settled)
    await noticeSettled(tx, run, expired, dependencies)
    stored = { value: await read(tx) }
  })
  announceSettled(run, expired, dependencies)
  if (stored === undefined) throw new Error('The expiry was not stored.')
  return stored.value
}

/** What waits for a person. */
interface Awaited<Answer> {
  /** Settles with the answer, whoever gives it; also with the one that `expire` leads to. */
  answer: Promise<Answer>
  /** Null: no deadline. */
  deadline: Date | null
  now(): Date
  /** Aborts when the run ends, so that nothing expires any more. */
  signal: AbortSignal
  /** Stores that nobody decided, unless somebody just has. */
  expire(): Promise<void>
  /** Tells the person, until the signal aborts because the request is settled or the run ends. Never rejects. */
  tell(signal: AbortSignal): Promise<void>
}

/** The answer. Rejects when the expiry cannot be stored. */
export async function answerInTime<Answer>({
  answer,
  deadline,
  now,
  signal,
  expire,
  tell,
}: Awaited<Answer>): Promise<Answer> {
  const settled = new AbortController()
  const either = AbortSignal.any([signal, settled.signal])
  void tell(either)
  if (deadline === null) return await answer.finally(() => settled.abort())
  const expiry = passed(deadline, now, either).then(async (isPassed) => {
    if (isPassed) await expire()
    return await answer
  })
  try {
    return await Promise.race([answer, expiry])
  } finally {
    settled.abort()
  }
}
