// Translates the events and steps of a run into chat completions.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatFinishReason,
  ChatToolCall,
  ChatUsage,
} from '../protocol/openai/chat-completions.ts'
import { openAiError } from '../protocol/openai/error.ts'
import type { FinishReason, RunEvent } from '../protocol/runs/run-event.ts'
import type { Step } from '../protocol/runs/step.ts'
import { type Usage, usageOfRun } from '../protocol/runs/usage.ts'
import { readRunOptions, readRunState } from '../runs/state.ts'
import { clientCallId, programModelName } from './names.ts'
import { customInput } from './offered-tools.ts'
import { failureStatus } from './run-failure.ts'
import { type ClientTools, clientToolsOf, createTextTracker } from './run-text.ts'

type ShownRun = Pick<RunRow, 'id' | 'model' | 'createdAt' | 'options'>

const FINISH_REASONS: Record<FinishReason, ChatFinishReason> = {
  stop: 'stop',
  stopped: 'stop',
  length: 'length',
  max_iterations: 'length',
  budget: 'length',
  tool_calls: 'tool_calls',
}

const headOf = (run: ShownRun) => ({
  id: `chatcmpl-${run.id}`,
  created: Math.floor(run.createdAt.getTime() / 1_000),
  model: programModelName(run.model),
})

const chatUsage = (usage: Usage): ChatUsage => ({
  prompt_tokens: usage.prompt_tokens,
  completion_tokens: usage.completion_tokens,
  total_tokens: usage.total_tokens,
  prompt_tokens_details: { cached_tokens: usage.cached_tokens },
})

/** The call in the form in which its tool was offered; null for a call of a tool of the server. */
function callOf(
  run: ShownRun,
  step: Extract<Step, { type: 'tool_call' }>,
  clientTools: ClientTools,
): ChatToolCall | null {
  const tool = clientTools.get(step.name)
  if (tool === undefined) return null
  const id = clientCallId(run.id, step.id_ref)
  const name = tool.offeredAs?.name ?? step.name
  return tool.offeredAs?.isCustom === true
    ? { id, type: 'custom', custom: { name, input: customInput(step.arguments) } }
    : { id, type: 'function', function: { name: step.name, arguments: step.arguments } }
}

const warningsOf = ({ options }: ShownRun): { warnings?: string[] } => {
  const { warnings } = readRunOptions(options)
  return warnings === undefined ? {} : { warnings }
}

/** Writes one streamed completion: returns the payloads of each event of the run, in order. */
export function createChunkWriter(
  run: ShownRun,
  { includeUsage }: { includeUsage: boolean },
): (event: RunEvent) => (ChatCompletionChunk | { error: object } | '[DONE]')[] {
  const clientTools = clientToolsOf(run)
  const text = createTextTracker()
  let calls = 0
  const chunk = (
    delta: ChatCompletionChunk['choices'][number]['delta'],
    finish: ChatFinishReason | null = null,
  ): ChatCompletionChunk => ({
    ...headOf(run),
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(includeUsage ? { usage: null } : {}),
  })
  return (event) => {
    const piece = text.take(event)
    if (piece !== null)
      return [
        chunk(
          piece.type === 'thinking' ? { reasoning_content: piece.text } : { content: piece.text },
        ),
      ]
    switch (event.event) {
      case 'run':
        return [{ ...chunk({ role: 'assistant', content: '' }), ...warningsOf(run) }]
      case 'process_step': {
        const { step } = event
        const call = step.type === 'tool_call' ? callOf(run, step, clientTools) : null
        return call === null ? [] : [chunk({ tool_calls: [{ index: calls++, ...call }] })]
      }
      case 'done': {
        const { receipt } = event
        const end = {
          ...chunk({}, FINISH_REASONS[event.finish_reason]),
          ...(receipt === undefined ? {} : { nanoclaw: { receipt } }),
        }
        const usage = { ...chunk({}), choices: [], usage: chatUsage(event.usage) }
        return [end, ...(includeUsage ? [usage] : []), '[DONE]']
      }
      case 'error': {
        const { content: message, code, reason } = event
        const status = failureStatus(event)
        return [{ error: openAiError({ status, message, code: reason ?? code }) }]
      }
      default:
        return []
    }
  }
}

/** The whole completion of a run that ended without an error. */
export function chatCompletionOf(
  run: ShownRun &
    Pick<
      RunRow,
      'state' | 'finishReason' | 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'cost'
    >,
  steps: readonly Step[],
): ChatCompletion {
  const clientTools = clientToolsOf(run)
  const { receipt } = readRunState(run.state)
  const join = (type: 'text' | 'thinking'): string =>
    steps.flatMap((step) => (step.type === type ? [step.content] : [])).join('\n\n')
  const text = join('text')
  const thinking = join('thinking')
  const calls = steps.flatMap((step) =>
    step.type === 'tool_call' ? (callOf(run, step, clientTools) ?? []) : [],
  )
  return {
    ...headOf(run),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          ...(thinking === '' ? {} : { reasoning_content: thinking }),
          refusal: null,
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: FINISH_REASONS[run.finishReason ?? 'stop'],
      },
    ],
    usage: chatUsage(usageOfRun(run)),
    ...warningsOf(run),
    ...(receipt === undefined ? {} : { nanoclaw: { receipt } }),
  }
}
