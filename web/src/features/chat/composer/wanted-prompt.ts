// What the person chose and still has to fill in: a prompt of an MCP server or of their own, or the address of a resource.
import { create } from 'zustand'

/**
 * A prompt with empty fields, drawn by `PromptForm`; `key` tells two prompts of the same title
 * apart.
 */
export type WantedPrompt = {
  key: string
  title: string
  description: string | undefined
  fields: readonly { name: string; description?: string | undefined; required: boolean }[]
  /** What is done with the values. Default: the text goes into the message. */
  submit?: 'insert' | 'attach'
  /** The text with the values of the fields; null when nothing is put into the message. */
  fill(values: Readonly<Record<string, string>>): string | null | Promise<string>
}

export const useWantedPrompt = create<{ prompt: WantedPrompt | null }>(() => ({ prompt: null }))

/** Opens the form for the fields of a prompt; null closes it. */
export const askForFields = (prompt: WantedPrompt | null): void =>
  useWantedPrompt.setState({ prompt })
