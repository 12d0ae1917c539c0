// A stored run that nobody performs: begun again by a new attempt, or ended where it stands.

import { iterationsOf } from '../../agent/history.ts'
import { nestedPrefix } from '../../agent/nested-call-id.ts'
import type { Writer } from '../../db/database.ts'
import type { RunRow } from '../../db/repositories/runs.ts'
import { type StepRow, toStep } from '../../db/repositories/steps.ts'
import type { Store } from '../../db/store.ts'
import type { RunId } from '../../protocol/ids.ts'
import { announceRun } from '../announce.ts'
import type { ChatDependencies } from '../dependencies.ts'
import { titleWithoutAnswer } from '../end/finish.ts'

/** A run that took the server down this often in a row is not tried again. */
const MAX_FAILED_ATTEMPTS = 8

type Dependencies = Pick<
  ChatDependencies,
  'store' | 'database' | 'settings' | 'instance' | 'now' | 'announce'
>

/**
 * The run as its next attempt begins, with its steps: from now on no earlier attempt may write. Null when it has ended;
 * one that is to stop, whose user may not use the server any more, or that failed too often is ended instead.
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
    titleWithoutAnswer(found, dependencies),
  ])
  let isEnded = false
  const claimed = await database.write(async (tx) => {
    isEnded = false
    const run = await store.runs.claim(tx, id, dependencies.instance)
    if (run === undefined) return null
    // Waiting for a person it can have done no harm, however often the server came and went meanwhile.
    const isHarmful =
      run.failedAttempts >= MAX_FAILED_ATTEMPTS && run.status !== 'awaiting_approval'
    const isStopped = run.stopRequested || !(await store.users.isActive(tx, run.userId))
    if (isStopped || isHarmful) {
      const status = isStopped ? 'stopped' : 'interrupted'
      isEnded = await storeEnd(tx, run, { rows, status, title }, dependencies)
      return null
    }
    await store.runs.withdrawApprovals(tx, id, stale)
    return { run, rows }
  })
  if (isEnded) announceRun(found, 'updated', dependencies)
  return claimed
}

/** Ends a run as stopped; what is stored of it stays. Does nothing when it has ended. */
export async function endUnperformed(id: RunId, dependencies: Dependencies): Promise<void> {
  const { store, database } = dependencies
  const found = await store.runs.find(id)
  if (found === undefined || found.endedAt !== null) return
  const rows = await store.steps.list(found.messageId)
  const title = await titleWithoutAnswer(found, dependencies)
  const end = { rows, status: 'stopped' as const, title }
  if (await database.write((tx) => storeEnd(tx, found, end, dependencies)))
    announceRun(found, 'updated', dependencies)
}

async function storeEnd(
  tx: Writer,
  { id, messageId, conversationId }: RunRow,
  {
    rows,
    status,
    title,
  }: { rows: readonly StepRow[]; status: 'stopped' | 'interrupted'; title: string | null },
  { store, now }: Dependencies,
): Promise<boolean> {
  const run = await store.runs.end(tx, id, {
    status,
    finishReason: status === 'stopped' ? 'stopped' : null,
    endedAt: now(),
  })
  if (run === undefined) return false
  const text =
    iterationsOf(rows.map(toStep)).findLast((iteration) => iteration.text !== '')?.text ?? ''
  await store.messages.update(tx, messageId, { status, text })
  if (title !== null) await store.conversations.setMadeTitle(tx, conversationId, title)
  return true
}

/** Open approval requests of calls that have their result already: nothing waits for a decision on them any more. */
async function staleApprovals(
  run: RunRow,
  rows: readonly StepRow[],
  store: Store,
): Promise<string[]> {
  const answered = new Set(rows.flatMap((row) => (row.type === 'tool_result' ? row.idRef : [])))
  const open = rows.flatMap((row) =>
    row.type !== 'tool_call' || row.idRef === null || answered.has(row.idRef) ? [] : row.idRef,
  )
  // Sub-agents request approval under ids of their own, which begin with that of the call they work for.
  const mayWait = (id: string): boolean =>
    open.some((call) => id === call || id.startsWith(nestedPrefix(call)))
  const pending = (await store.runs.pendingApprovals([run.id])).get(run.id) ?? []
  return pending.map(({ id_ref }) => id_ref).filter((id) => !mayWait(id))
}
