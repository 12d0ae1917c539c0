// Restores the log of a resumed run from its stored steps: every event with its original id.

import { type StepRow, toStep } from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { DoneEvent, ErrorEvent } from '../../protocol/runs/run-event.ts'
import { reasoningIn } from '../../protocol/runs/run-timeline.ts'
import { usageOfRun } from '../../protocol/runs/usage.ts'
import { originOfRun, readRunState } from '../state.ts'
import { idsBefore, type LogEntry, type ProseState, type RunLogHistory } from './log.ts'

/**
 * Returns a function that serializes the cuts of a step: comma-separated lengths, prefixed with `r` when the step replaced
 * another one. It remembers the text for the last step, so that storing a growing step again costs only its new cuts.
 */
export function createCutsWriter(): (step: Pick<ProseState, 'cuts' | 'replaces'>) => string {
  let last: Pick<ProseState, 'cuts'> | undefined
  let count = 0
  let text = ''
  return (step) => {
    if (step !== last) {
      last = step
      count = 0
      text = step.replaces ? 'r' : ''
    }
    for (; count < step.cuts.length; count += 1)
      text += count === 0 ? `${step.cuts[count]}` : `,${step.cuts[count]}`
    return text
  }
}

/**
 * Parses what `createCutsWriter` wrote.
 * @param length the length of the whole text in UTF-16 units; null when unknown.
 */
export function readCuts(
  text: string | null,
  length: number | null,
): { cuts: number[]; replaces: boolean } {
  const replaces = text?.startsWith('r') ?? false
  const cuts = (replaces ? text?.slice(1) : text)?.split(',').map(Number) ?? []
  const sum = cuts.reduce((total, length) => total + length, 0)
  // Cuts and text are written together. If they ever differ, a single cut is still correct.
  return length === null || sum === length ? { cuts, replaces } : { cuts: [length], replaces }
}

/**
 * The log of a run up to its new attempt. The terminal event of the previous attempt is omitted, and new ids start in the
 * range of the new attempt.
 */
export function runLogHistory(run: RunRow, rows: readonly StepRow[]): RunLogHistory {
  const entries: LogEntry[] = [
    {
      id: 1,
      kind: 'event',
      event: {
        event: 'run',
        run_id: run.id,
        user_message_id: run.userMessageId,
        message_id: run.messageId,
        origin: originOfRun(run),
      },
    },
  ]
  const steps: RunLogHistory['steps'] = []
  let lastId = 1
  const add = (entry: LogEntry): void => {
    entries.push(entry)
    lastId = entry.id
  }
  for (const row of rows) {
    const first = row.firstEvent ?? lastId + 1
    if (row.type !== 'thinking' && row.type !== 'text') {
      const step = toStep(row)
      steps[row.position] = step
      add({ id: first, kind: 'event', event: { event: 'process_step', step } })
      continue
    }
    const { cuts, replaces } = readCuts(row.cuts, row.content.length)
    steps[row.position] = {
      type: row.type,
      content: row.content,
      lastPiece: '',
      // Nothing is appended to an interrupted step: the new attempt replaces it.
      closed: true,
      firstEvent: first,
      cuts,
      replaces,
      durationMs: row.durationMs,
    }
    let from = 0
    for (const [at, length] of cuts.entries()) {
      const to = from + length
      const place = { id: first + at, index: row.position, to }
      add(replaces && at === 0 ? { ...place, kind: 'whole' } : { ...place, kind: 'delta', from })
      from = to
    }
    if (row.closed) add({ id: lastId + 1, kind: 'whole', index: row.position, to: from })
  }
  // A text that a later attempt continued has newer ids than the steps after it.
  entries.sort((one, other) => one.id - other.id)
  return { entries, steps, lastId: Math.max(entries.at(-1)?.id ?? 1, idsBefore(run.attempt)) }
}

/** The terminal event of a run; null when it has not ended. */
export function endOf(run: RunRow): DoneEvent | ErrorEvent | null {
  if (run.endedAt === null) return null
  if (run.error !== null) return { event: 'error', ...run.error }
  const { title, receipt } = readRunState(run.state)
  return {
    event: 'done',
    message_id: run.messageId,
    token_count: run.completionTokens,
    suggested_title: title ?? null,
    usage: usageOfRun(run),
    ...reasoningIn(run.timeline ?? []),
    finish_reason: run.finishReason ?? 'stop',
    ...(run.reachedLimit === null ? {} : { limit: run.reachedLimit }),
    ...(receipt === undefined ? {} : { receipt }),
  }
}
