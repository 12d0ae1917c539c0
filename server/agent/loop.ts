// The agent loop: call the model, run its tool calls, repeat. Without database, HTTP or queue.
import { AppError } from '../errors.ts'
import type {
  LlmClient,
  LlmEvent,
  LlmMessage,
  LlmRequest,
  ToolCall,
  ToolSchema,
} from '../llm/client.ts'
import { CallId } from '../protocol/ids.ts'
import type { FinishReason, Usage } from '../protocol/run-event.ts'
import type { CallResult } from '../tools/tool-result.ts'

/** What happens in a run, in order. The consumer stores and emits each event before it asks for the next. */
export type LoopEvent =
  | { type: 'prose'; kind: 'thinking' | 'text'; text: string }
  /** A model call ended; `calls` are complete and about to run. */
  | {
      type: 'iteration'
      usage: Usage
      model: string
      calls: readonly ToolCall[]
      /** Set when nothing follows. */
      finish: FinishReason | null
    }
  | { type: 'result'; result: CallResult }
  | Extract<LlmEvent, { type: 'retrying' }>
  | { type: 'failed'; error: AppError; usage: Usage | undefined }
  | { type: 'stopped'; usage: Usage | undefined }

export interface AgentLoopInput {
  llm: LlmClient
  messages: readonly LlmMessage[]
  tools: readonly ToolSchema[]
  request: Pick<LlmRequest, 'toolChoice' | 'temperature' | 'maxTokens' | 'thinking'>
  /** Iterations with tools; one more follows without, so that the model answers with what it has. */
  maxIterations: number
  /** Calls left from before a restart: run first, without asking the model. */
  pendingCalls: readonly ToolCall[]
  /** Runs the calls of one iteration and yields their results in the order of the calls; after an abort soon, and for every call. */
  runTools(calls: readonly ToolCall[]): AsyncIterable<CallResult>
  /** Called before each iteration; false when the token budget is used up. */
  budgetLeft(): Promise<boolean>
  /** Fits the messages to the model's context window before each iteration. */
  fitToWindow(messages: readonly LlmMessage[]): Promise<readonly LlmMessage[]>
  signal: AbortSignal
}

const LAST_ITERATION_NOTE =
  'The tool call limit for this answer has been reached. Answer now with what you have; do not call tools.'

/**
 * Runs until the model answers without calling tools, a limit is reached, the model fails or the signal aborts.
 * Contract: throws only what `runTools`, `budgetLeft` or `fitToWindow` throw; else the last event is `iteration` with a
 * `finish`, `failed` or `stopped`. After an abort the model is not called and no further tool call starts; the results of
 * calls that had started are still yielded.
 */
export async function* runAgentLoop(input: AgentLoopInput): AsyncGenerator<LoopEvent, void> {
  const messages = [...input.messages]
  let calls = input.pendingCalls
  let iteration = 0
  for (;;) {
    if (calls.length > 0) {
      const answered = yield* act(input, calls)
      if (!answered.complete) {
        yield { type: 'stopped', usage: undefined }
        return
      }
      messages.push(...answered.messages)
    }
    const isLast = iteration >= input.maxIterations
    const next = await nextMessages(input, messages, isLast)
    if (next === 'stopped') {
      yield { type: 'stopped', usage: undefined }
      return
    }
    if (next === 'budget') {
      yield { type: 'iteration', usage: NO_USAGE, model: '', calls: [], finish: 'budget' }
      return
    }
    const thought = yield* think(input, next, { isFirst: iteration === 0, isLast })
    if (thought === null) return
    iteration += 1
    calls = isLast ? [] : withUniqueIds(thought.calls, messages)
    const finish: FinishReason | null =
      calls.length > 0 ? null : isLast ? 'max_iterations' : thought.length ? 'length' : 'stop'
    yield { type: 'iteration', usage: thought.usage, model: thought.model, calls, finish }
    if (finish !== null) return
    messages.push({
      role: 'assistant',
      content: thought.text,
      ...(thought.reasoning === '' ? {} : { reasoning: thought.reasoning }),
      toolCalls: calls,
    })
  }
}

/** The messages for the next model call, or why there is none. */
async function nextMessages(
  input: AgentLoopInput,
  messages: readonly LlmMessage[],
  isLast: boolean,
): Promise<readonly LlmMessage[] | 'stopped' | 'budget'> {
  const { signal } = input
  if (signal.aborted) return 'stopped'
  const hasBudget = await input.budgetLeft()
  if (signal.aborted) return 'stopped'
  if (!hasBudget) return 'budget'
  const note: LlmMessage = { role: 'user', content: LAST_ITERATION_NOTE }
  const fitted = await input.fitToWindow(isLast ? [...messages, note] : [...messages])
  return signal.aborted ? 'stopped' : fitted
}

/** Leaves room for a number within the length of a call id. */
const MAX_STEM_CHARACTERS = 180

/** Some providers restart their call ids at zero in every response; within a run an id must name one call. */
function withUniqueIds(calls: readonly ToolCall[], messages: readonly LlmMessage[]): ToolCall[] {
  const used = new Set(
    messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => call.id) : [],
    ),
  )
  return calls.map((call) => {
    let { id } = call
    const stem = call.id.slice(0, MAX_STEM_CHARACTERS)
    for (let count = 2; used.has(id); count += 1) id = CallId.parse(`${stem}-${count}`)
    used.add(id)
    return { ...call, id }
  })
}

const NO_USAGE: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

async function* act(
  input: AgentLoopInput,
  calls: readonly ToolCall[],
): AsyncGenerator<LoopEvent, { complete: boolean; messages: LlmMessage[] }> {
  const messages: LlmMessage[] = []
  try {
    for await (const result of input.runTools(calls)) {
      messages.push({
        role: 'tool',
        callId: result.call.id,
        name: result.call.name,
        content: result.content,
      })
      yield { type: 'result', result }
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

/** One model call; null when it failed or was stopped (that event has been yielded). */
async function* think(
  input: AgentLoopInput,
  messages: readonly LlmMessage[],
  { isFirst, isLast }: { isFirst: boolean; isLast: boolean },
): AsyncGenerator<LoopEvent, Thought | null> {
  const thought: Thought = {
    text: '',
    reasoning: '',
    calls: [],
    usage: NO_USAGE,
    model: '',
    length: false,
  }
  const { toolChoice, ...settings } = input.request
  const request: LlmRequest = {
    ...settings,
    messages,
    tools: isLast ? [] : input.tools,
    signal: input.signal,
    // Only in the first iteration: a forced call in each one would never let the model answer.
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
