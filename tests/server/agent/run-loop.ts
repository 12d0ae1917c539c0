// Runs the agent loop with scripted model responses and records its events, requests and tool calls.
import { type AgentLoopInput, type LoopEvent, runAgentLoop } from '../../../server/agent/loop.ts'
import type { LlmMessage, ToolCall } from '../../../server/llm/client.ts'
import type { Delta, ProseSink } from '../../../server/llm/prose.ts'
import type { CallResult } from '../../../server/tools/tool-result.ts'
import { type Script, scriptedClient } from '../../support/provider/scripted-client.ts'

/** The result of a tool call that succeeds. */
export const answerTo = (call: ToolCall): CallResult => ({
  call,
  content: `{"success":true,"data":"result of ${call.id}"}`,
  skipped: false,
  success: true,
  untrusted: false,
  ran: { durationMs: 0, reused: false },
})

/** The messages of the conversation when the loop begins. */
export const question: LlmMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Look it up.' },
]
const look = {
  type: 'function' as const,
  function: { name: 'look', description: 'Looks.', parameters: {} },
}

/** What the loop yields, and what the model writes meanwhile. */
export type SeenEvent = LoopEvent | Delta

/** What one run of the loop did. */
export interface LoopRun {
  events: SeenEvent[]
  requests: ReturnType<typeof scriptedClient>['requests']
  /** The calls of each batch that was passed to the tools. */
  batches: (readonly ToolCall[])[]
}

/** Runs the loop until it ends or `onEvent` returns `leave`. */
export async function run(
  scripts: Script[],
  more: Partial<AgentLoopInput> = {},
  onEvent: (event: SeenEvent, count: number) => 'leave' | undefined = () => undefined,
): Promise<LoopRun> {
  const llm = scriptedClient(...scripts)
  const batches: (readonly ToolCall[])[] = []
  const events: SeenEvent[] = []
  const leaves = (event: SeenEvent): boolean => {
    events.push(event)
    return onEvent(event, events.length) === 'leave'
  }
  const left = new Error('The consumer leaves.')
  const note = (delta: Delta): undefined => {
    if (leaves(delta)) throw left
  }
  const prose: ProseSink = {
    append: (kind, text) => note({ type: kind === 'text' ? 'text_delta' : 'thinking_delta', text }),
    textWasThinking: () => note({ type: 'text_was_thinking' }),
  }
  const runTools: AgentLoopInput['runTools'] =
    more.runTools ??
    async function* (calls) {
      for (const call of calls) yield answerTo(call)
    }
  const loop = runAgentLoop({
    llm,
    messages: question,
    tools: [look],
    request: {},
    maxIterations: 5,
    pendingCalls: [],
    budgetLeft: async () => true,
    fitToWindow: async (messages) => messages,
    prose,
    signal: new AbortController().signal,
    ...more,
    runTools(calls) {
      batches.push(calls)
      return runTools(calls)
    },
  })
  try {
    for await (const event of loop) if (leaves(event)) break
  } catch (error) {
    if (error !== left) throw error
  }
  return { events, requests: llm.requests, batches }
}

/** A short label for each event, for comparing sequences of events. */
export const inShort = (events: readonly SeenEvent[]): string[] =>
  events.map((event) => {
    switch (event.type) {
      case 'text_delta':
        return `text:${event.text}`
      case 'thinking_delta':
        return `thinking:${event.text}`
      case 'iteration':
        return `iteration:${event.calls.map(({ id }) => id).join('+')}${event.finish ?? ''}`
      case 'result':
        return `result:${event.result.call.id}`
      case 'failed':
        return `failed:${event.error.code}`
      default:
        return event.type
    }
  })
