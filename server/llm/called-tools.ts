// Definitions of the tools that a history has calls of, for requests without tools to providers that insist on some.
import type { LlmMessage, ToolSchema } from './client.ts'

/** One for each name, sorted. The tools themselves may be gone, so the model must be told not to call any. */
export function calledTools(messages: readonly LlmMessage[]): ToolSchema[] {
  const names = new Set(
    messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []).map(({ name }) => name) : [],
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
