// The types of prompt mode: parsed calls, faults, and the parser.

/** A tool call that was read from the text of a model. */
export interface PromptCall {
  name: string
  /** JSON text. */
  arguments: string
}

/** What a candidate turned out to be. `text`: ordinary JSON or prose. `fault`: meant as a call, but unreadable. */
export type Reading =
  | { kind: 'calls'; calls: PromptCall[] }
  | { kind: 'text' }
  | { kind: 'fault'; problem: string }

/** Name of each offered tool → its parameters as JSON Schema. */
export type KnownTools = ReadonlyMap<string, Record<string, unknown>>

/** Separates the calls in the text of a model from what a person sees. */
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
  /** Unreadable calls, as the model wrote them. */
  readonly faults: readonly PromptFault[]
}

/** A text that was meant as a call but is none, and what is wrong with it. */
export interface PromptFault {
  raw: string
  problem: string
}
