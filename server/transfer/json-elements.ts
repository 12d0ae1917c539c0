// Splits a JSON array into its elements while it is read, so that one conversation at a time is in memory.
import { Buffer } from 'node:buffer'

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] =
  Buffer.from('"\\,[]{}')
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** `oversized`: an element beyond the limit, without its text. */
export type JsonElement = { type: 'text'; text: string } | { type: 'oversized' }

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/**
 * The elements of the array that a stream holds, each as its JSON text, which is not checked; any other value is a single
 * element. The caller parses them and so detects damaged ones.
 * @throws SyntaxError when an array does not end.
 */
export async function* jsonElements(
  input: AsyncIterable<Uint8Array>,
  maxElementBytes: number,
): AsyncGenerator<JsonElement> {
  let state: 'start' | 'list' | 'single' | 'end' = 'start'
  let depth = 0
  let inString = false
  let isEscaped = false
  let pieces: Buffer[] = []
  let size = 0

  const keep = (piece: Buffer): void => {
    size += piece.length
    if (size <= maxElementBytes) pieces.push(piece)
    else pieces = []
  }
  const take = (): JsonElement | null => {
    const element: JsonElement =
      size > maxElementBytes
        ? { type: 'oversized' }
        : { type: 'text', text: Buffer.concat(pieces).toString('utf8') }
    pieces = []
    size = 0
    return element.type === 'text' && element.text.trim() === '' ? null : element
  }

  for await (const given of input) {
    const chunk = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
    let from = 0
    if (state === 'start') {
      if (chunk.subarray(0, 3).equals(BYTE_ORDER_MARK)) from = 3
      while (from < chunk.length && isSpace(chunk[from])) from += 1
      if (from === chunk.length) continue
      state = chunk[from] === OPEN_LIST ? 'list' : 'single'
      if (state === 'list') from += 1
    }
    if (state === 'end') return
    if (state === 'single') {
      keep(chunk.subarray(from))
      continue
    }
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at]
      if (inString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) inString = false
      } else if (byte === QUOTE) inString = true
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1
      else if (depth > 0 && (byte === CLOSE_LIST || byte === CLOSE_OBJECT)) depth -= 1
      else if (depth === 0 && (byte === COMMA || byte === CLOSE_LIST)) {
        keep(chunk.subarray(from, at))
        from = at + 1
        const element = take()
        if (element !== null) yield element
        if (byte === CLOSE_LIST) {
          state = 'end'
          break
        }
      }
    }
    if (state === 'list') keep(chunk.subarray(from))
  }
  if (state === 'single') {
    const element = take()
    if (element !== null) yield element
  } else if (state === 'list') throw new SyntaxError('The array does not end.')
}
