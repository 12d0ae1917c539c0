// The interface through which a tool asks the person of its run for input while a call runs.
import type { CallId } from '../protocol/ids.ts'
import type { InputAnswer, InputQuestion } from '../protocol/runs/input.ts'

/** One question of a round. */
export interface RoundQuestion {
  /** The server's own name for the question; null if the server waits for the answer on an open connection. */
  key: string | null
  question: InputQuestion
}

/** Questions that are asked together. */
export interface InputRound {
  /** From 0, in the order in which the call asked. */
  number: number
  questions: readonly RoundQuestion[]
  /** State that the server requires back, unchanged, with the answers; null if there is none. */
  state: string | null
}

/** Asks the person on behalf of a tool call. The run implements it. */
export interface PersonInput {
  /** All rounds of the call so far, including those of attempts before a restart. */
  rounds(callId: CallId): Promise<InputRound[]>
  /**
   * Stores the round unless it is already stored. Resolves with its answers in the order of the questions; at once if a
   * person has already given them. Until then, the call counts as not begun, so that it may run again after a restart;
   * afterwards, it counts as begun. Rejects only if the run is aborted or the round cannot be stored.
   */
  ask(callId: CallId, round: InputRound): Promise<InputAnswer[]>
  /** Discards the questions of a call that has its result. */
  close(callId: CallId): Promise<void>
}
