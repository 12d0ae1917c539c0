// The event log of one run in memory: every event with its id, and the listeners.
import type { PendingInput } from '../../protocol/runs/input.ts'
import {
  type DoneEvent,
  type ErrorEvent,
  isTerminal,
  type PendingApproval,
  type RetryNotice,
  type RunEvent,
  type ToolProgressNotice,
} from '../../protocol/runs/run-event.ts'
import { type Step, stepId } from '../../protocol/runs/step.ts'

/** The thinking or text step at one index of the log. */
export interface ProseState {
  type: 'thinking' | 'text'
  content: string
  /** The text of its last event, so that sending it does not copy the whole content; '' if it is not known. */
  lastPiece: string
  closed: boolean
  /** Id of the step's first event. */
  firstEvent: number
  /** The text length of each event, in UTF-16 units. Together with `firstEvent`, reproduces every event of the step. */
  cuts: number[]
  /** Whether it replaced an interrupted step, so that its first event contains the whole step. */
  replaces: boolean
  /** How long the model thought, in milliseconds; null while it does, and for text. */
  durationMs: number | null
  /** Whether an attempt continues the text of an earlier one. Until it does, the step is closed. */
  isContinued?: boolean
}

/** Receives what happens in a run log. */
export interface RunListener {
  /** Whether a person reads along; a program with an API key is none. */
  isPage?: boolean
  /** New entries are available in `entries`. */
  onEntries(): void
  /** Progress of a running tool call; not part of the log. */
  onProgress?(notice: ToolProgressNotice): void
  onRetry?(notice: RetryNotice): void
  /** A person has decided or answered what the run waited for. */
  onSettled?(idRef: string): void
  /** The server is shutting down: end without a terminal event; the client will reconnect. */
  onClose(): void
}

/** The initial content of a run log: empty for a new run, read from the store for a resumed run. */
export interface RunLogHistory {
  entries: readonly LogEntry[]
  steps: (Step | ProseState)[]
  /** Ids of new events start above this. */
  lastId: number
  /** Whether another instance performs the run. It may have sent more events to a listener than this log has received. */
  isCopy?: boolean
}

/** The events of one run in memory, with their ids, and everybody who listens to them. */
export interface RunLog {
  readonly lastId: number
  /** The terminal event, `done` or `error`; nothing follows it in this log. */
  readonly terminal: DoneEvent | ErrorEvent | null
  readonly entries: Pick<LogEntries, 'length' | 'at' | 'findLastEvent' | typeof Symbol.iterator>
  readonly listenerCount: number
  /** The number of listeners that are pages of people, at all instances. */
  readonly pageCount: number
  /** The approval requests that wait for a person, by call id. */
  readonly pendingApprovals: ReadonlyMap<string, PendingApproval>
  /** What MCP servers ask the person for, by the id of the question. */
  readonly pendingInputs: ReadonlyMap<string, PendingInput>
  /** Whether a person must decide or answer. */
  readonly isWaiting: boolean
  readonly stepCount: number
  /** The current state of the step at `index`. */
  step(index: number): Step | undefined
  prose(index: number): ProseState | undefined
  /** Position in `entries` of the first entry after `id`; null if no event of the run has, or in a copy can get, this id. */
  positionAfter(id: number): number | null
  /** Appends text to the prose step at `index`, as one or more events. Opens the step or replaces an interrupted one. */
  appendProse(index: number, type: 'thinking' | 'text', text: string): void
  /** The same as exactly one event, as another instance emitted it: a continued text begins with all of what there was. */
  copyProse(index: number, type: 'thinking' | 'text', text: string): void
  closeProse(index: number): void
  /** Makes the next text at `index` continue the closed step instead of replacing it. Emits nothing. */
  continueProse(index: number): void
  /** Replaces the open text at `index` with thinking of the same content. */
  becomeThinking(index: number): void
  /** Appends any other event. A step event also sets the step at its index. */
  appendEvent(event: RunEvent): void
  settleApproval(idRef: string): void
  settleInput(idRef: string): void
  reportProgress(notice: ToolProgressNotice): void
  /** Notifies listeners that the model call is retried. Not part of the log. */
  reportRetry(notice: RetryNotice): void
  /** The current retry, with the remaining delay; null when there is none. */
  retry(): RetryNotice | null
  /** Returns the function that ends the subscription. */
  subscribe(listener: RunListener): () => void
  /** Like `subscribe`, for the server itself: does not count as a listener. */
  observe(listener: RunListener): () => void
  /** The number of listeners that follow the run through other instances. */
  setRemoteListeners(count: number, pages: number): void
  /** Makes new ids start above `id`: the events up to it happened in another instance or were lost. */
  skipTo(id: number): void
  /** Closes the text at `index` as interrupted: the next text replaces it. Emits nothing. */
  interruptProse(index: number): void
  /** Asks every listener to reconnect later. */
  close(): void
  /** Calls `callback` with the number of listeners whenever it changes. Returns the function that ends this. */
  onListenersChange(callback: (count: number) => void): () => void
}

const toldOfEntries = (listener: RunListener): void => listener.onEntries()

const isProse = (slot: Step | ProseState): slot is ProseState => 'cuts' in slot

/** A class, because there is one for each run, and what its methods share is in memory once. */
class MemoryRunLog implements RunLog {
  readonly entries: LogEntries
  readonly pendingApprovals = new Map<string, PendingApproval>()
  readonly pendingInputs = new Map<string, PendingInput>()
  readonly #steps: RunLogHistory['steps']
  readonly #isCopy: boolean
  readonly #listeners = new Set<RunListener>()
  readonly #observers = new Set<RunListener>()
  readonly #watchers = new Set<(count: number) => void>()
  #lastId: number
  #terminal: DoneEvent | ErrorEvent | null
  #remoteListeners = 0
  #remotePages = 0
  #retrying: { notice: RetryNotice; until: number } | null = null

  constructor({ entries, steps, lastId, isCopy = false }: RunLogHistory) {
    this.entries = new LogEntries(entries)
    this.#steps = steps
    this.#isCopy = isCopy
    this.#lastId = lastId
    const last = entries.at(-1)
    this.#terminal = last?.kind === 'event' && isTerminal(last.event) ? last.event : null
  }

  get lastId(): number {
    return this.#lastId
  }

  get terminal(): DoneEvent | ErrorEvent | null {
    return this.#terminal
  }

  get pageCount(): number {
    return [...this.#listeners].filter(({ isPage }) => isPage === true).length + this.#remotePages
  }

  get listenerCount(): number {
    return this.#listeners.size + this.#remoteListeners
  }

  get isWaiting(): boolean {
    return this.pendingApprovals.size + this.pendingInputs.size > 0
  }

  get stepCount(): number {
    return this.#steps.length
  }

  step(index: number): Step | undefined {
    const slot = this.#steps[index]
    if (slot === undefined || !isProse(slot)) return slot
    const step = { id: stepId(index), index, type: slot.type, content: slot.content }
    return slot.durationMs === null ? step : { ...step, duration_ms: slot.durationMs }
  }

  prose(index: number): ProseState | undefined {
    const slot = this.#steps[index]
    return slot !== undefined && isProse(slot) ? slot : undefined
  }

  positionAfter(id: number): number | null {
    if (!Number.isInteger(id) || id < 0) return null
    const mayCome =
      this.#isCopy && this.#terminal === null && attemptOfEvent(id) <= attemptOfEvent(this.#lastId)
    if (id > this.#lastId) return mayCome ? this.entries.length : null
    return this.entries.positionAfter(id)
  }

  appendProse(index: number, type: 'thinking' | 'text', text: string): void {
    if (text.length <= MAX_EVENT_CHARACTERS) this.copyProse(index, type, text)
    else for (const piece of piecesOf(text)) this.copyProse(index, type, piece)
  }

  copyProse(index: number, type: 'thinking' | 'text', text: string): void {
    const id = this.#lastId + 1
    const slot = this.#steps[index]
    if (slot !== undefined && isProse(slot) && !slot.closed) {
      const from = slot.content.length
      slot.content += text
      slot.lastPiece = text
      slot.cuts.push(text.length)
      this.#push({ id, kind: 'delta', index, from, to: from + text.length })
      return
    }
    const replaces = slot !== undefined
    if (replaces) this.entries.retract(index)
    // The ids of this attempt begin a new range, so the first event of a continued step repeats the whole text.
    const isContinued = slot !== undefined && isProse(slot) && slot.isContinued === true
    const content = isContinued ? slot.content + text : text
    this.#steps[index] = {
      type,
      content,
      lastPiece: text,
      closed: false,
      firstEvent: id,
      cuts: [content.length],
      replaces,
      durationMs: null,
      isContinued,
    }
    this.#push(
      replaces
        ? { id, kind: 'whole', index, to: content.length }
        : { id, kind: 'delta', index, from: 0, to: text.length },
    )
  }

  closeProse(index: number): void {
    const slot = this.prose(index)
    if (slot === undefined || slot.closed) return
    slot.closed = true
    slot.lastPiece = ''
    this.#push({ id: this.#lastId + 1, kind: 'whole', index, to: slot.content.length })
  }

  continueProse(index: number): void {
    const slot = this.prose(index)
    if (slot?.closed === true) slot.isContinued = true
  }

  becomeThinking(index: number): void {
    const slot = this.prose(index)
    if (slot === undefined || slot.closed) return
    this.entries.retract(index)
    const { length } = slot.content
    const id = this.#lastId + 1
    this.#steps[index] = {
      ...slot,
      type: 'thinking',
      lastPiece: '',
      firstEvent: id,
      cuts: [length],
      replaces: true,
    }
    this.#push({ id, kind: 'whole', index, to: length })
  }

  appendEvent(event: RunEvent): void {
    if (event.event === 'process_step') {
      if (this.#steps[event.step.index] !== undefined) this.entries.retract(event.step.index)
      this.#steps[event.step.index] = event.step
    } else if (event.event === 'approval_required') {
      const { event: _name, run_id: _run, ...request } = event
      this.pendingApprovals.set(event.id_ref, request)
    } else if (event.event === 'input_required') {
      const { event: _name, run_id: _run, ...question } = event
      this.pendingInputs.set(event.id_ref, question)
    } else if (isTerminal(event)) {
      this.#terminal = event
      this.pendingApprovals.clear()
      this.pendingInputs.clear()
    }
    this.#push({ id: this.#lastId + 1, kind: 'event', event })
  }

  settleApproval(idRef: string): void {
    if (this.pendingApprovals.delete(idRef)) this.#settled(idRef)
  }

  settleInput(idRef: string): void {
    if (this.pendingInputs.delete(idRef)) this.#settled(idRef)
  }

  reportProgress(notice: ToolProgressNotice): void {
    this.#tellAll((listener) => listener.onProgress?.(notice))
  }

  reportRetry(notice: RetryNotice): void {
    this.#retrying = { notice, until: performance.now() + notice.delay_ms }
    this.#tellAll((listener) => listener.onRetry?.(notice))
  }

  retry(): RetryNotice | null {
    if (this.#retrying === null) return null
    const left = Math.max(0, Math.round(this.#retrying.until - performance.now()))
    return { ...this.#retrying.notice, delay_ms: left }
  }

  subscribe(listener: RunListener): () => void {
    this.#listeners.add(listener)
    this.#countChanged()
    return () => {
      if (this.#listeners.delete(listener)) this.#countChanged()
    }
  }

  observe(listener: RunListener): () => void {
    this.#observers.add(listener)
    return () => void this.#observers.delete(listener)
  }

  setRemoteListeners(count: number, pages: number): void {
    if (count === this.#remoteListeners && pages === this.#remotePages) return
    this.#remoteListeners = count
    this.#remotePages = pages
    this.#countChanged()
  }

  skipTo(id: number): void {
    this.#lastId = Math.max(this.#lastId, id)
  }

  interruptProse(index: number): void {
    const slot = this.prose(index)
    if (slot !== undefined) slot.closed = true
  }

  close(): void {
    this.#tellAll((listener) => listener.onClose())
  }

  onListenersChange(callback: (count: number) => void): () => void {
    this.#watchers.add(callback)
    return () => void this.#watchers.delete(callback)
  }

  #tellAll(tell: (listener: RunListener) => void): void {
    for (const observer of this.#observers) tell(observer)
    for (const listener of this.#listeners) tell(listener)
  }

  #push(entry: LogEntry): void {
    this.#retrying = null
    this.entries.push(entry)
    this.#lastId = entry.id
    this.#tellAll(toldOfEntries)
  }

  #countChanged(): void {
    for (const watch of this.#watchers) watch(this.listenerCount)
  }

  #settled(idRef: string): void {
    this.#tellAll((listener) => listener.onSettled?.(idRef))
  }
}

/** `history` is empty for a new run, and read from the store for a resumed one. */
export const createRunLog = (history: RunLogHistory): RunLog => new MemoryRunLog(history)

/** Maximum text per event, however fast the model: limits what is buffered for a reader that has stopped reading. */
const MAX_EVENT_CHARACTERS = 32_000

/** Splits the text into pieces of bounded size, never within a surrogate pair. */
export function* piecesOf(text: string): Generator<string> {
  let from = 0
  while (text.length - from > MAX_EVENT_CHARACTERS) {
    const last = text.charCodeAt(from + MAX_EVENT_CHARACTERS - 1)
    const splitsPair = last >= 0xd800 && last <= 0xdbff
    const to = from + MAX_EVENT_CHARACTERS - (splitsPair ? 1 : 0)
    yield text.slice(from, to)
    from = to
  }
  yield text.slice(from)
}

// The entries of a run log in little memory: the deltas of a step, of which there may be thousands, are one run of numbers.

/** One numbered entry. Text entries are ranges of their step, so the text of an answer is in memory only once. */
export type LogEntry =
  | { id: number; kind: 'delta'; index: number; from: number; to: number }
  /** A complete prose step: when it ends, or when it replaces one that was interrupted. */
  | { id: number; kind: 'whole'; index: number; to: number }
  | EventEntry
  /** Retracted by a later attempt of the run. Its id is not used again. */
  | { id: number; kind: 'void' }

/** Any event but those of a text. */
interface EventEntry {
  id: number
  kind: 'event'
  event: RunEvent
}

/** Adjacent entries with consecutive ids. */
interface Piece {
  /** The position of its first entry in the log. */
  position: number
  /** The id of its first entry. */
  id: number
  content:
    | { kind: 'one'; entry: Exclude<LogEntry, { kind: 'delta' | 'void' }> }
    | { kind: 'void'; count: number }
    /** `ends`: where each delta ends in the text of the step, and the next one begins. */
    | { kind: 'deltas'; index: number; from: number; ends: number[] }
}

const countOf = ({ content }: Piece): number => {
  if (content.kind === 'one') return 1
  return content.kind === 'void' ? content.count : content.ends.length
}

function entryOf({ id: first, content }: Piece, offset: number): LogEntry {
  if (content.kind === 'one') return content.entry
  const id = first + offset
  if (content.kind === 'void') return { id, kind: 'void' }
  const { index, from, ends } = content
  return {
    id,
    kind: 'delta',
    index,
    from: offset === 0 ? from : (ends[offset - 1] ?? from),
    to: ends[offset] ?? from,
  }
}

/** The entries of a run log in the order of their ids. Positions never change. */
export class LogEntries implements Iterable<LogEntry> {
  readonly #pieces: Piece[] = []
  #length = 0

  constructor(entries: Iterable<LogEntry>) {
    for (const entry of entries) this.push(entry)
  }

  get length(): number {
    return this.#length
  }

  at(position: number): LogEntry | undefined {
    if (position < 0 || position >= this.#length) return undefined
    const piece = this.#pieces[this.#last((one) => one.position <= position)]
    return piece === undefined ? undefined : entryOf(piece, position - piece.position)
  }

  /** The position of the first entry after `id`. */
  positionAfter(id: number): number {
    const piece = this.#pieces[this.#last((one) => one.id <= id)]
    return piece === undefined ? 0 : piece.position + Math.min(countOf(piece), id - piece.id + 1)
  }

  /** @param entry its id is above those of all others. */
  push(entry: LogEntry): void {
    const { id } = entry
    const last = this.#pieces.at(-1)
    const position = this.#length
    this.#length += 1
    if (entry.kind === 'delta') {
      const { index, from, to } = entry
      const before = last?.content
      if (
        before?.kind === 'deltas' &&
        before.index === index &&
        before.ends.at(-1) === from &&
        last?.id === id - before.ends.length
      )
        before.ends.push(to)
      else this.#pieces.push({ position, id, content: { kind: 'deltas', index, from, ends: [to] } })
    } else if (entry.kind === 'void')
      this.#pieces.push({ position, id, content: { kind: 'void', count: 1 } })
    else this.#pieces.push({ position, id, content: { kind: 'one', entry } })
  }

  /** Makes all entries of a step void. */
  retract(index: number): void {
    for (const piece of this.#pieces) {
      const { content } = piece
      const ofStep =
        content.kind === 'one'
          ? stepIndexOf(content.entry) === index
          : content.kind === 'deltas' && content.index === index
      if (ofStep) piece.content = { kind: 'void', count: countOf(piece) }
    }
  }

  /** The last entry with an event that passes the test. */
  findLastEvent(test: (event: RunEvent) => boolean): EventEntry | undefined {
    for (let at = this.#pieces.length - 1; at >= 0; at -= 1) {
      const content = this.#pieces[at]?.content
      if (content?.kind !== 'one' || content.entry.kind !== 'event') continue
      if (test(content.entry.event)) return content.entry
    }
    return undefined
  }

  *[Symbol.iterator](): Generator<LogEntry> {
    for (const piece of this.#pieces)
      for (let offset = 0; offset < countOf(piece); offset += 1) yield entryOf(piece, offset)
  }

  /** The place of the last piece that passes the test, which all before it pass, too; -1 if none does. */
  #last(test: (piece: Piece) => boolean): number {
    let low = -1
    let high = this.#pieces.length - 1
    // Readers are nearly always at the end.
    let middle = high
    while (low < high) {
      const piece = this.#pieces[middle]
      if (piece !== undefined && test(piece)) low = middle
      else high = middle - 1
      middle = (low + high + 1) >> 1
    }
    return low
  }
}

/** The step that an entry belongs to; null for other events, and for what is void. */
export function stepIndexOf(entry: LogEntry): number | null {
  if (entry.kind === 'void') return null
  if (entry.kind !== 'event') return entry.index
  return entry.event.event === 'process_step' ? entry.event.step.index : null
}

const IDS_PER_ATTEMPT = 1_000_000

/** The id before the first event of an attempt: each has a range of its own, above all ids of earlier ones. */
export const idsBefore = (attempt: number): number => (Math.max(attempt, 1) - 1) * IDS_PER_ATTEMPT

/** The attempt that an event id belongs to. */
export const attemptOfEvent = (id: number): number => Math.floor((id - 1) / IDS_PER_ATTEMPT) + 1
