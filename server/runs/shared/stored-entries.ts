// Converts a stored run to log entries, in the form in which instances send them: with the id of every event.

import { type StepRow, toStep } from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { PendingInput } from '../../protocol/runs/input.ts'
import type { PendingApproval } from '../../protocol/runs/run-event.ts'
import { attemptOfEvent } from '../log/event-ids.ts'
import { endOf, readCuts } from '../log/history.ts'
import { readRunState } from '../state.ts'
import type { WireEntry } from './wire.ts'

/** What the store contains of a run at one moment. */
export interface StoredRun {
  run: RunRow
  rows: readonly StepRow[]
  /** Open requests to a person. */
  approvals: readonly PendingApproval[]
  inputs: readonly PendingInput[]
}

/** Every stored event in order; results that are not emitted yet have no id and are left out. */
export function storedEntries({ run, rows }: StoredRun): WireEntry[] {
  const entries: WireEntry[] = [
    {
      kind: 'event',
      id: 1,
      event: {
        event: 'run',
        run_id: run.id,
        user_message_id: run.userMessageId,
        message_id: run.messageId,
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
