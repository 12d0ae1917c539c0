// The words in which prompt mode speaks of calls: what was read, and what reads them.

export interface PromptCall {
  name: string
  /** JSON text. */
  arguments: string
}

/** `text`: ordinary JSON or prose. `fault`: meant as a call, and can't be read. */
export type Reading =
  | { kind: 'calls'; calls: PromptCall[] }
  | { kind: 'text' }
  | { kind: 'fault'; problem: string }

/** Name of each offered tool → its parameters as JSON Schema. */
export type KnownTools = ReadonlyMap<string, Record<string, unknown>>

export interface PromptCallParser {
  /** The next piece of the answer; what of it is to be shown now. */
  push(text: string): string
  /** The answer is over; what is still to be shown. `cutOff`: it ended at the token limit, so a call may be incomplete. */
  end(options: { cutOff: boolean }): string
  /** Calls so far, in their order. */
  readonly calls: readonly PromptCall[]
  /** What was meant as a call and can't be read, as the model wrote it. */
  readonly faults: readonly PromptFault[]
}

export interface PromptFault {
  raw: string
  problem: string
}
