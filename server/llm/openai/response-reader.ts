// What a reader makes of the events of one response, whatever the wire format.
import type { AppError } from '../../errors.ts'
import type { LlmEvent, ToolCall } from '../client.ts'
import type { TokenCounts } from '../usage.ts'

/** Reads the streamed chunks of one response. */
export interface ResponseReader {
  /**
   * Reads the payload of one data line, `text` from `from` up to `to`. Never throws; counts unreadable payloads in
   * `unreadable`.
   */
  read(text: string, from: number, to: number): void
  /** Reads a parsed chunk, or a complete response of a provider that does not stream. */
  readObject(value: unknown): void
  /** The deltas since the last call, adjacent ones of one kind joined. */
  take(): LlmEvent[]
  /** The remaining deltas; call it once, at the end. */
  end(): LlmEvent[]
  /** The tool calls, with their arguments as they came, which may be nothing; call it after the end. */
  calls(): ToolCall[]
  /** What the provider wants back with this message; undefined if there are none. Call it after the end. */
  carried(): unknown
  /** The end marker of the stream was read. */
  readonly done: boolean
  /** As the provider sent it; null until then. */
  readonly finishReason: string | null
  /** The last reported usage. */
  readonly usage: TokenCounts | null
  /** An error object in the stream, which ends the response. */
  readonly error: AppError | null
  /** Lines that were not JSON, or not a chunk. */
  readonly unreadable: number
  /** Characters of the answer so far, including arguments. */
  readonly size: number
  /** Estimated tokens of the text and reasoning taken so far; not rounded. */
  readonly textTokens: number
  /** No text, reasoning or call so far. */
  readonly empty: boolean
}
