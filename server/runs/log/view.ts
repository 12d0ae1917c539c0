// One listener's view of a run log: delta events as they are, or cumulative steps.
import { eventData, type RunEvent } from '../../protocol/runs/run-event.ts'
import { stepId } from '../../protocol/runs/step.ts'
import { type LogEntry, type ProseState, type RunLog, stepIndexOf } from './log.ts'

/** One event for the wire. */
export interface OutgoingEvent {
  id: number
  event: string
  data: unknown
}

/** `delta`: each event as it came; `cumulative`: each step with its whole text so far. */
export type StreamMode = 'cumulative' | 'delta'

/** Cumulative mode repeats at most this many characters per second and stream. */
const CUMULATIVE_CHARACTERS_PER_SECOND = 100_000
const CUMULATIVE_INTERVAL_MS = 50
/** One `take` returns about this much text, so that the buffer of a slow reader stays small. */
const MAX_TAKE_CHARACTERS = 256_000
/** Maximum size of deltas that are joined for a listener that fell behind. */
const MAX_JOINED_CHARACTERS = 64_000

/** Created for one connection; it remembers what that connection has received. */
export interface RunView {
  /**
   * The events since the last call, up to a bounded amount; empty when nothing is due.
   * @param now milliseconds, as of `performance.now()`.
   * @param behind the listener fell behind, so adjacent deltas are joined.
   */
  take(now: number, behind: boolean): OutgoingEvent[]
  /** Milliseconds until something held back is due; null when nothing is held back. */
  dueIn(now: number): number | null
}

/** What a listener has received. */
interface LogView {
  readonly runLog: RunLog
  /** The first entry that was not read. */
  position: number
  /** Cumulative mode: an open step with unsent text, and the id of its next event. */
  held: { index: number; id: number } | null
  lastSentAt: number
}

/**
 * Starts after the event `afterId`. If `afterId` is null or not an id of this run, starts with a snapshot: the events of the
 * log, with each step once and complete.
 */
export function createRunView(runLog: RunLog, mode: StreamMode, afterId: number | null): RunView {
  const start = afterId === null ? null : runLog.positionAfter(afterId)
  let isSnapshotDue = start === null
  const view: LogView = {
    runLog,
    position: start ?? 0,
    held: null,
    lastSentAt: Number.NEGATIVE_INFINITY,
  }

  return {
    take(now, behind) {
      if (isSnapshotDue) {
        isSnapshotDue = false
        view.lastSentAt = now
        return readSnapshot(view)
      }
      // Skip what the listener already has: a copy of the log receives it late.
      while (
        afterId !== null &&
        start !== null &&
        (runLog.entries.at(view.position)?.id ?? Infinity) <= afterId
      )
        view.position += 1
      return mode === 'delta' ? readDelta(view, behind) : readCumulative(view, now)
    },
    dueIn(now) {
      return view.held === null ? null : Math.max(0, dueAt(view, view.held.index) - now)
    },
  }
}

/** The id of the event that ends a prose step. */
const endOfProse = ({ runLog }: LogView, index: number): number => {
  const prose = runLog.prose(index)
  return prose === undefined ? 0 : prose.firstEvent + prose.cuts.length
}

const whole = (view: LogView, index: number, id: number, to?: number): OutgoingEvent[] => {
  const { runLog } = view
  const step = runLog.step(index)
  if (step === undefined) return []
  const isCut = to !== undefined && 'content' in step && to < step.content.length
  const data = isCut ? { ...step, content: step.content.slice(0, to) } : step
  // Only the event that ends the thinking says how long it took, whenever it is read.
  if ('duration_ms' in data && id < endOfProse(view, index)) {
    const { duration_ms: _later, ...earlier } = data
    return [{ id, event: 'process_step', data: earlier }]
  }
  return [{ id, event: 'process_step', data }]
}

const readSnapshot = (view: LogView): OutgoingEvent[] => {
  const { runLog } = view
  const out: OutgoingEvent[] = []
  const lastOf = new Map<number, number>()
  for (const entry of runLog.entries) {
    const index = stepIndexOf(entry)
    if (index !== null) lastOf.set(index, entry.id)
  }
  for (const entry of runLog.entries) {
    const index = stepIndexOf(entry)
    if (index !== null) {
      if (lastOf.get(index) === entry.id) out.push(...whole(view, index, entry.id))
    } else if (entry.kind === 'event' && !isDecided(runLog, entry)) out.push(toOutgoing(entry))
  }
  view.position = runLog.entries.length
  return out
}

const readDelta = (view: LogView, behind: boolean): OutgoingEvent[] => {
  const { runLog } = view
  const out: OutgoingEvent[] = []
  const { entries } = runLog
  let taken = 0
  while (view.position < entries.length && taken < MAX_TAKE_CHARACTERS) {
    const entry = entries.at(view.position)
    view.position += 1
    if (entry === undefined || entry.kind === 'void') continue
    if (entry.kind === 'event') out.push(toOutgoing(entry))
    else if (entry.kind === 'whole') {
      out.push(...whole(view, entry.index, entry.id, entry.to))
      taken += entry.to
    } else {
      const end = behind ? joinDeltas(view, entry) : entry
      const prose = runLog.prose(entry.index)
      if (prose === undefined) continue
      const delta = textOf(prose, entry.from, end.to)
      taken += delta.length
      const data = { id: stepId(entry.index), index: entry.index, type: prose.type, delta }
      out.push({ id: end.id, event: 'step_delta', data })
    }
  }
  return out
}

/** Moves `position` over the deltas that follow `first` in the same step; returns the last of them. */
const joinDeltas = (
  view: LogView,
  first: LogEntry & { kind: 'delta' },
): LogEntry & { kind: 'delta' } => {
  const { runLog } = view
  let end = first
  for (;;) {
    const next = runLog.entries.at(view.position)
    if (next?.kind !== 'delta' || next.index !== first.index) return end
    if (next.to - first.from > MAX_JOINED_CHARACTERS) return end
    end = next
    view.position += 1
  }
}

const dueAt = (view: LogView, index: number): number =>
  view.lastSentAt +
  Math.max(
    CUMULATIVE_INTERVAL_MS,
    ((view.runLog.prose(index)?.content.length ?? 0) / CUMULATIVE_CHARACTERS_PER_SECOND) * 1000,
  )

const readCumulative = (view: LogView, now: number): OutgoingEvent[] => {
  const { runLog } = view
  const out: OutgoingEvent[] = []
  const { entries } = runLog
  for (; view.position < entries.length; view.position += 1) {
    const entry = entries.at(view.position)
    if (entry === undefined || entry.kind === 'void') continue
    if (entry.kind === 'delta') {
      view.held = { index: entry.index, id: entry.id }
      continue
    }
    if (entry.kind === 'whole') {
      view.held = null
      out.push(...whole(view, entry.index, entry.id, entry.to))
      view.lastSentAt = Number.NEGATIVE_INFINITY
      continue
    }
    if (view.held !== null) out.push(...whole(view, view.held.index, view.held.id))
    view.held = null
    out.push(toOutgoing(entry))
  }
  if (view.held !== null && dueAt(view, view.held.index) <= now) {
    out.push(...whole(view, view.held.index, view.held.id))
    view.held = null
    view.lastSentAt = now
  }
  return out
}

const toOutgoing = (entry: LogEntry & { kind: 'event' }): OutgoingEvent => ({
  id: entry.id,
  event: entry.event.event,
  data: eventData(entry.event),
})

/** V8 keeps a growing text in pieces, and copies all of it to slice one out of it. */
const textOf = ({ content, lastPiece }: ProseState, from: number, to: number): string =>
  to === content.length && to - from === lastPiece.length ? lastPiece : content.slice(from, to)

const isPlan = ({ event }: RunEvent): boolean => event === 'plan'

/** A new listener does not need earlier plans, nor requests that a person has already decided or answered. */
const isDecided = (runLog: RunLog, entry: LogEntry & { kind: 'event' }): boolean => {
  const { event } = entry
  return (
    (event.event === 'approval_required' && !runLog.pendingApprovals.has(event.id_ref)) ||
    (event.event === 'input_required' && !runLog.pendingInputs.has(event.id_ref)) ||
    (event.event === 'plan' && runLog.entries.findLastEvent(isPlan) !== entry)
  )
}
