// A client for models that are not to be offered tools (`tool_mode: none`).
import type { LlmClient } from './client.ts'
import { flattenToolMessages } from './flatten-tool-messages.ts'

/** Offers no tools, and tells calls of an earlier model in the conversation as plain text. */
export const withoutTools = (client: LlmClient): LlmClient => ({
  stream({ toolChoice: _none, ...request }) {
    const messages = flattenToolMessages(request.messages, {
      writeCall: (call) => `(called ${call.name} with ${call.arguments})`,
      results: 'user',
    })
    return client.stream({ ...request, messages, tools: [] })
  },
})
