// The client for Anthropic's Messages API, and the bodies of its requests.

import { z } from 'zod'
import { oncePer } from '../lib/once-per.ts'
import type { ModelSettings, Thinking } from '../protocol/models/catalog.ts'
import { createEventReader } from './anthropic/messages-reader.ts'
import { carrySource, openCarry } from './carry.ts'
import type {
  LlmClient,
  LlmEvent,
  LlmMessage,
  LlmRequest,
  ModelImage,
  ToolCall,
  ToolSchema,
} from './client.ts'
import { findModelRow } from './model-table.ts'
import type { ProseSink } from './prose.ts'
import { calledTools, sendableName } from './readable-calls.ts'
import { sendableHistory } from './sendable-history.ts'
import { adaptTools, sendableTool } from './sendable-schema.ts'
import {
  connectOpenAi,
  type OpenAiConnection,
  type ProviderHttp,
} from './streaming/provider-http.ts'
import type { ResponseReader } from './streaming/response-reader.ts'
import {
  createStreamedClient,
  type StreamedClientOptions,
  type Wire,
} from './streaming/streamed-client.ts'
import { addCounts, NO_TOKENS, type TokenCounts } from './usage.ts'
import { readableContent, readableResult } from './user-content.ts'

/** A model that pauses more often ends its answer there. */
const MAX_PAUSES = 5

/** Sends Anthropic's headers instead of a bearer token. */
export function connectAnthropic(
  settings: Pick<ModelSettings, 'api_url' | 'api_key' | 'headers'>,
  http: ProviderHttp,
): OpenAiConnection {
  const url = new URL(settings.api_url)
  if (/^\/?$|\/anthropic\/?$/.test(url.pathname))
    url.pathname = `${url.pathname.replace(/\/$/, '')}/v1`
  const { headers } = settings
  return connectOpenAi({ api_url: url.href, ...(headers === undefined ? {} : { headers }) }, http, {
    'anthropic-version': '2023-06-01',
    ...(settings.api_key === undefined || settings.api_key === ''
      ? {}
      : { 'x-api-key': settings.api_key }),
  })
}

/** Creates a client for one model. It makes one attempt: retries and fallbacks wrap it. */
export function createAnthropic(options: StreamedClientOptions): LlmClient {
  const { settings } = options
  const connection = connectAnthropic(settings, options.http)
  const wire: Wire = {
    source: carrySource('messages', settings),
    async post(request, signal) {
      await adaptTools(request.tools, 'claude')
      return await connection.post('/messages', buildMessagesBody(request, settings), signal, {
        model: settings.id,
        into: request.exchanges,
      })
    },
    createReader: createEventReader,
    isWhole: (body) => 'type' in body && body.type === 'message',
  }
  return {
    async *stream(request) {
      let messages: readonly LlmMessage[] = request.messages
      let spent = NO_TOKENS
      for (let pauses = 0; ; pauses += 1) {
        let reader: ResponseReader | undefined
        let text = ''
        let paused: Extract<LlmEvent, { type: 'finished' }> | undefined
        const client = createStreamedClient(options, {
          ...wire,
          createReader: (context) => {
            reader = createEventReader(context)
            return reader
          },
        })
        const prose: ProseSink = {
          append(kind, piece) {
            if (kind === 'text') text += piece
            return request.prose.append(kind, piece)
          },
          textWasThinking() {
            text = ''
            return request.prose.textWasThinking()
          },
        }
        for await (const event of client.stream({ ...request, messages, prose })) {
          const isPause = event.type === 'finished' && reader?.finishReason === 'pause_turn'
          if (isPause && pauses < MAX_PAUSES) paused = event
          else yield withUsage(event, spent)
        }
        if (paused === undefined) return
        // Send the paused message back unchanged, and the model continues it.
        messages = [...messages, { role: 'assistant', content: text, carry: paused.carry }]
        spent = addCounts(spent, paused.usage)
      }
    },
  }
}

function withUsage(event: LlmEvent, spent: TokenCounts): LlmEvent {
  if (spent === NO_TOKENS) return event
  if (event.type === 'finished') return { ...event, usage: addCounts(spent, event.usage) }
  return event.type === 'failed'
    ? { ...event, usage: addCounts(spent, event.usage ?? NO_TOKENS) }
    : event
}

// Converts an `LlmRequest` to the body of a Messages API request, with cache breakpoints.

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
