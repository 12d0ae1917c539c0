// Runs the agent loop with scripted model responses and records its events, requests and tool calls.
import { type AgentLoopInput, type LoopEvent, runAgentLoop } from '../../../server/agent/loop.ts'
import type { LlmMessage, ToolCall } from '../../../server/llm/client.ts'
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

/** What one run of the loop did. */
export interface LoopRun {
  events: LoopEvent[]
  requests: ReturnType<typeof scriptedClient>['requests']
  /** The calls of each batch that was passed to the tools. */
  batches: (readonly ToolCall[])[]
}

/** Runs the loop until it ends or `onEvent` returns `leave`. */
export async function run(
  scripts: Script[],
  more: Partial<AgentLoopInput> = {},
  onEvent: (event: LoopEvent, count: number) => 'leave' | undefined = () => undefined,
): Promise<LoopRun> {
  const llm = scriptedClient(...scripts)
  const batches: (readonly ToolCall[])[] = []
  const events: LoopEvent[] = []
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
    signal: new AbortController().signal,
    ...more,
    runTools(calls) {
      batches.push(calls)
      return runTools(calls)
    },
  })
  for await (const event of loop) {
    events.push(event)
    if (onEvent(event, events.length) === 'leave') break
  }
  return { events, requests: llm.requests, batches }
}

/** A short label for each event, for comparing sequences of events. */
export const inShort = (events: readonly LoopEvent[]): string[] =>
  events.map((event) => {
    switch (event.type) {
      case 'prose':
        return `${event.kind}:${event.text}`
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
