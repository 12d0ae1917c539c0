// Records what a provider's response contained, for the inspector of runs.
import { createGrowingText, wholeText } from '../lib/growing-text.ts'
import type { LlmEvent, ToolCall } from './client.ts'
import {
  addText,
  elapsedOf,
  MAX_ERROR_CHARACTERS,
  MAX_OUTPUT_CHARACTERS,
  type ProviderExchange,
} from './exchange.ts'

/** Records what a response contained. Cheap, because it is called for each batch of a stream. */
export function noteOutput(
  exchange: ProviderExchange | undefined,
  events: readonly LlmEvent[],
): void {
  if (exchange === undefined) return
  for (const event of events)
    switch (event.type) {
      case 'thinking_delta':
        if (!addText(exchange.thinking, event.text)) exchange.isCut = true
        break
      case 'text_delta':
        if (!addText(exchange.text, event.text)) exchange.isCut = true
        break
      case 'text_was_thinking':
        if (!addText(exchange.thinking, wholeText(exchange.text))) exchange.isCut = true
        exchange.text = createGrowingText()
        break
      case 'tool_call':
        noteCall(exchange, event.call)
        break
      case 'finished':
        exchange.finish = event.reason
        exchange.usage = event.estimated ? null : event.usage
        exchange.endMs = elapsedOf(exchange)
        break
      case 'failed':
        exchange.usage = event.usage ?? null
        exchange.error ??= event.error.message.slice(0, MAX_ERROR_CHARACTERS)
        exchange.endMs = elapsedOf(exchange)
    }
}

function noteCall(exchange: ProviderExchange, { name, arguments: text }: ToolCall): void {
  const kept = exchange.calls.reduce((sum, call) => sum + call.arguments.length, 0)
  const room = Math.max(0, MAX_OUTPUT_CHARACTERS - kept)
  if (text.length > room) exchange.isCut = true
  exchange.calls.push({ name, arguments: text.slice(0, room) })
}
