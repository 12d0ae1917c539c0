// The client for all providers with an OpenAI-compatible chat completions API, and the bodies of its requests.

import { createHash } from 'node:crypto'
import { asRecord, isRecord } from '../lib/records.ts'
import type { ModelSettings } from '../protocol/models/catalog.ts'
import { carrySource, openCarry } from './carry.ts'
import type { LlmClient, LlmMessage, LlmRequest, ModelImage } from './client.ts'
import { findModelRow, rowOfProvider, type TableRow, takesTemperature } from './model-table.ts'
import { CarriedFields } from './openai/carried-fields.ts'
import { createChunkReader } from './openai/chunk-reader.ts'
import { type Compat, compatOf, schemaRulesOf } from './provider-quirks.ts'
import { calledTools, sendableName } from './readable-calls.ts'
import { sendableHistory } from './sendable-history.ts'
import { adaptTools, type SchemaRules, sendableTool } from './sendable-schema.ts'
import { connectOpenAi, type ProviderResponse } from './streaming/provider-http.ts'
import { createStreamedClient, type StreamedClientOptions } from './streaming/streamed-client.ts'
import { readableContent, readableResult } from './user-content.ts'

/** Gateways to Anthropic's models refuse a history with calls but without tools. */
const isForWantOfTools = (response: ProviderResponse): boolean =>
  !response.ok &&
  response.status === 400 &&
  /must define tools|expects the `?tools=`? param/i.test(response.text)

/** Creates a client for one model. It makes one attempt: retries and fallbacks wrap it. */
export function createOpenAiCompatible(options: StreamedClientOptions): LlmClient {
  const { settings } = options
  const connection = connectOpenAi(settings, options.http)
  const reportsCost = compatOf(settings).reportsCost === true
  /** Whether the model accepts tools only without reasoning; learned from its first refusal. */
  let toolsNeedNoEffort = false

  /**
   * Sends the request, and again without reasoning if the provider refuses it together with tools, as OpenAI does from
   * GPT-5.4 on.
   */
  async function post(request: LlmRequest, signal: AbortSignal): Promise<ProviderResponse> {
    const send = (body: Record<string, unknown>) =>
      connection.post('/chat/completions', body, signal, {
        model: settings.id,
        into: request.exchanges,
      })
    await adaptTools(request.tools, schemaRulesOf(settings))
    const body = buildRequestBody(request, settings)
    if (request.tools.length === 0) {
      const response = await send(body)
      const tools = isForWantOfTools(response) ? calledTools(request.messages) : []
      return tools.length === 0 ? response : await send({ ...body, tools, tool_choice: 'none' })
    }
    const withoutEffort = { ...body, reasoning_effort: 'none' }
    if (toolsNeedNoEffort) return await send(withoutEffort)
    const response = await send(body)
    if (response.ok || response.status !== 400 || !response.text.includes('reasoning_effort'))
      return response
    const again = await send(withoutEffort)
    toolsNeedNoEffort = again.ok
    return again.ok ? again : response
  }

  return createStreamedClient(options, {
    source: carrySource('chat', settings),
    post,
    createReader: (context) => createChunkReader(context, { reportsCost }),
    isWhole: (body) => 'choices' in body && Array.isArray(body.choices),
  })
}

// Converts an `LlmRequest` to the body of an OpenAI-compatible chat completion, adapted to the provider.

/** The JSON body of a streaming request. */
export function buildRequestBody(
  request: LlmRequest,
  settings: ModelSettings,
): Record<string, unknown> {
  const compat = compatOf(settings)
  const row = findModelRow(settings)
  const model = settings.upstream_model ?? settings.id
  const maxTokens = cappedTokens(
    request.maxTokens ?? settings.max_tokens,
    compat,
    row ?? rowOfProvider(settings),
  )
  const tokensField = compat.completionTokensFor?.test(model)
    ? 'max_completion_tokens'
    : 'max_tokens'
  const vision = settings.vision ?? false
  const imagesInResults = compat.imagesInResults ?? false
  const history = sendableHistory(request.messages, {
    answersResults: vision && !imagesInResults ? 'without images' : true,
  })
  return {
    model,
    messages: toWireMessages(history, {
      reasoningBack:
        compat.reasoningBack === 'none' && row?.reasoning_back === true
          ? 'calls'
          : compat.reasoningBack,
      missingReasoning: compat.missingReasoning,
      vision,
      pdf: settings.pdf ?? false,
      source: carrySource('chat', settings),
      needsSignatures: compat.needsSignatures?.test(model) ?? false,
      shortCallIds: compat.shortCallIds ?? false,
      imagesInResults,
    }),
    stream: true,
    ...((settings.stream_usage ?? true) ? { stream_options: { include_usage: true } } : {}),
    ...(request.temperature === undefined || !takesTemperature(row)
      ? {}
      : { temperature: request.temperature }),
    ...(maxTokens === undefined ? {} : { [tokensField]: maxTokens }),
    ...toolFields(request, compat, schemaRulesOf(settings)),
    ...formatField(request),
    ...cacheKeyField(request, compat),
    ...thinkingFields(request, settings, compat),
    ...compat.fields,
  }
}

function toolFields(
  { tools, toolChoice }: LlmRequest,
  compat: Compat,
  rules: SchemaRules,
): Record<string, unknown> {
  if (tools.length === 0 || (toolChoice === 'none' && compat.toolChoiceNone !== true)) return {}
  return {
    tools: tools.map((tool) => sendableTool(tool, rules)),
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
  }
}

function formatField({ format: required }: LlmRequest): { response_format?: object } {
  if (required === undefined) return {}
  const { type, ...schema } = required.format
  return {
    response_format: type === 'json_object' ? { type } : { type, json_schema: schema },
  }
}

/** Routes the requests of a conversation to the same cache. */
export const cacheKeyField = (
  { cacheKey }: LlmRequest,
  compat: Compat,
): { prompt_cache_key?: string } =>
  compat.cacheKey === true && cacheKey !== undefined ? { prompt_cache_key: cacheKey } : {}

const cappedTokens = (
  asked: number | undefined,
  { maxTokensCap }: Compat,
  row: TableRow | undefined,
): number | undefined =>
  asked === undefined || maxTokensCap === null
    ? asked
    : Math.min(asked, row?.output ?? maxTokensCap)

function thinkingFields(
  request: LlmRequest,
  settings: ModelSettings,
  compat: Compat,
): Record<string, unknown> {
  const wanted = request.thinking ?? settings.thinking
  const model = settings.upstream_model ?? settings.id
  if (wanted === undefined) return {}
  const { thinking: how } = compat
  const takesObject = how !== 'effort' && how !== 'enable'
  const effort = typeof wanted === 'string' ? wanted : settings.thinking
  if (compat.effortFor?.models.test(model))
    return wanted !== false && typeof effort === 'string'
      ? { reasoning_effort: compat.effortFor.words[effort] }
      : {}
  if (compat.thinkingFor?.test(model) === false) return {}
  if (wanted === false) {
    // These think by default, so only an explicit "off" needs a field.
    if (request.thinking !== false) return {}
    if (how === 'enable') return { enable_thinking: false }
    return takesObject ? { thinking: { type: 'disabled' } } : {}
  }
  if (how === 'off only') return {}
  if (how === 'enable') return { enable_thinking: true }
  return {
    ...(takesObject ? { thinking: { type: 'enabled', ...compat.thinkingFields } } : {}),
    ...(how === 'object' || typeof effort !== 'string' ? {} : { reasoning_effort: effort }),
  }
}

interface MessageOptions {
  reasoningBack: Compat['reasoningBack']
  missingReasoning: string | undefined
  vision: boolean
  pdf: boolean
  /** Fields that another source carried are dropped. */
  source: string
  needsSignatures: boolean
  shortCallIds: boolean
  imagesInResults: boolean
}

/** The placeholder that Gemini documents for the signature of a call that another model made. */
const UNSIGNED: Record<string, unknown> = {
  extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } },
}

function toWireMessages(
  messages: readonly LlmMessage[],
  options: MessageOptions,
): Record<string, unknown>[] {
  const wireId = options.shortCallIds ? shortId : (id: string) => id
  return withResultImages(messages, options).map((message) => {
    if (message.role === 'user') return userMessage(message, options)
    if (message.role === 'tool') {
      const { text, images } = readableResult(message, options.vision)
      const content =
        images.length === 0 ? text : [{ type: 'text', text }, ...images.map(imagePart)]
      return { role: 'tool', tool_call_id: wireId(message.callId), content }
    }
    if (message.role === 'system') return { role: 'system', content: message.content }
    const calls = message.toolCalls ?? []
    const reasoning = reasoningOf(message, options)
    const carried = CarriedFields.safeParse(openCarry(message.carry, options.source)).data ?? {}
    if (calls.length === 0)
      return { role: 'assistant', content: message.content, ...reasoning, ...carried.message }
    const isSigned = carried.calls?.some((call) => call !== null) ?? false
    const carriedByCalls = isSigned || !options.needsSignatures ? (carried.calls ?? []) : [UNSIGNED]
    return {
      role: 'assistant',
      content: message.content === '' ? null : message.content,
      ...reasoning,
      ...carried.message,
      tool_calls: calls.map((call, at) => {
        const { function: inFunction, ...fields } = carriedByCalls[at] ?? {}
        const made = {
          name: sendableName(call.name),
          arguments: sendableArguments(call.arguments),
        }
        return {
          id: wireId(call.id),
          type: 'function',
          function: { ...asRecord(inFunction), ...made },
          ...fields,
        }
      }),
    }
  })
}

const shortId = (id: string): string =>
  /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)

function reasoningOf(
  { reasoning, toolCalls = [] }: Extract<LlmMessage, { role: 'assistant' }>,
  { reasoningBack, missingReasoning }: MessageOptions,
): { reasoning_content?: string } {
  if (reasoningBack === 'always') return { reasoning_content: reasoning ?? '' }
  const sent = reasoning ?? missingReasoning
  return reasoningBack === 'calls' && toolCalls.length > 0 && sent !== undefined
    ? { reasoning_content: sent }
    : {}
}

function userMessage(
  message: Extract<LlmMessage, { role: 'user' }>,
  reads: Pick<MessageOptions, 'vision' | 'pdf'>,
): Record<string, unknown> {
  const { text, images, documents } = readableContent(message, reads)
  if (images.length === 0 && documents.length === 0) return { role: 'user', content: text }
  return {
    role: 'user',
    content: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...documents.map(({ name, data }) => ({
        type: 'file',
        file: { filename: name, file_data: pdfUrl(data) },
      })),
      ...images.map(imagePart),
    ],
  }
}

const imagePart = ({ mime, data }: ModelImage) => ({
  type: 'image_url',
  image_url: { url: `data:${mime};base64,${data}` },
})

/** What says whose images these are, in the user message after the results. */
const resultImagesText = (names: readonly string[]): string =>
  `[Images of the results above, in order, not written by the user: ${names.join(', ')}]`

/**
 * Tool messages hold only text, so their images go into the user message after all results of the iteration: one of their
 * own, or the question that follows.
 */
function withResultImages(
  messages: readonly LlmMessage[],
  { vision, imagesInResults }: MessageOptions,
): LlmMessage[] {
  if (!vision || imagesInResults) return [...messages]
  const sent: LlmMessage[] = []
  let images: ModelImage[] = []
  let names: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      const { images: own = [], ...rest } = message
      sent.push(own.length === 0 ? message : rest)
      images.push(...own)
      names.push(...own.map((_image, at) => `${message.name} ${at + 1}`))
      continue
    }
    if (images.length > 0) {
      const note = resultImagesText(names)
      if (message.role === 'user') {
        const context = message.context === undefined ? note : `${note}\n\n${message.context}`
        sent.push({ ...message, context, images: [...images, ...(message.images ?? [])] })
      } else sent.push({ role: 'user', content: note, images }, message)
      images = []
      names = []
    } else sent.push(message)
  }
  if (images.length > 0) sent.push({ role: 'user', content: resultImagesText(names), images })
  return sent
}

/** A PDF in the form that OpenAI's APIs accept. */
export const pdfUrl = (data: string): string => `data:application/pdf;base64,${data}`

/** Providers reject a history with a call whose arguments are no JSON object, so others are wrapped in one. */
export function sendableArguments(text: string): string {
  if (text.trim() === '') return '{}'
  try {
    if (isRecord(JSON.parse(text))) return text
  } catch {
    // Not JSON; wrapped below.
  }
  return JSON.stringify({ unreadable: text.slice(0, 2000) })
}
