// Claims a stored run that no process performs: starts its next attempt, or ends it.

import { iterationsOf } from '../../agent/history.ts'
import type { Writer } from '../../db/database.ts'
import { type StepRow, toStep } from '../../db/repositories/conversations/steps.ts'
import type { SettledRequest } from '../../db/repositories/runs/approvals.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import type { StopCause } from '../../db/tables/runs/runs.ts'
import type { AppError } from '../../errors.ts'
import { nestedPrefix } from '../../lib/nested-call-id.ts'
import type { RunId } from '../../protocol/ids.ts'
import { isWaitingStatus } from '../../protocol/runs/run.ts'
import { usageOfRun } from '../../protocol/runs/usage.ts'
import type { ChatDependencies } from '../dependencies.ts'
import { titleWithoutAnswer } from '../end/finish.ts'
import { failureOfStop, runFailure } from '../end/run-failure.ts'
import { announceRun, lostAttempt } from '../observation.ts'
import { announceSettled, noticeSettled, withdrawRequests } from '../requests.ts'

/** A run is not attempted again after it took the server down this many times in a row. */
const MAX_FAILED_ATTEMPTS = 8

type Dependencies = Pick<
  ChatDependencies,
  | 'store'
  | 'database'
  | 'settings'
  | 'instance'
  | 'now'
  | 'announce'
  | 'sharing'
  | 'notices'
  | 'observe'
  | 'redact'
>

/**
 * Starts the next attempt and returns the run with its steps; from then on, earlier attempts cannot write. Returns null
 * when the run has ended, or when another instance performs it. Ends the run instead if a stop was requested, its user lost
 * access to the server or to its project, or it failed too often.
 */
export async function claimRun(
  id: RunId,
  dependencies: Dependencies,
): Promise<{ run: RunRow; rows: StepRow[] } | null> {
  const { store, database } = dependencies
  const found = await store.runs.find(id)
  if (found === undefined || found.endedAt !== null) return null
  const rows = await store.steps.list(found.messageId)
  const [stale, title] = await Promise.all([
    staleApprovals(found, rows, store),
    titleWithoutAnswer(found, store, dependencies.settings.titles),
  ])
  let isEnded = false
  let withdrawn: SettledRequest[] = []
  const claimed = await database.write(async (tx) => {
    isEnded = false
    withdrawn = []
    const run = await store.runs.claim(
      tx,
      id,
      dependencies.instance,
      dependencies.sharing !== undefined,
    )
    if (run === undefined) return null
    // A run that only waited for a person cannot have caused the restarts.
    const failedTooOften = run.failedAttempts >= MAX_FAILED_ATTEMPTS && !isWaitingStatus(run.status)
    const isStopped =
      run.stopRequested ||
      !(await store.users.isActive(tx, run.userId)) ||
      (run.projectId !== null && (await store.projects.isClosedTo(run.userId, run.projectId, tx)))
    if (isStopped || failedTooOften) {
      const status = isStopped ? 'stopped' : 'interrupted'
      const error = failureOfStop(run.stopCause)
      const ended = await storeEnd(tx, run, { rows, status, title, error }, dependencies)
      isEnded = ended !== null
      withdrawn = ended ?? []
      return null
    }
    withdrawn = await store.runs.withdrawApprovals(tx, id, stale, dependencies.now())
    await noticeSettled(tx, run, withdrawn, dependencies)
    return { run, rows }
  })
  if (isEnded) announceRun(found, 'updated', dependencies.announce)
  announceSettled(found, withdrawn, dependencies)
  // Code that hands a run over or ends it clears the owner. If it is still set, the process died and could not report what
  // it did.
  if (found.owner !== null && (claimed !== null || isEnded))
    dependencies.observe?.(lostAttempt(found))
  return claimed
}

/** Ends a run that no process performs. Its stored steps stay. Does nothing if the run has ended. */
export async function endUnclaimed(
  id: RunId,
  cause: StopCause,
  dependencies: Dependencies,
): Promise<void> {
  const { store, database } = dependencies
  const found = await store.runs.find(id)
  if (found === undefined || found.endedAt !== null) return
  const rows = await store.steps.list(found.messageId)
  const title = await titleWithoutAnswer(found, store, dependencies.settings.titles)
  const error = failureOfStop(found.stopCause ?? cause)
  const end = { rows, status: 'stopped' as const, title, error }
  const withdrawn = await database.write((tx) => storeEnd(tx, found, end, dependencies))
  if (withdrawn === null) return
  announceRun(found, 'updated', dependencies.announce)
  announceSettled(found, withdrawn, dependencies)
}

/** Returns what the run no longer waits for; null if it has already ended. */
async function storeEnd(
  tx: Writer,
  { id, messageId, conversationId }: RunRow,
  {
    rows,
    status: plain,
    title,
    error,
  }: {
    rows: readonly StepRow[]
    status: 'stopped' | 'interrupted'
    title: string | null
    /** What the stop is for the person; null for one that is no failure. */
    error: AppError | null
  },
  dependencies: Dependencies,
): Promise<SettledRequest[] | null> {
  const { store, now, instance, sharing, notices, redact } = dependencies
  const failure = error === null ? null : runFailure(error, redact)
  const status = failure === null ? plain : ('failed' as const)
  const end = {
    status,
    finishReason: status === 'stopped' ? ('stopped' as const) : null,
    error: failure,
    endedAt: now(),
  }
  const run = await store.runs.end(tx, id, end, sharing === undefined ? undefined : instance)
  if (run === undefined) return null
  const withdrawn = await withdrawRequests(tx, run, dependencies)
  await store.appCalls.moveToSteps(tx, run)
  const text =
    iterationsOf(rows.map(toStep)).findLast((iteration) => iteration.text !== '')?.text ?? ''
  await store.messages.update(tx, messageId, { status, text, error: failure?.content ?? null })
  if (title !== null) await store.conversations.setGeneratedTitle(tx, conversationId, title)
  await notices?.runEnded(tx, run, {
    ...end,
    error: failure?.reason ?? null,
    usage: usageOfRun(run),
    receipt: null,
  })
  return withdrawn
}

/** Open approval requests for calls that already have a result, so that nothing waits for the decision. */
async function staleApprovals(
  run: RunRow,
  rows: readonly StepRow[],
  store: Store,
): Promise<string[]> {
  const answered = new Set(rows.flatMap((row) => (row.type === 'tool_result' ? row.idRef : [])))
  const open = rows.flatMap((row) =>
    row.type !== 'tool_call' || row.idRef === null || answered.has(row.idRef) ? [] : row.idRef,
  )
  // The approval ids of a sub-agent start with the id of the call that it works for.
  const mayWait = (id: string): boolean =>
    open.some((call) => id === call || id.startsWith(nestedPrefix(call)))
  const pending = (await store.runs.pendingApprovals([run.id])).get(run.id) ?? []
  return pending.map(({ id_ref }) => id_ref).filter((id) => !mayWait(id))
}
