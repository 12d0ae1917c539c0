// A short model call outside the conversation: no tools, no thinking.
import type { LlmClient } from '../llm/client.ts'
import { gatherProse } from '../llm/prose.ts'
import { NO_TOKENS } from '../llm/usage.ts'
import type { CallUsage } from './run-scope.ts'

/** One question with one answer. `maxTokens` limits the answer. */
export interface ShortCall {
  system: string
  user: string
  maxTokens: number
}

/** Returns the model's text and the usage of the call. The text is null if the call failed or was aborted. Never throws. */
export async function callBriefly(
  llm: LlmClient,
  { system, user, maxTokens }: ShortCall,
  signal: AbortSignal,
): Promise<{ text: string | null; used: CallUsage }> {
  const prose = gatherProse(MAX_CHARACTERS)
  const request = {
    messages: [
      { role: 'system' as const, content: system },
      { role: 'user' as const, content: user },
    ],
    tools: [],
    maxTokens,
    thinking: false,
    prose,
    signal,
  }
  for await (const event of llm.stream(request)) {
    if (event.type === 'finished')
      return { text: prose.text, used: { usage: event.usage, model: event.model } }
    if (event.type === 'failed')
      return { text: null, used: { usage: event.usage ?? NO_TOKENS, model: '' } }
  }
  return { text: prose.text, used: { usage: NO_TOKENS, model: '' } }
}

/** More characters than any title or summary needs. Models may ignore their token limit. */
const MAX_CHARACTERS = 50_000
