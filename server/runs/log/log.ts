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
import { LogEntries, type LogEntry } from './entries.ts'
import { attemptOfEvent } from './event-ids.ts'

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

/** `history` is empty for a new run, and read from the store for a resumed one. */
export function createRunLog(history: RunLogHistory): RunLog {
  const { steps, isCopy = false } = history
  const entries = new LogEntries(history.entries)
  let { lastId } = history
  const last = history.entries.at(-1)
  let terminal = last?.kind === 'event' && isTerminal(last.event) ? last.event : null
  const listeners = new Set<RunListener>()
  const observers = new Set<RunListener>()
  let remoteListeners = 0
  let remotePages = 0
  const tellAll = (tell: (listener: RunListener) => void): void => {
    for (const observer of observers) tell(observer)
    for (const listener of listeners) tell(listener)
  }
  const pendingApprovals = new Map<string, PendingApproval>()
  const pendingInputs = new Map<string, PendingInput>()
  const watchers = new Set<(count: number) => void>()
  let retrying: { notice: RetryNotice; until: number } | null = null
  const push = (entry: LogEntry): void => {
    retrying = null
    entries.push(entry)
    lastId = entry.id
    tellAll(toldOfEntries)
  }
  const countChanged = (): void => {
    for (const watch of watchers) watch(listeners.size + remoteListeners)
  }
  const settled = (idRef: string): void => {
    tellAll((listener) => listener.onSettled?.(idRef))
  }
  const appendPiece = (index: number, type: 'thinking' | 'text', text: string): void => {
    const id = lastId + 1
    const slot = steps[index]
    if (slot !== undefined && isProse(slot) && !slot.closed) {
      const from = slot.content.length
      slot.content += text
      slot.lastPiece = text
      slot.cuts.push(text.length)
      push({ id, kind: 'delta', index, from, to: from + text.length })
      return
    }
    const replaces = slot !== undefined
    if (replaces) entries.retract(index)
    // The ids of this attempt begin a new range, so the first event of a continued step repeats the whole text.
    const isContinued = slot !== undefined && isProse(slot) && slot.isContinued === true
    const content = isContinued ? slot.content + text : text
    steps[index] = {
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
    push(
      replaces
        ? { id, kind: 'whole', index, to: content.length }
        : { id, kind: 'delta', index, from: 0, to: text.length },
    )
  }

  return {
    get lastId() {
      return lastId
    },
    get terminal() {
      return terminal
    },
    entries,
    get pageCount() {
      return [...listeners].filter(({ isPage }) => isPage === true).length + remotePages
    },
    get listenerCount() {
      return listeners.size + remoteListeners
    },
    pendingApprovals,
    pendingInputs,
    get isWaiting() {
      return pendingApprovals.size + pendingInputs.size > 0
    },
    get stepCount() {
      return steps.length
    },
    step(index) {
      const slot = steps[index]
      if (slot === undefined || !isProse(slot)) return slot
      const step = { id: stepId(index), index, type: slot.type, content: slot.content }
      return slot.durationMs === null ? step : { ...step, duration_ms: slot.durationMs }
    },
    prose(index) {
      const slot = steps[index]
      return slot !== undefined && isProse(slot) ? slot : undefined
    },
    positionAfter(id) {
      if (!Number.isInteger(id) || id < 0) return null
      const mayCome = isCopy && terminal === null && attemptOfEvent(id) <= attemptOfEvent(lastId)
      if (id > lastId) return mayCome ? entries.length : null
      return entries.positionAfter(id)
    },
    appendProse(index, type, text) {
      if (text.length <= MAX_EVENT_CHARACTERS) appendPiece(index, type, text)
      else for (const piece of piecesOf(text)) appendPiece(index, type, piece)
    },
    copyProse: appendPiece,
    closeProse(index) {
      const slot = steps[index]
      if (slot === undefined || !isProse(slot) || slot.closed) return
      slot.closed = true
      slot.lastPiece = ''
      push({ id: lastId + 1, kind: 'whole', index, to: slot.content.length })
    },
    continueProse(index) {
      const slot = steps[index]
      if (slot !== undefined && isProse(slot) && slot.closed) slot.isContinued = true
    },
    becomeThinking(index) {
      const slot = steps[index]
      if (slot === undefined || !isProse(slot) || slot.closed) return
      entries.retract(index)
      const { length } = slot.content
      const id = lastId + 1
      steps[index] = {
        ...slot,
        type: 'thinking',
        lastPiece: '',
        firstEvent: id,
        cuts: [length],
        replaces: true,
      }
      push({ id, kind: 'whole', index, to: length })
    },
    appendEvent(event) {
      if (event.event === 'process_step') {
        if (steps[event.step.index] !== undefined) entries.retract(event.step.index)
        steps[event.step.index] = event.step
      } else if (event.event === 'approval_required') {
        const { event: _name, run_id: _run, ...request } = event
        pendingApprovals.set(event.id_ref, request)
      } else if (event.event === 'input_required') {
        const { event: _name, run_id: _run, ...question } = event
        pendingInputs.set(event.id_ref, question)
      } else if (isTerminal(event)) {
        terminal = event
        pendingApprovals.clear()
        pendingInputs.clear()
      }
      push({ id: lastId + 1, kind: 'event', event })
    },
    settleApproval(idRef) {
      if (pendingApprovals.delete(idRef)) settled(idRef)
    },
    settleInput(idRef) {
      if (pendingInputs.delete(idRef)) settled(idRef)
    },
    reportRetry(notice) {
      retrying = { notice, until: performance.now() + notice.delay_ms }
      tellAll((listener) => listener.onRetry?.(notice))
    },
    retry() {
      if (retrying === null) return null
      const left = Math.max(0, Math.round(retrying.until - performance.now()))
      return { ...retrying.notice, delay_ms: left }
    },
    reportProgress(notice) {
      tellAll((listener) => listener.onProgress?.(notice))
    },
    subscribe(listener) {
      listeners.add(listener)
      countChanged()
      return () => {
        if (listeners.delete(listener)) countChanged()
      }
    },
    observe(listener) {
      observers.add(listener)
      return () => void observers.delete(listener)
    },
    setRemoteListeners(count, pages) {
      if (count === remoteListeners && pages === remotePages) return
      remoteListeners = count
      remotePages = pages
      countChanged()
    },
    skipTo(id) {
      lastId = Math.max(lastId, id)
    },
    interruptProse(index) {
      const slot = steps[index]
      if (slot !== undefined && isProse(slot)) slot.closed = true
    },
    close() {
      tellAll((listener) => listener.onClose())
    },
    onListenersChange(callback) {
      watchers.add(callback)
      return () => void watchers.delete(callback)
    },
  }
}

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
