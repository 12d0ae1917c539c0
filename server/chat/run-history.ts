// A stored run as a channel: every event it had, with the id it had, read back from its steps.
import type { RunRow } from '../db/repositories/runs.ts'
import { type StepRow, toStep } from '../db/repositories/steps.ts'
import type { DoneEvent, ErrorEvent } from '../protocol/run-event.ts'
import {
  type ChannelHistory,
  idsBefore,
  type LogEntry,
  type ProseState,
} from '../runs/run-channel.ts'
import { readRunState } from './run-state.ts'

/** The text form of a step's cuts: lengths parted by commas, an `r` in front when the step replaced another. */
export const writeCuts = ({ cuts, replaces }: Pick<ProseState, 'cuts' | 'replaces'>): string =>
  `${replaces ? 'r' : ''}${cuts.join(',')}`

function readCuts(text: string | null, content: string): { cuts: number[]; replaces: boolean } {
  const replaces = text?.startsWith('r') ?? false
  const cuts = (replaces ? text?.slice(1) : text)?.split(',').map(Number) ?? []
  const sum = cuts.reduce((total, length) => total + length, 0)
  // Cuts and text are written together; should they ever differ, one piece is right in any case.
  return sum === content.length ? { cuts, replaces } : { cuts: [content.length], replaces }
}

/**
 * The channel's past from the store. `continues`: a new attempt follows, so the end of the earlier one is left out and
 * new ids begin in the attempt's own range.
 */
export function channelHistory(
  run: RunRow,
  rows: readonly StepRow[],
  { continues }: { continues: boolean },
): ChannelHistory {
  const entries: LogEntry[] = [
    {
      id: 1,
      kind: 'event',
      event: {
        event: 'run',
        run_id: run.id,
        user_message_id: run.userMessageId,
        message_id: run.messageId,
      },
    },
  ]
  const steps: ChannelHistory['steps'] = []
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
    const { cuts, replaces } = readCuts(row.cuts, row.content)
    steps[row.position] = {
      type: row.type,
      content: row.content,
      // What was broken off is not added to: a new attempt replaces it.
      closed: row.closed || continues,
      firstEvent: first,
      cuts,
      replaces,
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
  if (continues) return { entries, steps, lastId: Math.max(lastId, idsBefore(run.attempt)) }

  const { title } = readRunState(run.state)
  if (title !== undefined) add({ id: lastId + 1, kind: 'event', event: { event: 'title', title } })
  const end = endOf(run)
  if (end !== null) add({ id: Math.max(lastId + 1, run.lastEvent), kind: 'event', event: end })
  return { entries, steps, lastId }
}

/** The terminal event of a run that has ended. */
function endOf(run: RunRow): DoneEvent | ErrorEvent | null {
  if (run.endedAt === null) return null
  if (run.error !== null) return { event: 'error', ...run.error }
  return {
    event: 'done',
    message_id: run.messageId,
    token_count: run.completionTokens,
    suggested_title: readRunState(run.state).title ?? null,
    usage: {
      prompt_tokens: run.promptTokens,
      completion_tokens: run.completionTokens,
      total_tokens: run.promptTokens + run.completionTokens,
    },
    finish_reason: run.finishReason ?? 'stop',
  }
}
