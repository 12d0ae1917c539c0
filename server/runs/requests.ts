// Requests to people, approvals and questions alike: how a run waits for them, who is told of them, and how they end.
import type { Writer } from '../db/database.ts'
import type { SettledRequest } from '../db/repositories/runs/approvals.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { passed, type WorkClock } from '../lib/clocks.ts'
import type { AskEntry } from '../protocol/accounts/preferences.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { UserId } from '../protocol/ids.ts'
import type { DecidedThrough } from '../protocol/runs/approval.ts'
import { isUnattended, PAGE_ORIGIN, type RunOrigin } from '../protocol/runs/origin.ts'
import type { RiskLevel } from '../protocol/runs/run-event.ts'
import type { ActiveRun } from './active-run.ts'
import type { ChatDependencies } from './dependencies.ts'
import type { WriteGroup } from './group-commit.ts'
import type { RunLog } from './log/log.ts'
import { announceRun } from './observation.ts'
import type { RunFrame } from './performed-run.ts'
import type { TellWaiting, ToldRequest, WaitingRun } from './told-request.ts'

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

// A run that waits for a person: its status, its clock, and the notice to the user's pages.

/** One run. Approval requests and questions of MCP servers wait in the same way. */
interface WaitingDependencies {
  active: Pick<ActiveRun, 'runLog'>
  run: Pick<RunRow, 'id' | 'messageId' | 'userId' | 'conversationId' | 'attempt'>
  store: Pick<Store, 'runs' | 'messages'>
  writes: WriteGroup
  /** Paused while the run waits for a person. */
  clock: Pick<WorkClock, 'pause' | 'resume'>
  announce: ChatDependencies['announce']
}

/** How a run waits for a person. Its time limit does not count the wait. */
export interface Waiting {
  /** Sets the status, in the transaction that stores what the person is asked. */
  begin(tx: Writer, status: 'awaiting_approval' | 'awaiting_input'): Promise<void>
  /**
   * Announces the wait, emits the request with `ask`, and pauses the clock until `answer` settles. `settle` removes the
   * request from the run log; afterwards, the status says what the run still waits for.
   */
  until<Answer>(request: {
    answer: Promise<Answer>
    ask(): void
    settle(answer: Answer): void
  }): Promise<Answer>
}

type Status = 'running' | 'awaiting_approval' | 'awaiting_input'

const statusOf = ({ pendingApprovals, pendingInputs }: RunLog): Status => {
  if (pendingApprovals.size > 0) return 'awaiting_approval'
  return pendingInputs.size > 0 ? 'awaiting_input' : 'running'
}

/** Create one per attempt. */
export function createWaiting(dependencies: WaitingDependencies): Waiting {
  const { active, run, store, writes, clock } = dependencies
  const { runLog } = active

  let current: Status = 'running'

  async function storeStatus(tx: Writer, status: Status): Promise<void> {
    // A waiting run cannot crash the server, so this attempt no longer counts as failed.
    const change = status === 'running' ? { status } : { status, failedAttempts: 0 }
    await store.runs.write(tx, run, change)
    await store.messages.update(tx, run.messageId, {
      status: status === 'running' ? 'streaming' : status,
    })
  }

  return {
    async begin(tx, status) {
      current = status
      await storeStatus(tx, status)
    },
    async until({ answer, ask, settle }) {
      announceRun(run, 'updated', dependencies.announce)
      ask()
      clock.pause()
      try {
        const given = await answer
        settle(given)
        const next = statusOf(runLog)
        if (next !== current) {
          current = next
          await writes.commit((tx) => storeStatus(tx, next))
          announceRun(run, 'updated', dependencies.announce)
        }
        return given
      } finally {
        clock.resume()
      }
    },
  }
}

// Tells people of a request that nobody has decided: through what each chose, when they chose, each once.

/** A page that is loaded again, or connects again after a restart of the server, is away for a moment. */
const AWAY_MS = 1_000

/** Where the request waits. */
interface Site {
  run: WaitingRun
  runLog: Pick<RunLog, 'pageCount' | 'onListenersChange'>
  /** Undefined for runs from before it was stored. */
  origin: RunOrigin | undefined
  /** Aborts when the request no longer waits. */
  signal: AbortSignal
}

/** `retry`: a request waits much longer than the store is unavailable. */
type TellingDependencies = Pick<ChatDependencies, 'now' | 'log' | 'tell'> &
  Pick<RunFrame, 'retry'> & {
    store: {
      settings: { preferences(userId: UserId): Promise<{ ask: AskEntry[] }> }
      requestNotices: Pick<Store['requestNotices'], 'claim'>
      approvers: Pick<Store['approvers'], 'people'>
    }
  }

/** `tellInTurn` of a run whose origin and dependencies are known. */
export type TellRequest = (request: ToldRequest, site: Omit<Site, 'origin'>) => Promise<void>

/**
 * Uses each entry of the user's list `ask` when the request has waited that long. While a page of the user follows an attended
 * run, the entries wait until the last one has left. A call is also told to the approvers of the project, by their own lists.
 * Resolves when all are used or the signal aborts; never rejects.
 */
export async function tellInTurn(
  request: ToldRequest,
  site: Site,
  dependencies: TellingDependencies,
): Promise<void> {
  const { tell, store, log, retry } = dependencies
  if (tell === undefined) return
  const { run } = site
  const tellReader = async (reader: UserId): Promise<void> => {
    try {
      const { ask } = await retry(() => store.settings.preferences(reader))
      await Promise.all(
        ask.map((entry) =>
          useEntry(entry, request, { ...site, reader }, { ...dependencies, tell }),
        ),
      )
    } catch (error) {
      log.warn({ err: error, run_id: run.id }, 'a person could not be told of a request')
    }
  }
  const tellApprovers = async (): Promise<void> => {
    const { projectId } = run
    if (request.type !== 'approval' || projectId === null) return
    try {
      const people = await retry(() => store.approvers.people(projectId))
      await Promise.all(people.filter((id) => id !== run.userId).map(tellReader))
    } catch (error) {
      log.warn({ err: error, run_id: run.id }, 'the approvers could not be told of a request')
    }
  }
  await Promise.all([tellReader(run.userId), tellApprovers()])
}

async function useEntry(
  entry: AskEntry,
  request: ToldRequest,
  { run, runLog, origin = PAGE_ORIGIN, signal, reader }: Site & { reader: UserId },
  { store, now, tell, retry }: TellingDependencies & { tell: TellWaiting },
): Promise<void> {
  const due = new Date(request.createdAt.getTime() + entry.after * 1_000)
  if (!(await passed(due, now, signal))) return
  const { projectId } = run
  const isOwn = reader === run.userId
  // Who stopped being an approver meanwhile learns nothing.
  if (!isOwn && projectId !== null) {
    const people = await retry(() => store.approvers.people(projectId))
    if (!people.includes(reader)) return
  }
  // Approvers cannot follow the run.
  if (isOwn && !isUnattended(origin) && !(await leftAlone(runLog, now, signal))) return
  const key = `${isOwn ? '' : `${reader} `}${entry.through} ${entry.after}`
  const claimed = { ...request, runId: run.id }
  const isFirst = await retry(() => store.requestNotices.claim(claimed, key, now()))
  if (isFirst && !signal.aborted) await tell(entry, request, { run, reader }, signal)
}

/** True once no page has followed the run for a moment; false if the signal aborts first. */
async function leftAlone(
  runLog: Site['runLog'],
  now: () => Date,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    await noPage(runLog, signal)
    if (!(await passed(new Date(now().getTime() + AWAY_MS), now, signal))) return false
    if (runLog.pageCount === 0) return true
  }
}

/** Resolves when no page follows the run, or when the signal aborts. */
const noPage = (runLog: Site['runLog'], signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (runLog.pageCount > 0 && !signal.aborted) return
      endWatch()
      signal.removeEventListener('abort', look)
      resolve()
    }
    const endWatch = runLog.onListenersChange(look)
    signal.addEventListener('abort', look)
    look()
  })
