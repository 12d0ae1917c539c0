// What one sub-agent has done: its stored events, and the state that they lead to.
import { z } from 'zod'
import type { LlmMessage, ToolCall } from '../llm/client.ts'
import { CallId } from '../protocol/ids.ts'
import { SubAgentWork } from '../protocol/runs/run-timeline.ts'

export const SubAgentOutcome = z.discriminatedUnion('success', [
  z.object({ success: z.literal(true), response: z.string() }),
  z.object({ success: z.literal(false), error: z.string() }),
])

/** How a sub-agent ended: its answer, or why it failed. */
export type SubAgentOutcome = z.infer<typeof SubAgentOutcome>

/** What led to an event, for the run's timeline; absent if nothing counts. */
const work = SubAgentWork.optional()

/** An event is stored before it takes effect, so that a restart continues after the last one. */
export const SubAgentEvent = z.discriminatedUnion('type', [
  /** A model call ended with tool calls. */
  z.object({
    type: z.literal('iteration'),
    text: z.string(),
    reasoning: z.string(),
    calls: z.array(z.object({ id: CallId, name: z.string(), arguments: z.string() })),
    /** Data that the provider requires back with the calls. */
    carry: z.string().optional(),
    work,
  }),
  /** A call that is not safe to repeat, or that a grant lets through, is about to run. */
  z.object({ type: z.literal('begun'), id: CallId, grant_id: z.string().optional(), work }),
  z.object({
    type: z.literal('result'),
    id: CallId,
    success: z.boolean(),
    content: z.string(),
    work,
  }),
  z.object({ type: z.literal('ended'), outcome: SubAgentOutcome, work }),
])

/** One entry of a sub-agent's log, as it is stored. */
export type SubAgentEvent = z.infer<typeof SubAgentEvent>

/** A call of a sub-agent; `grantId` if a grant let it through, and `success` null until it has a result. */
export type LoggedCall = ToolCall & { begun: boolean; grantId?: string; success: boolean | null }

/** The state of a sub-agent after its events so far. A restart continues from here. */
export interface SubAgentLog {
  /** The messages after the task itself. */
  readonly messages: readonly LlmMessage[]
  /** All calls, in the order in which they were made. */
  readonly calls: readonly LoggedCall[]
  readonly iterations: number
  /** Null until the sub-agent has ended. */
  readonly outcome: SubAgentOutcome | null
  add(event: SubAgentEvent): void
}

/** Creates a log that contains these events. */
export function createSubAgentLog(events: readonly SubAgentEvent[]): SubAgentLog {
  const messages: LlmMessage[] = []
  const calls: LoggedCall[] = []
  let iterations = 0
  let outcome: SubAgentOutcome | null = null

  function add(event: SubAgentEvent): void {
    switch (event.type) {
      case 'iteration':
        iterations += 1
        messages.push({
          role: 'assistant',
          content: event.text,
          ...(event.reasoning === '' ? {} : { reasoning: event.reasoning }),
          toolCalls: event.calls,
          ...(event.carry === undefined ? {} : { carry: event.carry }),
        })
        calls.push(...event.calls.map((call) => ({ ...call, begun: false, success: null })))
        break
      case 'begun': {
        const call = calls.find(({ id }) => id === event.id)
        if (call === undefined) break
        call.begun = true
        if (event.grant_id !== undefined) call.grantId = event.grant_id
        break
      }
      case 'result': {
        const call = calls.find(({ id }) => id === event.id)
        if (call === undefined || call.success !== null) break
        call.success = event.success
        messages.push({ role: 'tool', callId: call.id, name: call.name, content: event.content })
        break
      }
      case 'ended':
        outcome = event.outcome
    }
  }

  for (const event of events) add(event)
  return {
    messages,
    calls,
    get iterations() {
      return iterations
    },
    get outcome() {
      return outcome
    },
    add,
  }
}
