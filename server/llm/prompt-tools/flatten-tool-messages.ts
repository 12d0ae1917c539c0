// Renders a history with tool calls as plain text, for models without function calling.
import { framedText } from '../../lib/framed-text.ts'
import type { LlmMessage, ModelImage, ToolCall } from '../client.ts'

/** How tool calls and results become text for a model without function calling. */
export interface FlattenOptions {
  /** Formats a call for the assistant's text. */
  writeCall(call: ToolCall): string
  /** `tool`: results remain messages of the role `tool`; `user`: they become user messages. */
  results: 'tool' | 'user'
}

/** Calls become assistant text. Results become messages of the role in `options`; adjacent result texts are joined. */
export function flattenToolMessages(
  messages: readonly LlmMessage[],
  options: FlattenOptions,
): LlmMessage[] {
  const flat: LlmMessage[] = []
  let results: string[] = []
  let images: ModelImage[] = []
  const flush = () => {
    if (results.length > 0)
      flat.push({ role: 'user', content: results.join('\n\n'), ...imagesOf(images) })
    results = []
    images = []
  }
  for (const message of messages) {
    if (message.role === 'tool' && options.results === 'user') {
      results.push(
        framedText('tool_result', message.content, ` name=${JSON.stringify(message.name)}`),
      )
      images.push(...(message.images ?? []))
      continue
    }
    if (message.role === 'user' && results.length > 0) {
      // The chat templates of some models reject two consecutive user messages.
      const { context, ...rest } = message
      const parts = [...results, ...(context === undefined ? [] : [context]), message.content]
      const all = imagesOf([...images, ...(message.images ?? [])])
      flat.push({ ...rest, ...all, content: parts.join('\n\n') })
      results = []
      images = []
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

const imagesOf = (images: readonly ModelImage[]): { images?: readonly ModelImage[] } =>
  images.length === 0 ? {} : { images }
