// One short model call beside the conversation: without tools, without thinking, within a time limit.
import type { LlmClient } from '../llm/client.ts'
import type { CallUsage } from './run-scope.ts'

export interface ShortCall {
  system: string
  user: string
  maxTokens: number
  timeoutMs: number
}

/** What the model wrote, null when the call failed or took too long; and what the call used. Never throws. */
export async function callBriefly(
  llm: LlmClient,
  { system, user, maxTokens, timeoutMs }: ShortCall,
  signal: AbortSignal,
): Promise<{ text: string | null; used: CallUsage }> {
  const request = {
    messages: [
      { role: 'system' as const, content: system },
      { role: 'user' as const, content: user },
    ],
    tools: [],
    maxTokens,
    thinking: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  }
  let text = ''
  for await (const batch of llm.stream(request))
    for (const event of batch) {
      if (event.type === 'text_delta' && text.length < MAX_CHARACTERS) text += event.text
      if (event.type === 'finished')
        return { text, used: { usage: event.usage, model: event.model } }
      if (event.type === 'failed')
        return { text: null, used: { usage: event.usage ?? NO_USAGE, model: '' } }
    }
  return { text, used: { usage: NO_USAGE, model: '' } }
}

/** More than any title or summary has; a model may ignore its limit of tokens. */
const MAX_CHARACTERS = 50_000
const NO_USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
