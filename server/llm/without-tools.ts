// Wraps a client for models without tools (`tool_mode: none`).
import type { LlmClient } from './client.ts'
import { flattenToolMessages } from './prompt-tools/flatten-tool-messages.ts'

/** Sends no tools, and renders tool calls in the history as plain text. */
export const withoutTools = (client: LlmClient): LlmClient => ({
  stream({ toolChoice: _none, ...request }) {
    const messages = flattenToolMessages(request.messages, {
      writeCall: (call) => `(called ${call.name} with ${call.arguments})`,
      results: 'user',
    })
    return client.stream({ ...request, messages, tools: [] })
  },
})
