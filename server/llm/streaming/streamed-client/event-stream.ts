// Reads the payloads of events from a `text/event-stream` body, in one pass and with bounded memory.
import { StringDecoder } from 'node:string_decoder'
import { isRecord } from '../../../lib/records.ts'

/**
 * Receives the payload of an event as a range of `text`, from `from` to `to`. It is not sliced, because slicing is slow.
 */
export type VisitPayload = (text: string, from: number, to: number) => void

/** Splits the bytes of a response into server-sent events. */
export interface EventStreamReader {
  /** Visits the payloads of the events that this piece of the body completes. */
  push(bytes: Buffer): void
  /** Visits the payload of a last event that has no blank line. */
  end(): void
  /** Number of lines that were dropped because they exceeded the limit. */
  readonly dropped: number
}

/** Characters of an error outside of a data line; the message is at the beginning. */
const MAX_ERROR_LINE = 64 * 1024
const MAX_LINE_CHARACTERS = 8 * 1024 * 1024

/** The data lines of an event whose blank line has not arrived yet. */
interface OpenEvent {
  lines: string[]
  length: number
  /** Whether the first line is not a payload of its own, so that further lines belong to it; undefined while unknown. */
  isPart: boolean | undefined
}

/** What was read of a stream and is not visited yet. */
interface EventStream {
  readonly visit: VisitPayload
  readonly maxLineCharacters: number
  readonly decoder: StringDecoder
  /** The beginning of an incomplete line, in pieces: joining them on every read would take quadratic time. */
  rest: string[]
  restLength: number
  /** Whether the rest of a line is dropped, which exceeded the limit. */
  skipping: boolean
  dropped: number
  endsWithReturn: boolean
  open: OpenEvent | null
  /** Whether the lines up to the next blank one belong to an event named `error`. */
  isError: boolean
}

/**
 * Accepts lines ending with LF, CRLF or CR, comments, other fields, `data:` with and without a space, and characters split
 * between reads. As the standard says, data lines without a blank line between them are one event, joined by line breaks.
 * But a line that is a complete JSON text is an event of its own, because some providers omit the blank lines.
 * The data of an event named `error`, and a field `error` (llama.cpp), are visited as an object with the field `error`.
 */
export function createEventStreamReader(
  visit: VisitPayload,
  maxLineCharacters = MAX_LINE_CHARACTERS,
): EventStreamReader {
  const stream: EventStream = {
    visit,
    maxLineCharacters,
    decoder: new StringDecoder('utf8'),
    rest: [],
    restLength: 0,
    skipping: false,
    dropped: 0,
    endsWithReturn: false,
    open: null,
    isError: false,
  }
  return {
    push: (bytes) => split(stream, stream.decoder.write(bytes)),
    end() {
      split(stream, `${stream.decoder.end()}\n`)
      close(stream)
    },
    get dropped() {
      return stream.dropped
    },
  }
}

function forget(stream: EventStream): void {
  stream.rest = []
  stream.restLength = 0
}

function keep(stream: EventStream, text: string): void {
  if (stream.skipping || text === '') return
  stream.rest.push(text)
  stream.restLength += text.length
  if (stream.restLength <= stream.maxLineCharacters) return
  forget(stream)
  stream.skipping = true
  stream.dropped += 1
}

function close(stream: EventStream): void {
  if (stream.open === null) return
  const joined = stream.open.lines.join('\n')
  stream.open = null
  const payload = stream.isError ? errorPayload(joined) : joined
  stream.visit(payload, 0, payload.length)
}

function isPart(event: OpenEvent): boolean {
  event.isPart ??= !isPayload(event.lines[0] ?? '')
  return event.isPart
}

function add(stream: EventStream, payload: string): void {
  if (stream.open !== null && !isPart(stream.open)) close(stream)
  stream.open ??= { lines: [], length: 0, isPart: undefined }
  stream.open.lines.push(payload)
  stream.open.length += payload.length + 1
  if (stream.open.length <= stream.maxLineCharacters) return
  stream.open = null
  stream.dropped += 1
}

function readOtherField(stream: EventStream, line: string): void {
  const [, name, value = ''] = /^(event|error):\s*(.*)$/.exec(line) ?? []
  if (name === 'event') stream.isError = value.trim() === 'error'
  if (name !== 'error') return
  const payload = errorPayload(value)
  stream.visit(payload, 0, payload.length)
}

function readLine(stream: EventStream, text: string, start: number, end: number): void {
  if (start === end) {
    close(stream)
    stream.isError = false
    return
  }
  // A byte order mark may precede the first line.
  const from = text.charCodeAt(start) === 0xfeff ? start + 1 : start
  if (end - from <= 5 || !text.startsWith('data:', from)) {
    readOtherField(stream, text.slice(from, Math.min(end, from + MAX_ERROR_LINE)))
    return
  }
  const payload = text.charCodeAt(from + 5) === 0x20 ? from + 6 : from + 5
  if (payload >= end) return
  // Almost every event is one line, and its blank line was read with it.
  const isWhole = stream.open === null && !stream.isError && text.charCodeAt(end + 1) === 0x0a
  if (isWhole) stream.visit(text, payload, end)
  else add(stream, text.slice(payload, end))
}

function split(stream: EventStream, decoded: string): void {
  const text = withLineFeeds(
    stream.endsWithReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded,
  )
  if (decoded !== '') stream.endsWithReturn = decoded.endsWith('\r')
  let start = 0
  let end = text.indexOf('\n')
  if (end !== -1 && (stream.skipping || stream.restLength > 0)) {
    keep(stream, text.slice(0, end))
    if (!stream.skipping) {
      const line = stream.rest.join('')
      readLine(stream, line, 0, line.length)
    }
    forget(stream)
    stream.skipping = false
    start = end + 1
    end = text.indexOf('\n', start)
  }
  while (end !== -1) {
    readLine(stream, text, start, end)
    start = end + 1
    end = text.indexOf('\n', start)
  }
  keep(stream, start === 0 ? text : text.slice(start))
  // Emit at once instead of waiting for a blank line, which may come late.
  if (stream.open !== null && !isPart(stream.open)) close(stream)
}

const withLineFeeds = (text: string): string =>
  text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text

/** An error as an object with the field `error`, which its data may be already. */
function errorPayload(data: string): string {
  try {
    const value: unknown = JSON.parse(data)
    const isNamed = isRecord(value) && (value.error !== undefined || value.type === 'error')
    return isNamed ? data : JSON.stringify({ type: 'error', error: value })
  } catch {
    return JSON.stringify({ type: 'error', error: data })
  }
}

/** The end marker, or a complete JSON text. */
function isPayload(text: string): boolean {
  if (text.startsWith('[DONE]')) return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
