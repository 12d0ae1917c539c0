// Reads the payloads of events from a `text/event-stream` body, in one pass and with bounded memory.
import { StringDecoder } from 'node:string_decoder'
import { isRecord } from '../../lib/records.ts'

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
  const decoder = new StringDecoder('utf8')
  // The beginning of an incomplete line, in pieces: joining them on every read would take quadratic time.
  let rest: string[] = []
  let restLength = 0
  let skipping = false
  let dropped = 0
  let endsWithReturn = false
  let open: OpenEvent | null = null
  /** Whether the lines up to the next blank one belong to an event named `error`. */
  let isError = false

  const forget = () => {
    rest = []
    restLength = 0
  }
  const keep = (text: string) => {
    if (skipping || text === '') return
    rest.push(text)
    restLength += text.length
    if (restLength <= maxLineCharacters) return
    forget()
    skipping = true
    dropped += 1
  }
  const close = () => {
    if (open === null) return
    const joined = open.lines.join('\n')
    open = null
    const payload = isError ? errorPayload(joined) : joined
    visit(payload, 0, payload.length)
  }
  const isPart = (event: OpenEvent): boolean => {
    event.isPart ??= !isPayload(event.lines[0] ?? '')
    return event.isPart
  }
  const add = (payload: string) => {
    if (open !== null && !isPart(open)) close()
    open ??= { lines: [], length: 0, isPart: undefined }
    open.lines.push(payload)
    open.length += payload.length + 1
    if (open.length <= maxLineCharacters) return
    open = null
    dropped += 1
  }
  const readOtherField = (line: string): void => {
    const [, name, value = ''] = /^(event|error):\s*(.*)$/.exec(line) ?? []
    if (name === 'event') isError = value.trim() === 'error'
    if (name !== 'error') return
    const payload = errorPayload(value)
    visit(payload, 0, payload.length)
  }
  const readLine = (text: string, start: number, end: number): void => {
    if (start === end) {
      close()
      isError = false
      return
    }
    // A byte order mark may precede the first line.
    const from = text.charCodeAt(start) === 0xfeff ? start + 1 : start
    if (end - from <= 5 || !text.startsWith('data:', from)) {
      readOtherField(text.slice(from, Math.min(end, from + MAX_ERROR_LINE)))
      return
    }
    const payload = text.charCodeAt(from + 5) === 0x20 ? from + 6 : from + 5
    if (payload >= end) return
    // Almost every event is one line, and its blank line was read with it.
    const isWhole = open === null && !isError && text.charCodeAt(end + 1) === 0x0a
    if (isWhole) visit(text, payload, end)
    else add(text.slice(payload, end))
  }
  const split = (decoded: string): void => {
    const text = withLineFeeds(
      endsWithReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded,
    )
    if (decoded !== '') endsWithReturn = decoded.endsWith('\r')
    let start = 0
    let end = text.indexOf('\n')
    if (end !== -1 && (skipping || restLength > 0)) {
      keep(text.slice(0, end))
      if (!skipping) {
        const line = rest.join('')
        readLine(line, 0, line.length)
      }
      forget()
      skipping = false
      start = end + 1
      end = text.indexOf('\n', start)
    }
    while (end !== -1) {
      readLine(text, start, end)
      start = end + 1
      end = text.indexOf('\n', start)
    }
    keep(start === 0 ? text : text.slice(start))
    // Emit at once instead of waiting for a blank line, which may come late.
    if (open !== null && !isPart(open)) close()
  }
  return {
    push: (bytes) => split(decoder.write(bytes)),
    end() {
      split(`${decoder.end()}\n`)
      close()
    },
    get dropped() {
      return dropped
    },
  }
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
