// The agent loop: call the model, run its tool calls, repeat. Independent of database, HTTP and queue.
import { type AppError, appError } from '../errors.ts'
import type { Carry } from '../llm/carry.ts'
import type {
  LlmClient,
  LlmEvent,
  LlmMessage,
  LlmRequest,
  ToolCall,
  ToolSchema,
} from '../llm/client.ts'
import {
  addPiece,
  createGrowingText,
  type GrowingText,
  type ProseSink,
  wholeText,
} from '../llm/prose.ts'
import { NO_TOKENS, type TokenCounts } from '../llm/usage.ts'
import { withNewestImages } from '../llm/user-content.ts'
import { CallId } from '../protocol/ids.ts'
import type { FinishReason } from '../protocol/runs/run-event.ts'
import type { CallResult } from '../tools/tool-result.ts'

/**
 * The events of a run besides what the model writes, in order. The consumer stores and emits each event before it asks for the
 * next one.
 */
export type LoopEvent =
  /** A model call ended; `calls` are complete and about to run. */
  | {
      type: 'iteration'
      usage: TokenCounts
      model: string
      calls: readonly ToolCall[]
      /** Data that the provider requires back with the calls. */
      carry?: Carry | undefined
      /** Why the loop ends here; null if it continues. */
      finish: FinishReason | null
    }
  | { type: 'result'; result: CallResult }
  | Extract<LlmEvent, { type: 'retrying' }>
  | { type: 'failed'; error: AppError; usage: TokenCounts | undefined }
  | { type: 'stopped'; usage: TokenCounts | undefined }

/** The input of the loop. It reads nothing else and stores nothing. */
export interface AgentLoopInput {
  llm: LlmClient
  messages: readonly LlmMessage[]
  tools: readonly ToolSchema[]
  request: Pick<
    LlmRequest,
    'toolChoice' | 'temperature' | 'maxTokens' | 'thinking' | 'cacheKey' | 'retries' | 'format'
  >
  /**
   * Maximum number of iterations with tools. One more without tools follows, so that the model answers with what it has.
   */
  maxIterations: number
  /**
   * Names of tools that the requesting program runs. A call of one of them ends the loop after the other calls have run.
   */
  clientTools?: ReadonlySet<string>
  /** Calls from before a restart that have no result. They run before the first model call. */
  pendingCalls: readonly ToolCall[]
  /**
   * Runs the calls of one iteration and yields one result per call, in order. After an abort, it still yields them,
   * promptly.
   */
  runTools(calls: readonly ToolCall[]): AsyncIterable<CallResult>
  /** Called before each iteration. Resolves to false if the token budget is used up. */
  budgetLeft(): Promise<boolean>
  /** Receives what the model writes, before the events that follow it. */
  prose: ProseSink
  /** What the model must know besides, before each iteration: returns the messages with it. */
  beforeIteration?(messages: readonly LlmMessage[]): Promise<readonly LlmMessage[]>
  /** Fits the messages to the model's context window before each iteration. */
  fitToWindow(messages: readonly LlmMessage[]): Promise<readonly LlmMessage[]>
  /** Called with the provider's token counts, before the event of each iteration. */
  iterationEnded?(usage: TokenCounts): void
  /** Whether a call has ended the run: no further iteration begins. */
  isDone?(): boolean
  signal: AbortSignal
}

type IterationEvent = Extract<LoopEvent, { type: 'iteration' }>

const LAST_ITERATION_NOTE =
  'The tool call limit for this answer has been reached. Answer now with what you have; do not call tools.'

/**
 * Runs until the model answers without calling tools, a limit is reached, the model fails or the signal aborts.
 * Throws only what `runTools`, `budgetLeft`, `fitToWindow` or `prose` throw. Otherwise the last event is `iteration` with a
 * `finish`, `failed` or `stopped`. After an abort, no model call and no tool call starts, but the results of calls that had
 * already started are still yielded.
 */
export async function* runAgentLoop(input: AgentLoopInput): AsyncGenerator<LoopEvent, void> {
  const ended = (event: Omit<IterationEvent, 'type'>): LoopEvent => {
    input.iterationEnded?.(event.usage)
    return { type: 'iteration', ...event }
  }
  let messages = [...input.messages]
  let calls = input.pendingCalls
  let iteration = 0
  for (;;) {
    if (calls.length > 0) {
      const ownCalls = calls.filter((call) => !input.clientTools?.has(call.name))
      const results = yield* runCalls(input, ownCalls)
      if (!results.complete) {
        yield { type: 'stopped', usage: undefined }
        return
      }
      if (ownCalls.length < calls.length) {
        yield ended({ usage: NO_TOKENS, model: '', calls: [], finish: 'tool_calls' })
        return
      }
      messages.push(...results.messages)
    }
    if (!input.signal.aborted && input.isDone?.() === true) {
      yield ended({ usage: NO_TOKENS, model: '', calls: [], finish: 'stop' })
      return
    }
    if (!input.signal.aborted && input.beforeIteration !== undefined)
      messages = [...(await input.beforeIteration(messages))]
    const isLast = iteration >= input.maxIterations
    const next = await nextMessages(input, messages, isLast)
    if (next === 'stopped') {
      yield { type: 'stopped', usage: undefined }
      return
    }
    if (next === 'budget') {
      yield ended({ usage: NO_TOKENS, model: '', calls: [], finish: 'budget' })
      return
    }
    const response = yield* callModel(input, next, { isFirst: iteration === 0, isLast })
    if (response === null) return
    iteration += 1
    calls = isLast ? [] : withUniqueIds(response.calls, messages)
    const finish: FinishReason | null =
      calls.length > 0 ? null : response.isCutOff ? 'length' : isLast ? 'max_iterations' : 'stop'
    const { usage, model, carry } = response
    yield ended({ usage, model, calls, carry, finish })
    if (finish !== null) return
    const reasoning = wholeText(response.reasoning)
    messages.push({
      role: 'assistant',
      content: wholeText(response.text),
      ...(reasoning === '' ? {} : { reasoning }),
      toolCalls: calls,
      ...(carry === undefined ? {} : { carry }),
    })
  }
}

/** The messages for the next model call, or the reason not to make one. */
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
  const fitted = withNewestImages(await input.fitToWindow([...messages]))
  if (signal.aborted) return 'stopped'
  // Added after fitting, because it is not a question of the user.
  return isLast ? [...fitted, { role: 'user', content: LAST_ITERATION_NOTE }] : fitted
}

/** Leaves room for a numeric suffix within the maximum length of a call id. */
const MAX_STEM_CHARACTERS = 180

/** Some providers number their calls from zero in every response, but within a run an id must identify one call. */
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

/** Runs the calls of one iteration; `complete` is false when the run was stopped before every call had a result. */
async function* runCalls(
  input: AgentLoopInput,
  calls: readonly ToolCall[],
): AsyncGenerator<LoopEvent, { complete: boolean; messages: LlmMessage[] }> {
  const messages: LlmMessage[] = []
  if (calls.length === 0) return { complete: true, messages }
  try {
    for await (const result of input.runTools(calls)) {
      messages.push({
        role: 'tool',
        callId: result.call.id,
        name: result.call.name,
        content: result.content,
        ...(result.images === undefined ? {} : { images: result.images }),
      })
      yield { type: 'result', result }
    }
  } catch (error) {
    if (!input.signal.aborted) throw error
  }
  return { complete: messages.length === calls.length, messages }
}

interface ModelResponse {
  text: GrowingText
  reasoning: GrowingText
  calls: ToolCall[]
  usage: TokenCounts
  model: string
  carry: Carry | undefined
  /** The model reached its token limit. */
  isCutOff: boolean
}

/** A tool choice applies to the first iteration only: if it forced a call in each, the model could never answer. */
const choiceOf = (
  toolChoice: LlmRequest['toolChoice'],
  tools: readonly ToolSchema[],
): Pick<LlmRequest, 'toolChoice'> =>
  toolChoice === undefined || tools.length === 0 ? {} : { toolChoice }

/** Makes one model call. Returns null if it failed or was stopped; then the event that says so has been yielded. */
async function* callModel(
  input: AgentLoopInput,
  messages: readonly LlmMessage[],
  { isFirst, isLast }: { isFirst: boolean; isLast: boolean },
): AsyncGenerator<LoopEvent, ModelResponse | null> {
  const response: ModelResponse = {
    text: createGrowingText(),
    reasoning: createGrowingText(),
    calls: [],
    usage: NO_TOKENS,
    model: '',
    carry: undefined,
    isCutOff: false,
  }
  const { toolChoice, ...settings } = input.request
  const request: LlmRequest = {
    ...settings,
    messages,
    // Sent in the last iteration, too, although it must not call any: without the tools, the request would begin
    // differently and miss the cache.
    tools: input.tools,
    signal: input.signal,
    prose: {
      append(kind, text) {
        addPiece(kind === 'text' ? response.text : response.reasoning, text)
        return input.prose.append(kind, text)
      },
      textWasThinking() {
        addPiece(response.reasoning, wholeText(response.text))
        response.text = createGrowingText()
        return input.prose.textWasThinking()
      },
    },
    ...choiceOf(isLast ? 'none' : isFirst ? toolChoice : undefined, input.tools),
  }
  for await (const event of input.llm.stream(request))
    switch (event.type) {
      case 'tool_call':
        response.calls.push(event.call)
        break
      case 'retrying':
        yield event
        break
      case 'finished':
        response.usage = event.usage
        response.model = event.model
        response.carry = event.carry
        response.isCutOff = event.reason === 'length'
        return response
      case 'failed':
        if (input.signal.aborted) yield { type: 'stopped', usage: event.usage }
        else yield { type: 'failed', error: event.error, usage: event.usage }
        return null
    }
  yield {
    type: 'failed',
    error: appError('model_answer_unfinished'),
    usage: undefined,
  }
  return null
}
