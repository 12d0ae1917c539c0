// A history with tool calls, told in plain text, for models that know no function calling.
import type { LlmMessage, ToolCall } from './client.ts'

export interface FlattenOptions {
  /** How a call is written in the assistant's text. */
  writeCall(call: ToolCall): string
  /** `tool`: results stay messages of the role `tool`; `user`: they become text of the user. */
  results: 'tool' | 'user'
}

/** Calls become text of the assistant, results follow as the options say; neighbouring result texts are joined. */
export function flattenToolMessages(
  messages: readonly LlmMessage[],
  options: FlattenOptions,
): LlmMessage[] {
  const flat: LlmMessage[] = []
  let results: string[] = []
  const flush = () => {
    if (results.length > 0) flat.push({ role: 'user', content: results.join('\n\n') })
    results = []
  }
  for (const message of messages) {
    if (message.role === 'tool' && options.results === 'user') {
      results.push(`[Result of ${message.name}]\n${message.content}`)
      continue
    }
    if (message.role === 'user' && results.length > 0) {
      // Two messages of the user in a row are refused by some models' templates.
      flat.push({ ...message, content: [...results, message.content].join('\n\n') })
      results = []
      continue
    }
    flush()
    if (message.role !== 'assistant' || (message.toolCalls ?? []).length === 0) flat.push(message)
    else {
      const calls = (message.toolCalls ?? []).map(options.writeCall)
      const content = [message.content, ...calls].filter((part) => part !== '').join('\n\n')
      flat.push({ role: 'assistant', content })
    }
  }
  flush()
  return flat
}
