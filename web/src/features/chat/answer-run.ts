// The context with the run of the displayed answer, for deeply nested parts of it.
import { type ComponentType, createContext } from 'react'

/** `Requests` shows the cards of requests that a part of the answer has made, by their ids. */
export type AnswerRun = {
  /** Null if the answer has no run here, as in a copy. */
  runId: string | null
  Requests: ComponentType<{ ids: readonly string[] }>
}

/** Provided by each answer. */
export const RunContext = createContext<AnswerRun>({ runId: null, Requests: () => null })
