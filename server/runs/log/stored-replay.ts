// Replays an ended run from the store, step by step and long texts in pieces, at the speed of the reader.

import {
  type StepRepository,
  type StreamedStep,
  toStep,
} from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { isLongText, type LongText } from '../../lib/json-pieces.ts'
import type { Plan } from '../../protocol/runs/plan.ts'
import { eventData } from '../../protocol/runs/run-event.ts'
import { stepId } from '../../protocol/runs/step.ts'
import { originOfRun, readRunState } from '../state.ts'
import { endOf, readCuts } from './history.ts'
import type { OutgoingEvent, StreamMode } from './view.ts'

/**
 * Yields every event after `afterId`, exactly as `createRunView` does for a run in memory. Without an id, or with an id
 * that the run does not have, yields each step once and complete. Keeps only what is being sent in memory.
 */
export async function* replayRun(
  run: RunRow,
  steps: StepRepository,
  {
    mode,
    afterId,
    plan = null,
  }: {
    mode: StreamMode
    afterId: number | null
    /** The plan of the answer, sent where the last one was made. */
    plan?: Plan | null
  },
): AsyncGenerator<OutgoingEvent> {
  const isKnown = afterId !== null && afterId <= run.lastEvent
  const after = isKnown ? afterId : 0
  if (after < 1) {
    const data = {
      run_id: run.id,
      user_message_id: run.userMessageId,
      message_id: run.messageId,
      origin: originOfRun(run),
    }
    yield { id: 1, event: 'run', data }
  }
  let lastId = 1
  /** The id of the event with the last plan. */
  let planAt = 0
  for await (const row of steps.stream(run.messageId)) {
    // Calls of apps are no events of the run.
    if (row.origin !== null) continue
    const first = row.firstEvent ?? lastId + 1
    if (row.type !== 'thinking' && row.type !== 'text') {
      if (plan !== null && row.type === 'tool_result' && row.name === 'plan') planAt = first - 1
      lastId = first
      if (first > after) yield { id: first, event: 'process_step', data: wholeStep(row) }
      continue
    }
    const content = row.long ?? row.content
    const lengthOf = row.long === null ? row.content.length : null
    const { cuts, replaces } = readCuts(row.cuts, lengthOf)
    const lastCut = first + cuts.length - 1
    lastId = row.closed ? lastCut + 1 : lastCut
    if (lastId <= after) continue
    const head = { id: stepId(row.position), index: row.position, type: row.type }
    const isDelta = mode === 'delta' && isKnown
    if (isDelta && lastCut > after) yield* deltasOf(row, { cuts, replaces, first, after, head })
    if (!isDelta || row.closed)
      yield {
        id: lastId,
        event: 'process_step',
        data:
          row.durationMs === null
            ? { ...head, content }
            : { ...head, content, duration_ms: row.durationMs },
      }
  }
  if (plan !== null && planAt > after)
    yield { id: lastId, event: 'plan', data: { run_id: run.id, ...plan } }
  const { title } = readRunState(run.state)
  if (title !== undefined) {
    lastId += 1
    if (lastId > after) yield { id: lastId, event: 'title', data: { title } }
  }
  const end = endOf(run)
  const endId = Math.max(lastId + 1, run.lastEvent)
  if (end !== null && endId > after) yield { id: endId, event: end.event, data: eventData(end) }
}

/**
 * The event with its long texts read, for readers that need them in one piece. Leaves out the artifact of a tool, which only
 * the page shows.
 */
export async function withWholeTexts({ id, event, data }: OutgoingEvent): Promise<OutgoingEvent> {
  if (event !== 'process_step') return { id, event, data }
  const step: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(Object(data)))
    if (name !== 'artifact') step[name] = isLongText(field) ? await wholeText(field) : field
  return { id, event, data: step }
}

async function wholeText(text: LongText): Promise<string> {
  let whole = ''
  for await (const piece of text.readPieces()) whole += piece
  return whole
}

/** A step of a tool, with what is long as readers. */
function wholeStep(row: StreamedStep): unknown {
  const { long, longArtifact } = row
  return {
    ...toStep(row),
    ...(long === null ? {} : { [row.type === 'tool_call' ? 'arguments' : 'content']: long }),
    ...(longArtifact === null ? {} : { artifact: longArtifact }),
  }
}

/** The deltas of a step with their original ids. If the step replaced another one, the first event is the whole step. */
async function* deltasOf(
  row: StreamedStep,
  step: {
    cuts: readonly number[]
    replaces: boolean
    first: number
    after: number
    head: object
  },
): AsyncGenerator<OutgoingEvent> {
  const { cuts, replaces, first, after, head } = step
  let text = ''
  let at = 0
  for await (const piece of row.long?.readPieces() ?? [row.content]) {
    text += piece
    for (let cut = cuts[at]; cut !== undefined && text.length >= cut; cut = cuts[at]) {
      const id = first + at
      const delta = text.slice(0, cut)
      text = text.slice(cut)
      at += 1
      if (id <= after) continue
      if (replaces && at === 1)
        yield { id, event: 'process_step', data: { ...head, content: delta } }
      else yield { id, event: 'step_delta', data: { ...head, delta } }
    }
  }
}
