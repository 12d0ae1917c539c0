// Think, act, observe, again: the loop itself, without database, HTTP or queue.
import { AppError } from '../errors.ts'
import type { LlmClient, LlmMessage, LlmRequest, ToolCall, ToolSchema } from '../llm/client.ts'
import { CallId } from '../protocol/ids.ts'
import type { FinishReason, Usage } from '../protocol/run-event.ts'
import type { ToolAnswer } from '../tools/answer.ts'

/** What happens in a run, in order. Whoever consumes the loop stores and shows it before asking for more. */
export type LoopEvent =
  | { type: 'prose'; kind: 'thinking' | 'text'; text: string }
  /** The model's round ended; `calls` are complete and about to be run. */
  | {
      type: 'round'
      usage: Usage
      model: string
      calls: readonly ToolCall[]
      /** Set when nothing follows. */
      finish: FinishReason | null
    }
  | { type: 'answer'; answer: ToolAnswer }
  | { type: 'retrying'; attempt: number; delayMs: number; reason: string }
  | { type: 'failed'; error: AppError; usage: Usage | undefined }
  | { type: 'stopped'; usage: Usage | undefined }

export interface AgentLoopInput {
  llm: LlmClient
  messages: readonly LlmMessage[]
  tools: readonly ToolSchema[]
  request: Pick<LlmRequest, 'toolChoice' | 'temperature' | 'maxTokens' | 'thinking'>
  /** Rounds with tools; then one more without, so that the model answers with what it has. */
  maxRounds: number
  /** Calls left from before a restart: run first, without asking the model. */
  pendingCalls: readonly ToolCall[]
  /** Runs one round's calls and tells the answers in the order of the calls. Never throws but on abort. */
  runTools(calls: readonly ToolCall[]): AsyncIterable<ToolAnswer>
  /** Asked before each round: a reason not to start it (a token budget is used up). */
  budgetLeft(): Promise<boolean>
  /** Fits the messages to the model's window before each round. */
  fitToWindow(messages: readonly LlmMessage[]): Promise<readonly LlmMessage[]>
  signal: AbortSignal
}

const LAST_ROUND_NOTE =
  'The limit of tool calls for this answer is reached. Answer now with what you have, without calling tools.'

/**
 * Runs until the model answers without calling tools, a limit is reached, the model fails or the signal aborts.
 * Contract: never throws; the last event is `round` with a `finish`, `failed` or `stopped`.
 */
export async function* runAgentLoop(input: AgentLoopInput): AsyncGenerator<LoopEvent, void> {
  const messages = [...input.messages]
  let calls = input.pendingCalls
  let round = 0
  for (;;) {
    if (calls.length > 0) {
      const answered = yield* act(input, calls)
      if (!answered.complete) {
        yield { type: 'stopped', usage: undefined }
        return
      }
      messages.push(...answered.messages)
    }
    if (input.signal.aborted) {
      yield { type: 'stopped', usage: undefined }
      return
    }
    if (!(await input.budgetLeft())) {
      yield { type: 'round', usage: noUsage, model: '', calls: [], finish: 'budget' }
      return
    }
    const isLast = round >= input.maxRounds
    const thought = yield* think(input, messages, { isFirst: round === 0, isLast })
    if (thought === null) return
    round += 1
    calls = isLast ? [] : withUniqueIds(thought.calls, messages)
    const finish: FinishReason | null =
      calls.length > 0 ? null : isLast ? 'max_iterations' : thought.length ? 'length' : 'stop'
    yield { type: 'round', usage: thought.usage, model: thought.model, calls, finish }
    if (finish !== null) return
    messages.push({
      role: 'assistant',
      content: thought.text,
      ...(thought.reasoning === '' ? {} : { reasoning: thought.reasoning }),
      toolCalls: calls,
    })
  }
}

/** Some providers count their call ids from zero in every round; within a run an id must name one call. */
function withUniqueIds(calls: readonly ToolCall[], messages: readonly LlmMessage[]): ToolCall[] {
  const used = new Set(
    messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => call.id) : [],
    ),
  )
  return calls.map((call) => {
    let { id } = call
    for (let count = 2; used.has(id); count += 1) id = CallId.parse(`${call.id}-${count}`)
    used.add(id)
    return { ...call, id }
  })
}

const noUsage: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

async function* act(
  input: AgentLoopInput,
  calls: readonly ToolCall[],
): AsyncGenerator<LoopEvent, { complete: boolean; messages: LlmMessage[] }> {
  const messages: LlmMessage[] = []
  try {
    for await (const answer of input.runTools(calls)) {
      if (input.signal.aborted) break
      messages.push({
        role: 'tool',
        callId: answer.call.id,
        name: answer.call.name,
        content: answer.content,
      })
      yield { type: 'answer', answer }
    }
  } catch (error) {
    if (!input.signal.aborted) throw error
  }
  return { complete: messages.length === calls.length, messages }
}

interface Thought {
  text: string
  reasoning: string
  calls: ToolCall[]
  usage: Usage
  model: string
  length: boolean
}

/** One answer of the model; null when it failed or was stopped (which has been told). */
async function* think(
  input: AgentLoopInput,
  messages: readonly LlmMessage[],
  { isFirst, isLast }: { isFirst: boolean; isLast: boolean },
): AsyncGenerator<LoopEvent, Thought | null> {
  const fitted = await input.fitToWindow(
    isLast ? [...messages, { role: 'user', content: LAST_ROUND_NOTE }] : messages,
  )
  const thought: Thought = {
    text: '',
    reasoning: '',
    calls: [],
    usage: noUsage,
    model: '',
    length: false,
  }
  const { toolChoice, ...settings } = input.request
  const request: LlmRequest = {
    ...settings,
    messages: fitted,
    tools: isLast ? [] : input.tools,
    signal: input.signal,
    // Only the first round: a forced call in every round would never let the model answer.
    ...(toolChoice !== undefined && isFirst && !isLast && input.tools.length > 0
      ? { toolChoice }
      : {}),
  }
  for await (const batch of input.llm.stream(request))
    for (const event of batch) {
      switch (event.type) {
        case 'thinking_delta':
          thought.reasoning += event.text
          yield { type: 'prose', kind: 'thinking', text: event.text }
          break
        case 'text_delta':
          thought.text += event.text
          yield { type: 'prose', kind: 'text', text: event.text }
          break
        case 'tool_call':
          thought.calls.push(event.call)
          break
        case 'retrying':
          yield event
          break
        case 'finished':
          thought.usage = event.usage
          thought.model = event.model
          thought.length = event.reason === 'length'
          return thought
        case 'failed':
          if (input.signal.aborted) yield { type: 'stopped', usage: event.usage }
          else yield { type: 'failed', error: event.error, usage: event.usage }
          return null
      }
    }
  yield {
    type: 'failed',
    error: new AppError('model_bad_answer', 'The model ended without finishing its answer.'),
    usage: undefined,
  }
  return null
}
