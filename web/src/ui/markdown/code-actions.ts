// What a reader can do with code in an answer, besides copying and saving it.
import { createContext } from 'react'

/** Provided by the chat; elsewhere, as in a file preview, code cannot be run. */
export type CodeActions = {
  /** Sends Python code as a message that asks to run it; null while nothing can be sent. */
  run: ((code: string) => void) | null
}

export const CodeActionsContext = createContext<CodeActions | null>(null)
