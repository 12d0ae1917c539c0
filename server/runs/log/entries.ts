// The entries of a run log in little memory: the deltas of a step, of which there may be thousands, are one run of numbers.
import type { RunEvent } from '../../protocol/runs/run-event.ts'

/** One numbered entry. Text entries are ranges of their step, so the text of an answer is in memory only once. */
export type LogEntry =
  | { id: number; kind: 'delta'; index: number; from: number; to: number }
  /** A complete prose step: when it ends, or when it replaces one that was interrupted. */
  | { id: number; kind: 'whole'; index: number; to: number }
  | EventEntry
  /** Retracted by a later attempt of the run. Its id is not used again. */
  | { id: number; kind: 'void' }

/** Any event but those of a text. */
export interface EventEntry {
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
