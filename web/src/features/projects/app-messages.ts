// What the frame of an app tells the page: text of the app, which decides nothing.
import { fieldsOf, textIn } from '../../lib/read-json.ts'

/** What the page does something with; other messages are ignored. */
export type AppMessage =
  | { type: 'ready' }
  | { type: 'error'; message: string; line: number | null }
  | { type: 'ask'; text: string }

const MAX_ERROR_CHARACTERS = 500
const MAX_ASK_CHARACTERS = 2_000
/** Between two texts for the message field. */
const ASK_EVERY_MS = 1_000

/** Random, so that only the frame that was given it can send messages that are heard. */
export const newChannel = (): string =>
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** Reads the messages of one frame. Null for what is not from it, unknown, or comes too often. */
export function createMessageReader(channel: string) {
  let askedAt = Number.NEGATIVE_INFINITY
  return (data: unknown, now: number): AppMessage | null => {
    const fields = fieldsOf(data)
    if (fields.channel !== channel) return null
    switch (fields.type) {
      case 'ready':
        return { type: 'ready' }
      case 'error': {
        const message = textIn(fields.message)?.slice(0, MAX_ERROR_CHARACTERS) ?? ''
        const { line } = fields
        return message === ''
          ? null
          : { type: 'error', message, line: Number.isSafeInteger(line) ? Number(line) : null }
      }
      case 'ask': {
        const text = textIn(fields.text)?.trim() ?? ''
        if (text === '' || text.length > MAX_ASK_CHARACTERS || now - askedAt < ASK_EVERY_MS)
          return null
        askedAt = now
        return { type: 'ask', text }
      }
      default:
        return null
    }
  }
}
