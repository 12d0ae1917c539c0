// The tools that a history has calls of: their names, and definitions for requests without tools where providers insist on some.
import type { LlmMessage, ToolSchema } from './client.ts'

/** Of the names of tools, in each of the APIs. */
const MAX_NAME_LENGTH = 64

/** Providers reject a history with the name of a tool that a model made up, unless it looks like one. */
export const sendableName = (name: string): string =>
  name.slice(0, MAX_NAME_LENGTH).replace(/[^a-zA-Z0-9_-]/g, '_')

/** One for each name, sorted. The tools themselves may be gone, so the model must be told not to call any. */
export function calledTools(messages: readonly LlmMessage[]): ToolSchema[] {
  const names = new Set(
    messages.flatMap((message) =>
      message.role === 'assistant'
        ? (message.toolCalls ?? []).map(({ name }) => sendableName(name))
        : [],
    ),
  )
  return [...names].sort().map((name) => ({
    type: 'function',
    function: {
      name,
      description: 'Not available any more.',
      parameters: { type: 'object', properties: {} },
    },
  }))
}
