// The interface of a reader that turns the events of one response into deltas, calls and usage, whatever the wire format.
import type { AppError } from '../../errors.ts'
import type { ToolCall } from '../client.ts'
import type { Delta } from '../prose.ts'
import type { TokenCounts } from '../usage.ts'

/** Reads the streamed chunks of one response. */
export interface ResponseReader {
  /**
   * Reads the payload of one data line, `text` from `from` to `to`. Never throws; counts unreadable payloads in
   * `unreadable`.
   */
  read(text: string, from: number, to: number): void
  /** Reads a parsed chunk, or the complete response of a provider that does not stream. */
  readObject(value: unknown): void
  /** Returns the deltas since the last call; adjacent ones of one kind are joined. */
  take(): Delta[]
  /** Returns the remaining deltas. Call it once, at the end. */
  end(): Delta[]
  /** Returns the tool calls with their arguments as received, possibly empty. Call it after the end. */
  calls(): ToolCall[]
  /** Returns what the provider requires back with this message; undefined if nothing. Call it after the end. */
  carried(): unknown
  /** Whether the end marker of the stream was read. */
  readonly done: boolean
  /** The finish reason as the provider sent it; null before that. */
  readonly finishReason: string | null
  /** The last reported usage; null if there was none. */
  readonly usage: TokenCounts | null
  /** The error object in the stream that ended the response; null if there was none. */
  readonly error: AppError | null
  /** Number of lines that were not JSON, or not a chunk. */
  readonly unreadable: number
  /** Characters of the answer so far, including arguments. */
  readonly size: number
  /** Estimated tokens of the text and reasoning taken so far; not rounded. */
  readonly textTokens: number
  /** Whether there was no text, reasoning or call so far. */
  readonly empty: boolean
  /** Whether there was text for the person so far, not only white space. */
  readonly hasText: boolean
  readonly hasThinking: boolean
}
