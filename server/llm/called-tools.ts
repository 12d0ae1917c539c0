// The tools whose calls a history contains: their names, and definitions for requests without tools to providers that
// require some.
import type { LlmMessage, ToolSchema } from './client.ts'

/** The maximum length of tool names in each of the APIs. */
const MAX_NAME_LENGTH = 64

/** Providers reject a history that contains a made-up tool name, unless it has the form of one. */
export const sendableName = (name: string): string =>
  name.slice(0, MAX_NAME_LENGTH).replace(/[^a-zA-Z0-9_-]/g, '_')

/** One definition per name, sorted. The tools may no longer exist, so tell the model not to call any. */
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
