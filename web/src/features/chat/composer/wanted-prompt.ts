// Which prompt of an MCP server the person chose and still has to fill in.
import { create } from 'zustand'
import type { McpPrompt } from '../../../../../server/protocol/mcp.ts'

export const useWantedPrompt = create<{ prompt: McpPrompt | null }>(() => ({ prompt: null }))

/** Opens the form for the arguments of a prompt; null closes it. */
export const askForArguments = (prompt: McpPrompt | null): void =>
  useWantedPrompt.setState({ prompt })
