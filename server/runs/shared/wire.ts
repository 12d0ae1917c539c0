// The messages that instances send each other about a run: log entries with their ids, and notices without one.
import { z } from 'zod'
import { PlanEvent } from '../../protocol/runs/plan.ts'
import {
  ApprovalRequiredEvent,
  DoneEvent,
  ErrorEvent,
  InputRequiredEvent,
  ProcessStepEvent,
  RetryEvent,
  RunStartedEvent,
  TitleEvent,
  ToolProgressEvent,
} from '../../protocol/runs/run-event.ts'
import type { LogEntry, RunLog } from '../log/log.ts'

const Prose = z.enum(['thinking', 'text'])
const id = z.int().min(1)

/** One entry of a run log. `text`: appended text; `whole`: a complete step of text, in place of an interrupted one. */
export const WireEntry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), id, index: z.int(), type: Prose, text: z.string() }),
  z.object({ kind: z.literal('whole'), id, index: z.int(), type: Prose, text: z.string() }),
  /** The step is complete and has this many characters. */
  z.object({ kind: z.literal('end'), id, index: z.int(), length: z.int() }),
  z.object({
    kind: z.literal('event'),
    id,
    event: z.discriminatedUnion('event', [
      RunStartedEvent,
      ProcessStepEvent,
      ApprovalRequiredEvent,
      InputRequiredEvent,
      PlanEvent,
      TitleEvent,
      DoneEvent,
      ErrorEvent,
    ]),
  }),
  z.object({ kind: z.literal('void'), id }),
])
/** One entry of a run log as instances send it. Texts are complete or appended; ids are those of the log. */
export type WireEntry = z.infer<typeof WireEntry>

/** Something that is shown live and is not part of the log. */
export const WireNotice = z.discriminatedUnion('event', [
  ToolProgressEvent,
  RetryEvent,
  z.object({ event: z.literal('settled'), id_ref: z.string() }),
])
/** A live notice of a run, such as tool progress. It has no id and may get lost. */
export type WireNotice = z.infer<typeof WireNotice>

/** The content of one message of a run's stream, in order. */
export const WireBatch = z.object({
  attempt: z.int().min(1),
  entries: z.array(WireEntry),
  notices: z.array(WireNotice).default([]),
})
/** One message between instances about one attempt of a run. */
export type WireBatch = z.infer<typeof WireBatch>

/** Converts a log entry to the form in which instances send it. */
export function toWire(entry: LogEntry, runLog: Pick<RunLog, 'prose'>): WireEntry {
  if (entry.kind === 'void') return entry
  if (entry.kind === 'event') {
    const { event } = entry
    // These events are never entries of a log.
    if (event.event === 'step_delta' || event.event === 'tool_progress' || event.event === 'retry')
      return { kind: 'void', id: entry.id }
    return { kind: 'event', id: entry.id, event }
  }
  const { id, index, to } = entry
  const prose = runLog.prose(index)
  if (prose === undefined) return { kind: 'void', id }
  if (entry.kind === 'delta')
    return { kind: 'text', id, index, type: prose.type, text: prose.content.slice(entry.from, to) }
  return prose.replaces && id === prose.firstEvent
    ? { kind: 'whole', id, index, type: prose.type, text: prose.content.slice(0, to) }
    : { kind: 'end', id, index, length: to }
}
