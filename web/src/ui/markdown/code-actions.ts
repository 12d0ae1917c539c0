// The context for actions on code blocks, besides copying and saving.
import { createContext } from 'react'

/** The chat provides it. Elsewhere, as in a file preview, code cannot be run. */
export type CodeActions = {
  /** Sends Python code as a message that asks to run it; null while nothing can be sent. */
  run: ((code: string) => void) | null
}

/** Null outside the chat. */
export const CodeActionsContext = createContext<CodeActions | null>(null)
