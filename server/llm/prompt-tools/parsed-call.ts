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

/** Maps the name of each offered tool to its parameters as JSON Schema. */
export type KnownTools = ReadonlyMap<string, Record<string, unknown>>

/** Separates the calls in a model's text from what a person sees. */
export interface PromptCallParser {
  /** Adds the next piece of the answer. Returns the text that can be shown now. */
  push(text: string): string
  /** Ends the answer. Returns the rest of the text. `cutOff`: it ended at the token limit, so a call may be incomplete. */
  end(options: { cutOff: boolean }): string
  /** The calls so far, in order. */
  readonly calls: readonly PromptCall[]
  /** Unreadable calls, as the model wrote them. */
  readonly faults: readonly PromptFault[]
}

/** A text that was meant as a call but is not a valid one, and what is wrong with it. */
export interface PromptFault {
  raw: string
  problem: string
}
