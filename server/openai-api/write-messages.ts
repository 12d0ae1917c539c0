// Translates the events and steps of a run into messages and events in Anthropic's format.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { anthropicError } from '../protocol/anthropic/error.ts'
import type { AnthropicMessage, StopReason } from '../protocol/anthropic/messages.ts'
import type { FinishReason, RunEvent } from '../protocol/runs/run-event.ts'
import type { Step } from '../protocol/runs/step.ts'
import { type Usage, usageOfRun } from '../protocol/runs/usage.ts'
import { readRunOptions } from '../runs/state.ts'
import { clientCallId, programModelName } from './names.ts'
import { failureStatus } from './run-failure.ts'
import { type ClientTools, clientToolsOf, createTextTracker } from './run-text.ts'

type ShownRun = Pick<RunRow, 'id' | 'model' | 'options'>
type Content = AnthropicMessage['content'][number]
/** An event of a streamed message. */
export type MessageEvent = { type: string } & Record<string, unknown>

const STOP_REASONS: Record<FinishReason, StopReason> = {
  stop: 'end_turn',
  stopped: 'end_turn',
  length: 'max_tokens',
  max_iterations: 'max_tokens',
  budget: 'max_tokens',
  tool_calls: 'tool_use',
}

/** Anthropic counts cached tokens apart from the others. */
const messageUsage = (usage: Usage): AnthropicMessage['usage'] => ({
  input_tokens: Math.max(0, usage.prompt_tokens - usage.cached_tokens),
  output_tokens: usage.completion_tokens,
  cache_read_input_tokens: usage.cached_tokens,
  cache_creation_input_tokens: 0,
})
const NO_USAGE: AnthropicMessage['usage'] = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
}

function messageOf(run: ShownRun): Omit<AnthropicMessage, 'content' | 'stop_reason' | 'usage'> {
  const { warnings } = readRunOptions(run.options)
  return {
    id: `msg_${run.id}`,
    type: 'message',
    role: 'assistant',
    model: programModelName(run.model),
    stop_sequence: null,
    ...(warnings === undefined ? {} : { warnings }),
  }
}

/** The block of a call of a tool of the program; null for a call of a tool of the server. */
function toolUseOf(
  run: ShownRun,
  step: Extract<Step, { type: 'tool_call' }>,
  clientTools: ClientTools,
): Extract<Content, { type: 'tool_use' }> | null {
  if (!clientTools.has(step.name)) return null
  return {
    type: 'tool_use',
    id: clientCallId(run.id, step.id_ref),
    name: step.name,
    input: readInput(step.arguments),
  }
}

/** The arguments as an object, which this format requires. */
function readInput(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : { value }
  } catch {
    return { unreadable: text.slice(0, 2_000) }
  }
}

/** The whole message of a run that ended without an error. */
export function anthropicMessageOf(run: RunRow, steps: readonly Step[]): AnthropicMessage {
  const clientTools = clientToolsOf(run)
  const content = steps.flatMap((step): Content[] => {
    if (step.type === 'text') return [{ type: 'text', text: step.content }]
    if (step.type === 'thinking')
      return [{ type: 'thinking', thinking: step.content, signature: '' }]
    const use = step.type === 'tool_call' ? toolUseOf(run, step, clientTools) : null
    return use === null ? [] : [use]
  })
  return {
    ...messageOf(run),
    content,
    stop_reason: STOP_REASONS[run.finishReason ?? 'stop'],
    usage: messageUsage(usageOfRun(run)),
  }
}

/** Writes one streamed message: returns the events for each event of the run, in order. */
export function createMessageWriter(run: RunRow): (event: RunEvent) => MessageEvent[] {
  const clientTools = clientToolsOf(run)
  const tracker = createTextTracker()
  let blocks = 0
  /** The text or thinking that is arriving. */
  let open: { step: number; index: number } | null = null
  const begin = (block: Content): MessageEvent => ({
    type: 'content_block_start',
    index: blocks++,
    content_block: block,
  })
  const close = (): MessageEvent[] => {
    const ended = open
    open = null
    return ended === null ? [] : [{ type: 'content_block_stop', index: ended.index }]
  }
  const addText = (type: 'text' | 'thinking', step: number, text: string): MessageEvent[] => {
    const events: MessageEvent[] = []
    if (open?.step !== step) {
      events.push(...close())
      open = { step, index: blocks }
      events.push(
        begin(type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' }),
      )
    }
    const delta =
      type === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text }
    return [...events, { type: 'content_block_delta', index: open.index, delta }]
  }
  return (event) => {
    const piece = tracker.take(event)
    // Blocks are separate, so that the empty line between texts is not needed.
    if (piece !== null)
      return addText(
        piece.type,
        piece.index,
        open?.step === piece.index ? piece.text : piece.text.replace(/^\n\n/, ''),
      )
    switch (event.event) {
      case 'run': {
        const message = { ...messageOf(run), content: [], stop_reason: null, usage: NO_USAGE }
        return [{ type: 'message_start', message }]
      }
      case 'process_step': {
        const { step } = event
        const use = step.type === 'tool_call' ? toolUseOf(run, step, clientTools) : null
        if (use === null) return []
        const index = blocks
        const json = JSON.stringify(use.input)
        return [
          ...close(),
          begin({ ...use, input: {} }),
          {
            type: 'content_block_delta',
            index,
            delta: { type: 'input_json_delta', partial_json: json },
          },
          { type: 'content_block_stop', index },
        ]
      }
      case 'done':
        return [
          ...close(),
          {
            type: 'message_delta',
            delta: { stop_reason: STOP_REASONS[event.finish_reason], stop_sequence: null },
            usage: messageUsage(event.usage),
          },
          { type: 'message_stop' },
        ]
      case 'error': {
        const { content: message, code, reason } = event
        const status = failureStatus(event)
        return [{ type: 'error', error: anthropicError({ status, message, code: reason ?? code }) }]
      }
      default:
        return []
    }
  }
}
