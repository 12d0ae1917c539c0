// The log of a run that another instance performs. That instance sends the entries; the store fills any gap.

import { type StepRow, toStep } from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { RunId } from '../../protocol/ids.ts'
import type { PendingInput } from '../../protocol/runs/input.ts'
import type { PendingApproval } from '../../protocol/runs/run-event.ts'
import { endOf, readCuts } from '../log/history.ts'
import { attemptOfEvent, createRunLog, idsBefore, type RunLog } from '../log/log.ts'
import { originOfRun, readRunState } from '../state.ts'
import type { WireBatch, WireEntry } from './wire.ts'

/** The log of a run that another instance performs. */
export interface Mirror {
  readonly runLog: RunLog
  /** Applies what the performing instance sent. Returns false if something is missing in between: then call `catchUp`. */
  receive(batch: WireBatch): boolean
  /** Adds everything that the store has and this log does not. */
  catchUp(stored: StoredRun): void
}

/** Creates the log of a run that another instance performs. Feed it in order. */
export function createMirror(runId: RunId): Mirror {
  const runLog = createRunLog({ entries: [], steps: [], lastId: 0, isCopy: true })
  let attempt = 1

  /** @returns false if an entry before this one is missing. */
  function apply(entry: WireEntry, mayHaveGaps: boolean): boolean {
    const { id } = entry
    if (id <= runLog.lastId || runLog.terminal !== null) return true
    const entryAttempt = attemptOfEvent(id)
    if (entryAttempt > attempt) beginAttempt(entryAttempt)
    if (id > runLog.lastId + 1) {
      if (!mayHaveGaps) return false
      runLog.skipTo(id - 1)
    }
    switch (entry.kind) {
      case 'void':
        runLog.skipTo(id)
        return true
      case 'event':
        runLog.appendEvent(entry.event)
        return true
      case 'text':
        runLog.copyProse(entry.index, entry.type, entry.text)
        return true
      case 'whole':
        runLog.interruptProse(entry.index)
        runLog.copyProse(entry.index, entry.type, entry.text)
        return true
      case 'end':
        runLog.closeProse(entry.index)
        runLog.skipTo(id)
        return true
    }
  }

  /** From here on, new texts replace those of the previous attempt, and open requests to a person are repeated. */
  function beginAttempt(next: number): void {
    attempt = next
    for (let index = 0; index < runLog.stepCount; index += 1) runLog.interruptProse(index)
    for (const id of [...runLog.pendingApprovals.keys()]) runLog.settleApproval(id)
    for (const id of [...runLog.pendingInputs.keys()]) runLog.settleInput(id)
    runLog.skipTo(idsBefore(next))
  }

  return {
    runLog,
    receive({ attempt: sentBy, entries, notices }) {
      // Ignore what a frozen instance sends after its successor has begun.
      if (sentBy < attempt) return true
      for (const entry of entries) if (!apply(entry, false)) return false
      for (const notice of notices) {
        if (notice.event === 'settled') {
          runLog.settleApproval(notice.id_ref)
          runLog.settleInput(notice.id_ref)
        } else if (notice.event === 'retry') runLog.reportRetry(notice)
        else runLog.reportProgress(notice)
      }
      return true
    },
    catchUp(stored) {
      if (stored.run.attempt < attempt) return
      for (const entry of storedEntries(stored)) apply(entry, true)
      if (runLog.terminal !== null) return
      if (stored.run.attempt > attempt) beginAttempt(stored.run.attempt)
      const approvals = new Set(stored.approvals.map(({ id_ref }) => id_ref))
      for (const id of [...runLog.pendingApprovals.keys()])
        if (!stored.approvals.some(({ id_ref }) => id_ref === id)) runLog.settleApproval(id)
      for (const id of [...runLog.pendingInputs.keys()])
        if (!stored.inputs.some(({ id_ref }) => id_ref === id)) runLog.settleInput(id)
      // The ids of requests are not stored; the run's row has the id of the newest event.
      const isNew = [...approvals].some((id) => !runLog.pendingApprovals.has(id))
      if (isNew) runLog.skipTo(Math.max(runLog.lastId, stored.run.lastEvent - 1))
      for (const request of stored.approvals)
        if (!runLog.pendingApprovals.has(request.id_ref))
          runLog.appendEvent({ event: 'approval_required', run_id: runId, ...request })
      for (const question of stored.inputs)
        if (!runLog.pendingInputs.has(question.id_ref))
          runLog.appendEvent({ event: 'input_required', run_id: runId, ...question })
    },
  }
}

/** What the store contains of a run at one moment. */
interface StoredRun {
  run: RunRow
  rows: readonly StepRow[]
  /** Open requests to a person. */
  approvals: readonly PendingApproval[]
  inputs: readonly PendingInput[]
}

/** Every stored event in order; results that are not emitted yet have no id and are left out. */
function storedEntries({ run, rows }: StoredRun): WireEntry[] {
  const entries: WireEntry[] = [
    {
      kind: 'event',
      id: 1,
      event: {
        event: 'run',
        run_id: run.id,
        user_message_id: run.userMessageId,
        message_id: run.messageId,
        origin: originOfRun(run),
      },
    },
  ]
  for (const row of rows) {
    const id = row.firstEvent
    if (id === null) continue
    if (row.type !== 'thinking' && row.type !== 'text') {
      entries.push({ kind: 'event', id, event: { event: 'process_step', step: toStep(row) } })
      continue
    }
    const { cuts, replaces } = readCuts(row.cuts, row.content.length)
    const place = { index: row.position, type: row.type }
    let from = 0
    for (const [at, length] of cuts.entries()) {
      const text = row.content.slice(from, from + length)
      from += length
      const kind = replaces && at === 0 ? ('whole' as const) : ('text' as const)
      entries.push({ ...place, kind, id: id + at, text })
    }
    // A text that this attempt continues is stored as closed while it grows. If nothing follows it yet, it may still grow.
    const mayGrow =
      replaces &&
      run.endedAt === null &&
      attemptOfEvent(id) === run.attempt &&
      !rows.some(({ firstEvent }) => firstEvent !== null && firstEvent >= id + cuts.length)
    if (row.closed && !mayGrow)
      entries.push({ kind: 'end', id: id + cuts.length, index: row.position, length: from })
  }
  // A continued text has newer ids than the steps after it.
  entries.sort((one, other) => one.id - other.id)
  const last = entries.at(-1)?.id ?? 1
  const { title } = readRunState(run.state)
  const end = endOf(run)
  if (end === null) return entries
  if (title !== undefined)
    entries.push({ kind: 'event', id: last + 1, event: { event: 'title', title } })
  const endId = Math.max(last + (title === undefined ? 1 : 2), run.lastEvent)
  entries.push({ kind: 'event', id: endId, event: end })
  return entries
}
