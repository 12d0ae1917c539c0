// Which prompt the person chose and still has to fill in: of an MCP server, or one that they saved.
import { create } from 'zustand'

export type WantedPrompt = {
  key: string
  title: string
  description: string | undefined
  fields: readonly { name: string; description?: string | undefined; required: boolean }[]
  /** The text with the values of the fields. */
  fill(values: Readonly<Record<string, string>>): string | Promise<string>
}

export const useWantedPrompt = create<{ prompt: WantedPrompt | null }>(() => ({ prompt: null }))

/** Opens the form for the fields of a prompt; null closes it. */
export const askForFields = (prompt: WantedPrompt | null): void =>
  useWantedPrompt.setState({ prompt })
