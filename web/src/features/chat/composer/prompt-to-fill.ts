// The prompt or resource that the user chose and has to fill in: of an MCP server, or a saved prompt.
import { create } from 'zustand'

/** A prompt with empty fields, shown by `PromptForm`. `key` distinguishes prompts with the same title. */
export type PromptToFill = {
  key: string
  title: string
  description: string | undefined
  fields: readonly { name: string; description?: string | undefined; required: boolean }[]
  /** What submitting does: `insert` (default) inserts the text into the message. */
  submit?: 'insert' | 'attach'
  /** Resolves with the filled-in text; null if nothing goes into the message. */
  fill(values: Readonly<Record<string, string>>): string | null | Promise<string>
}

export const usePromptToFill = create<{ prompt: PromptToFill | null }>(() => ({ prompt: null }))

/** Opens the form for the fields of a prompt; null closes it. */
export const askForFields = (prompt: PromptToFill | null): void =>
  usePromptToFill.setState({ prompt })
