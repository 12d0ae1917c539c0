// The context for actions on code blocks, besides copying and saving.
import { type ComponentType, createContext } from 'react'

/** What a component needs to show a program that runs. */
export type ProgramRunProps = {
  code: string
  /** Removes it again. */
  onClose: () => void
}

/** The chat provides it. Elsewhere, as in a file preview, code cannot be run. */
export type CodeActions = {
  /** Runs Python code when it is mounted, and shows what it does; null where Python cannot be run. */
  ProgramRun: ComponentType<ProgramRunProps> | null
}

/** Null outside the chat. */
export const CodeActionsContext = createContext<CodeActions | null>(null)
