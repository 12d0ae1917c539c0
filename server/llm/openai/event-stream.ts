// Reads the payloads of `data:` lines from a `text/event-stream` body, in one pass and with bounded memory.
import { StringDecoder } from 'node:string_decoder'

/** Receives the payload of a data line as a range of `text`, from `from` up to `to`. Not sliced, because slicing is slow. */
export type VisitPayload = (text: string, from: number, to: number) => void

export interface EventStreamReader {
  /** Visits the payloads of the data lines completed by this piece of the body. */
  push(bytes: Buffer): void
  /** Visits the payload of a last line without a line break. */
  end(): void
  /** Number of lines dropped because they exceeded the limit. */
  readonly dropped: number
}

const MAX_LINE_CHARACTERS = 8 * 1024 * 1024

/**
 * Accepts lines ending with LF, CRLF or CR, comments, other fields, `data:` with and without a space, and characters split
 * between reads. Each data line is an event, because that is how all providers send them.
 */
export function createEventStreamReader(
  visit: VisitPayload,
  maxLineCharacters = MAX_LINE_CHARACTERS,
): EventStreamReader {
  const decoder = new StringDecoder('utf8')
  // The start of an incomplete line, in pieces: joining them on every read would take quadratic time.
  let rest: string[] = []
  let restLength = 0
  let skipping = false
  let dropped = 0

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
  const split = (decoded: string): void => {
    // A CRLF becomes an extra empty line, which is ignored.
    const text = decoded.includes('\r') ? decoded.replaceAll('\r', '\n') : decoded
    let start = 0
    let end = text.indexOf('\n')
    if (end !== -1 && (skipping || restLength > 0)) {
      keep(text.slice(0, end))
      if (!skipping) visitPayload(rest.join(''), 0, restLength, visit)
      forget()
      skipping = false
      start = end + 1
      end = text.indexOf('\n', start)
    }
    while (end !== -1) {
      visitPayload(text, start, end, visit)
      start = end + 1
      end = text.indexOf('\n', start)
    }
    keep(start === 0 ? text : text.slice(start))
  }
  return {
    push: (bytes) => split(decoder.write(bytes)),
    end: () => split(`${decoder.end()}\n`),
    get dropped() {
      return dropped
    },
  }
}

function visitPayload(text: string, start: number, end: number, visit: VisitPayload): void {
  // A byte order mark may precede the first line.
  const from = text.charCodeAt(start) === 0xfeff ? start + 1 : start
  if (end - from <= 5 || !text.startsWith('data:', from)) return
  const payload = text.charCodeAt(from + 5) === 0x20 ? from + 6 : from + 5
  if (payload < end) visit(text, payload, end)
}
