// The client for OpenAI's Responses API, and the bodies of its requests.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { oncePer } from '../lib/once-per.ts'
import { asRecord } from '../lib/records.ts'
import type { ModelSettings } from '../protocol/models/catalog.ts'
import { carrySource, openCarry } from './carry.ts'
import type { LlmClient, LlmMessage, LlmRequest, ModelImage, ToolSchema } from './client.ts'
import { findModelRow, takesTemperature } from './model-table.ts'
import { cacheKeyField, pdfUrl, sendableArguments } from './openai.ts'
import { compatOf, schemaRulesOf } from './provider-quirks.ts'
import { sendableName } from './readable-calls.ts'
import { createResponseEventReader } from './responses/responses-reader.ts'
import { sendableHistory } from './sendable-history.ts'
import { adaptTools, sendableTool } from './sendable-schema.ts'
import { connectOpenAi, type ProviderResponse } from './streaming/provider-http.ts'
import { createStreamedClient, type StreamedClientOptions } from './streaming/streamed-client.ts'
import { readableContent, readableResult } from './user-content.ts'

type Body = Record<string, unknown>

/** A part of the request that some models refuse and that the answer does not depend on. */
interface OptionalPart {
  /** Matches a refusal that names this part. */
  named: RegExp
  isIn(body: Body): boolean
  without(body: Body): Body
}

const field = (name: string, named: RegExp): OptionalPart => ({
  named,
  isIn: (body) => body[name] !== undefined,
  without: ({ [name]: _, ...rest }) => rest,
})

/** Most specific first. */
const OPTIONAL_PARTS: readonly OptionalPart[] = [
  // Models without reasoning: "Encrypted content is not supported with this model."
  field('include', /encrypted.content|["'`]include\b/i),
  {
    // "Your organization must be verified to generate reasoning summaries."
    named: /reasoning.summar/i,
    isIn: ({ reasoning }) => asRecord(reasoning)?.summary !== undefined,
    without: ({ reasoning, ...rest }) => {
      const { summary: _, ...kept } = asRecord(reasoning) ?? {}
      return Object.keys(kept).length === 0 ? rest : { ...rest, reasoning: kept }
    },
  },
  field('reasoning', /reasoning/i),
  // Models with reasoning.
  field('temperature', /temperature/i),
]

/** Creates a client for one model. It makes one attempt: retries and fallbacks wrap it. */
export function createResponses(options: StreamedClientOptions): LlmClient {
  const { settings } = options
  const connection = connectOpenAi(settings, options.http)
  /** The parts that were refused so far. */
  let refused: readonly OptionalPart[] = []

  /** Sends the request, and again without the optional part that a refusal names. */
  async function post(request: LlmRequest, signal: AbortSignal): Promise<ProviderResponse> {
    let left = refused
    await adaptTools(request.tools, schemaRulesOf(settings))
    for (;;) {
      const body = left.reduce(
        (rest, part) => part.without(rest),
        buildResponsesBody(request, settings),
      )
      const response = await connection.post('/responses', body, signal, {
        model: settings.id,
        into: request.exchanges,
      })
      if (response.ok) refused = left
      if (response.ok || response.status !== 400) return response
      const part = OPTIONAL_PARTS.find(({ named, isIn }) => named.test(response.text) && isIn(body))
      if (part === undefined) return response
      left = [...left, part]
    }
  }

  return createStreamedClient(options, {
    source: carrySource('responses', settings),
    post,
    createReader: createResponseEventReader,
    isWhole: (body) => 'object' in body && body.object === 'response',
  })
}

// Converts an `LlmRequest` to the body of a stateless Responses API request.

type Item = Record<string, unknown>

const Items = z.array(z.record(z.string(), z.unknown()))

/** The API refuses a smaller limit. */
const MIN_OUTPUT_TOKENS = 16
/** The API refuses longer call ids. */
const MAX_ID_LENGTH = 64

/**
 * The JSON body of a streaming request. The provider stores nothing: reasoning arrives encrypted and is sent back
 * encrypted.
 */
export function buildResponsesBody(
  request: LlmRequest,
  settings: ModelSettings,
): Record<string, unknown> {
  const maxTokens = request.maxTokens ?? settings.max_tokens
  const thinking = request.thinking ?? settings.thinking ?? false
  const effort = thinking === true ? settings.thinking : thinking
  return {
    model: settings.upstream_model ?? settings.id,
    input: toItems(sendableHistory(request.messages), carrySource('responses', settings), settings),
    stream: true,
    store: false,
    ...cacheKeyField(request, compatOf(settings)),
    ...(request.format === undefined ? {} : { text: { format: request.format.format } }),
    include: ['reasoning.encrypted_content'],
    ...(thinking === false
      ? {}
      : { reasoning: { ...(typeof effort === 'string' ? { effort } : {}), summary: 'auto' } }),
    ...(request.temperature === undefined || !takesTemperature(findModelRow(settings))
      ? {}
      : { temperature: request.temperature }),
    ...(maxTokens === undefined
      ? {}
      : { max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxTokens) }),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((tool) => toolOf(sendableTool(tool, schemaRulesOf(settings)))),
        }),
    ...(request.tools.length === 0 || request.toolChoice === undefined
      ? {}
      : { tool_choice: toolChoiceOf(request.toolChoice) }),
  }
}

/** Returns the same object in each request, so that the text of the list is built once: see `tokens.ts`. */
const toolOf = oncePer(({ function: { name, description, parameters } }: ToolSchema) => ({
  type: 'function',
  name,
  description,
  parameters,
  // The API's default refuses schemas with optional properties.
  strict: false,
}))

const toolChoiceOf = (choice: NonNullable<LlmRequest['toolChoice']>): unknown =>
  typeof choice === 'object' ? { type: 'function', name: choice.function.name } : choice

const toItems = (messages: readonly LlmMessage[], source: string, reads: Reads): Item[] =>
  messages.flatMap((message): Item[] => {
    if (message.role === 'assistant') return answerItems(message, source)
    if (message.role === 'tool') {
      const { text, images } = readableResult(message, reads.vision ?? false)
      const output =
        images.length === 0 ? text : [{ type: 'input_text', text }, ...images.map(imagePart)]
      return [{ type: 'function_call_output', call_id: wireId(message.callId), output }]
    }
    if (message.role === 'system') return [{ role: 'system', content: message.content }]
    return [{ role: 'user', content: userContent(message, reads) }]
  })

function answerItems(message: Extract<LlmMessage, { role: 'assistant' }>, source: string): Item[] {
  const calls = message.toolCalls ?? []
  const own = Items.safeParse(openCarry(message.carry, source)).data
  if (own !== undefined) {
    let next = 0
    // The items as the model made them, in order. Only the ids of calls are those of the results.
    return own.map((item) => {
      const call = item.type === 'function_call' ? calls[next++] : undefined
      return call === undefined
        ? item
        : { ...item, call_id: wireId(call.id), name: sendableName(call.name) }
    })
  }
  return [
    ...(message.content.trim() === '' ? [] : [{ role: 'assistant', content: message.content }]),
    ...calls.map((call) => ({
      type: 'function_call',
      call_id: wireId(call.id),
      name: sendableName(call.name),
      arguments: sendableArguments(call.arguments),
    })),
  ]
}

type Reads = Pick<ModelSettings, 'vision' | 'pdf'>

function userContent(
  message: Extract<LlmMessage, { role: 'user' }>,
  { vision = false, pdf = false }: Reads,
): unknown {
  const { text, images, documents } = readableContent(message, { vision, pdf })
  if (images.length === 0 && documents.length === 0) return text
  return [
    ...(text === '' ? [] : [{ type: 'input_text', text }]),
    ...documents.map(({ name, data }) => ({
      type: 'input_file',
      filename: name,
      file_data: pdfUrl(data),
    })),
    ...images.map(imagePart),
  ]
}

const imagePart = ({ mime, data }: ModelImage) => ({
  type: 'input_image',
  image_url: `data:${mime};base64,${data}`,
  detail: 'auto',
})

const wireId = (id: string): string =>
  id.length <= MAX_ID_LENGTH
    ? id
    : `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`
