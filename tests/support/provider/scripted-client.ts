// A scripted `LlmClient`, for tests of the layers above it.

import { AppError } from '../../../server/errors.ts'
import type { LlmClient, LlmEvent, LlmRequest, ToolCall } from '../../../server/llm/client.ts'
import { CallId } from '../../../server/protocol/ids.ts'
import { type Said, say } from './llm.ts'

/** Produces what one response says, in batches. */
export type Script = (request: LlmRequest) => AsyncIterable<readonly Said[]>

export const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

/** Plays one script per request, in order, and records the requests. Stops when the signal aborts, like any client. */
export function scriptedClient(...scripts: Script[]): LlmClient & { requests: LlmRequest[] } {
  const requests: LlmRequest[] = []
  return {
    requests,
    async *stream(request) {
      const script = scripts[requests.push(request) - 1]
      if (script === undefined) throw new Error(`no script for request ${requests.length}`)
      for await (const batch of script(request)) {
        if (request.signal.aborted) break
        yield* say(batch, request.prose)
      }
      if (request.signal.aborted)
        yield { type: 'failed', error: new AppError('internal', 'aborted'), usage }
    },
  }
}

export const toolCall = (id: string, name = 'look', args = '{}'): ToolCall => ({
  id: CallId.parse(id),
  name,
  arguments: args,
})

/** A script that sends each part in its own batch and awaits `between` before each one. */
export const says = (
  said: readonly Said[],
  between: () => Promise<void> = async () => {},
): Script =>
  async function* () {
    for (const one of said) {
      await between()
      yield [one]
    }
  }

export const thinking = (text: string): Said => ({ type: 'thinking_delta', text })
export const text = (written: string): Said => ({ type: 'text_delta', text: written })
export const calling = (...calls: ToolCall[]): LlmEvent[] =>
  calls.map((call) => ({ type: 'tool_call', call }))
export const finished = (reason: 'stop' | 'tool_calls' | 'length' = 'stop'): LlmEvent => ({
  type: 'finished',
  reason,
  usage,
  estimated: false,
  model: 'scripted-1',
})
