// The types of prompt mode: what was parsed, and what parses it.

export interface PromptCall {
  name: string
  /** JSON text. */
  arguments: string
}

/** `text`: ordinary JSON or prose. `fault`: meant as a call, but unreadable. */
export type Reading =
  | { kind: 'calls'; calls: PromptCall[] }
  | { kind: 'text' }
  | { kind: 'fault'; problem: string }

/** Name of each offered tool → its parameters as JSON Schema. */
export type KnownTools = ReadonlyMap<string, Record<string, unknown>>

export interface PromptCallParser {
  /** The next piece of the answer; returns the text that can be shown now. */
  push(text: string): string
  /**
   * The end of the answer; returns the rest of the text. `cutOff`: it ended at the token limit, so a call may be
   * incomplete.
   */
  end(options: { cutOff: boolean }): string
  /** Calls so far, in order. */
  readonly calls: readonly PromptCall[]
  /** What was meant as a call but is unreadable, as the model wrote it. */
  readonly faults: readonly PromptFault[]
}

export interface PromptFault {
  raw: string
  problem: string
}
