// Converts an `LlmRequest` to the body of a Messages API request, with cache breakpoints.
import { z } from 'zod'
import { oncePer } from '../../lib/once-per.ts'
import type { ModelSettings, Thinking } from '../../protocol/models/catalog.ts'
import { carrySource, openCarry } from '../carry.ts'
import type { LlmMessage, LlmRequest, ModelImage, ToolCall, ToolSchema } from '../client.ts'
import { findModelRow } from '../model-table.ts'
import { calledTools, sendableName } from '../readable-calls.ts'
import { sendableHistory } from '../sendable-history.ts'
import { sendableTool } from '../sendable-schema.ts'
import { readableContent, readableResult } from '../user-content.ts'

type Block = Record<string, unknown>

/** The API requires a limit. Used if neither the request nor the settings have one. */
const DEFAULT_MAX_TOKENS = 8_192
/** The limit for models whose own limit is known. It includes thinking. */
const KNOWN_MAX_TOKENS = 32_000
/** Thinking tokens for models with a fixed budget. */
const BUDGETS = { low: 2_048, medium: 8_192, high: 16_384 } as const
/** Models that decide themselves how much to think. They refuse a budget and a temperature. */
const ADAPTIVE = /claude-(?:(?:opus|sonnet|haiku)-(?:4-[6-9]|[5-9])(?!\d)|fable|mythos)/

const Content = z.array(z.record(z.string(), z.unknown()))
const CACHED = { cache_control: { type: 'ephemeral' } }

/** The JSON body of a streaming request. */
export function buildMessagesBody(
  request: LlmRequest,
  settings: ModelSettings,
): Record<string, unknown> {
  const model = settings.upstream_model ?? settings.id
  const source = carrySource('messages', settings)
  const system = request.messages.flatMap((message) =>
    message.role === 'system' && message.content !== '' ? [message.content] : [],
  )
  const hasTools = request.tools.length > 0
  // Gateways to this API refuse a history with calls but without tools.
  const tools = hasTools ? request.tools : calledTools(request.messages)
  const choice = hasTools ? request.toolChoice : tools.length > 0 ? 'none' : undefined
  const isForced = choice === 'required' || typeof choice === 'object'
  // The API refuses thinking together with a forced tool call.
  const wanted = isForced ? false : (request.thinking ?? settings.thinking ?? false)
  const isAdaptive = ADAPTIVE.test(model)
  const thinks = wanted !== false && (isAdaptive || mayThink(request.messages, source))
  const maxTokens = request.maxTokens ?? settings.max_tokens ?? defaultLimit(settings)
  return {
    model,
    stream: true,
    ...thinkingFields(thinks ? wanted : false, isAdaptive, maxTokens),
    ...(request.temperature === undefined || thinks || isAdaptive
      ? {}
      : { temperature: Math.min(1, request.temperature) }),
    ...(system.length === 0
      ? {}
      : { system: withBreakpoint(system.map((text) => ({ type: 'text', text }))) }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map((tool, at) => (at === tools.length - 1 ? lastToolOf : toolOf)(tool)),
        }),
    ...(choice === undefined ? {} : { tool_choice: toolChoiceOf(choice) }),
    messages: withBreakpoints(
      toContents(sendableHistory(request.messages), source, settings).filter(
        ({ content }) => content.length > 0,
      ),
    ),
  }
}

// Returns the same objects in each request, so that the text of the list is built once: see `tokens.ts`.
const toolOf = oncePer((tool: ToolSchema) => {
  const { name, description, parameters } = sendableTool(tool, 'claude').function
  return { name, description, input_schema: parameters }
})
const lastToolOf = oncePer((tool: ToolSchema) => ({ ...toolOf(tool), ...CACHED }))

function defaultLimit(settings: ModelSettings): number {
  const row = findModelRow(settings)
  return row === undefined ? DEFAULT_MAX_TOKENS : Math.min(KNOWN_MAX_TOKENS, row.output)
}

function thinkingFields(
  thinking: Thinking,
  isAdaptive: boolean,
  maxTokens: number,
): Record<string, unknown> {
  if (thinking === false) return { max_tokens: maxTokens }
  if (isAdaptive)
    return {
      max_tokens: maxTokens,
      thinking: { type: 'adaptive', display: 'summarized' },
      ...(thinking === true ? {} : { output_config: { effort: thinking } }),
    }
  const budget = BUDGETS[thinking === true ? 'medium' : thinking]
  // The limit includes thinking.
  return {
    max_tokens: maxTokens + budget,
    thinking: { type: 'enabled', budget_tokens: budget },
  }
}

/** With a budget, the API refuses a turn in progress whose calls were made without thinking or by another model. */
function mayThink(messages: readonly LlmMessage[], source: string): boolean {
  const last = messages.findLast((message) => message.role !== 'tool')
  if (last?.role !== 'assistant' || (last.toolCalls ?? []).length === 0) return true
  const first = Content.safeParse(openCarry(last.carry, source)).data?.[0]
  return first?.type === 'thinking' || first?.type === 'redacted_thinking'
}

const toolChoiceOf = (choice: NonNullable<LlmRequest['toolChoice']>): Block => {
  if (typeof choice === 'object') return { type: 'tool', name: choice.function.name }
  return { type: choice === 'required' ? 'any' : choice }
}

interface Message {
  role: 'user' | 'assistant'
  content: Block[]
}

/** Tool results and the user text after them become one message, because the API requires alternating roles. */
function toContents(messages: readonly LlmMessage[], source: string, reads: Reads): Message[] {
  const out: Message[] = []
  for (const message of messages) {
    if (message.role === 'system') continue
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content =
      message.role === 'assistant'
        ? answerContent(message, source)
        : message.role === 'user'
          ? userContent(message, reads)
          : [resultBlock(message, reads)]
    const last = out.at(-1)
    if (last?.role === 'user' && role === 'user') last.content.push(...content)
    else out.push({ role, content })
  }
  return out
}

function resultBlock(
  message: Extract<LlmMessage, { role: 'tool' }>,
  { vision = false }: Reads,
): Block {
  const { text, images } = readableResult(message, vision)
  const content = images.length === 0 ? text : [...textBlock(text), ...images.map(imageBlock)]
  return { type: 'tool_result', tool_use_id: wireId(message.callId), content }
}

function answerContent(
  message: Extract<LlmMessage, { role: 'assistant' }>,
  source: string,
): Block[] {
  const calls = message.toolCalls ?? []
  const own = Content.safeParse(openCarry(message.carry, source)).data
  if (own !== undefined) {
    let next = 0
    // The message as the model made it. Only the ids are those of the results.
    return own
      .filter((block) => block.type !== 'text' || block.text !== '')
      .map((block) => {
        const call = block.type === 'tool_use' ? calls[next++] : undefined
        return call === undefined
          ? block
          : { ...block, id: wireId(call.id), name: sendableName(call.name) }
      })
  }
  return [
    ...textBlock(message.content),
    ...calls.map((call) => ({
      type: 'tool_use',
      id: wireId(call.id),
      name: sendableName(call.name),
      input: inputOf(call),
    })),
  ]
}

type Reads = Pick<ModelSettings, 'vision' | 'pdf'>

function userContent(
  message: Extract<LlmMessage, { role: 'user' }>,
  { vision = false, pdf = false }: Reads,
): Block[] {
  const { text, images, documents } = readableContent(message, { vision, pdf })
  return [
    ...documents.map(({ name, data }) => ({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data },
      title: name,
    })),
    ...images.map(imageBlock),
    ...textBlock(text),
  ]
}

const imageBlock = ({ mime, data }: ModelImage): Block => ({
  type: 'image',
  source: { type: 'base64', media_type: mime, data },
})

/** The API refuses empty texts. */
const textBlock = (text: string): Block[] => (text.trim() === '' ? [] : [{ type: 'text', text }])

/** Ids from other providers may contain characters that this API refuses. */
const wireId = (id: string): string => id.replace(/[^\w-]/g, '_')

function inputOf(call: ToolCall): unknown {
  try {
    const input: unknown = JSON.parse(call.arguments)
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input
  } catch {
    // Not valid; sent as it is below.
  }
  return { unreadable: call.arguments.slice(0, 2000) }
}

const withBreakpoint = (blocks: readonly Block[]): Block[] =>
  blocks.map((block, at) => (at === blocks.length - 1 ? { ...block, ...CACHED } : block))

/**
 * The API allows four breakpoints: after the tools, after the system prompt, and after the two newest user messages, so
 * that each request finds what the previous one cached.
 */
function withBreakpoints(messages: readonly Message[]): Message[] {
  const places = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-2)
  return messages.map((message, at) =>
    places.includes(at) ? { ...message, content: withBreakpoint(message.content) } : message,
  )
}
