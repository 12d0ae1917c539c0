// Responses on the wire, as OpenAI defines them: https://platform.openai.com/docs/api-reference/responses.
import { z } from 'zod'
import { TokenCount } from '../bounds.ts'
import { Temperature } from '../conversations/conversation.ts'
import { optional } from '../envelope.ts'
import { MessageId } from '../ids.ts'
import { AnswerFormat } from '../runs/answer-format.ts'
import { answerSchemaFields } from './answer-schema.ts'
import { NanoClawOptions, ProgramReceipt } from './chat-completions.ts'
import { AnyToolChoice, EchoedTool, ResponseTools, Warnings } from './tools.ts'

const MAX_ITEMS = 2_000
const MAX_PARTS = 100
const ItemId = z.string().min(1).max(500)

const TextPart = z.object({
  type: z.enum(['input_text', 'output_text', 'text', 'summary_text']),
  text: z.string(),
})
const RefusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() })
const ImagePart = z.object({
  type: z.literal('input_image'),
  /** A data URL. */
  image_url: z.string({ error: 'send images as data URLs in `image_url`' }),
})
const FilePart = z.object({
  type: z.literal('input_file'),
  filename: optional(z.string().max(500)),
  /** A data URL, or base64. */
  file_data: optional(z.string()),
  /** The id of a file of `POST /api/files`. */
  file_id: optional(z.string().max(100)),
})
/** Handled like a file: the server refuses those that it cannot read. */
const AudioPart = z.object({
  type: z.literal('input_audio'),
  input_audio: z.object({ data: z.string(), format: z.string().max(20) }),
})
const Parts = z
  .array(z.discriminatedUnion('type', [TextPart, RefusalPart, ImagePart, FilePart, AudioPart]))
  .max(MAX_PARTS)

const InputMessage = z.object({
  type: optional(z.literal('message')),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.union([z.string(), Parts]),
})
const InputItem = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('function_call'),
    call_id: ItemId,
    name: z.string().min(1).max(200),
    namespace: optional(z.string().max(200)),
    arguments: z.string(),
  }),
  z.object({
    type: z.literal('custom_tool_call'),
    call_id: ItemId,
    name: z.string().min(1).max(200),
    namespace: optional(z.string().max(200)),
    input: z.string(),
  }),
  z.object({
    type: z.enum(['function_call_output', 'custom_tool_call_output']),
    call_id: ItemId,
    output: z.union([z.string(), Parts]),
  }),
  z.object({ type: z.literal('web_search_call'), id: optional(ItemId) }),
  z.object({
    type: z.literal('mcp_call'),
    id: ItemId,
    name: z.string().min(1).max(200),
    arguments: z.string(),
    output: optional(z.string()),
    error: optional(z.union([z.string(), z.record(z.string(), z.unknown())])),
  }),
  /** Belongs to the server that wrote it, and is not read again. */
  z.object({ type: z.literal('reasoning') }),
  /** Refers to an item of an earlier response by its id. */
  z.object({ type: z.literal('item_reference'), id: ItemId }),
])
const KNOWN_ITEMS: ReadonlySet<string> = new Set([
  'message',
  ...InputItem.options.flatMap(({ shape: { type } }) =>
    'options' in type ? type.options : [...type.values],
  ),
])
/** An item of a kind that only other servers have, such as a call of a tool that they run themselves. It is left out. */
const OtherItem = z
  .looseObject({
    type: z
      .string()
      .max(100)
      .refine((type) => !KNOWN_ITEMS.has(type)),
  })
  .transform(({ type }) => ({ type: 'other' as const, kind: type }))
/** One item of the input of `POST /v1/responses`. */
export const ResponseInput = z.union([InputItem, InputMessage, OtherItem])
export type ResponseInput = z.infer<typeof ResponseInput>

/**
 * The request body of `POST /v1/responses`.
 */
export const ResponseBody = z
  .object({
    model: z.string().min(1).max(210),
    input: z.union([z.string().min(1), z.array(ResponseInput).min(1).max(MAX_ITEMS)]),
    instructions: optional(z.string().max(100_000)),
    previous_response_id: optional(z.string().min(1).max(64)),
    stream: optional(z.boolean()),
    /** If `true`, the response returns at once and the run continues without a connection. */
    background: optional(z.boolean()),
    /** If `false`, the conversation is in no list and is removed after its run. */
    store: optional(z.boolean()),
    tools: optional(ResponseTools),
    tool_choice: optional(AnyToolChoice),
    temperature: optional(Temperature),
    max_output_tokens: optional(TokenCount),
    reasoning: optional(
      z.object({
        effort: optional(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
      }),
    ),
    text: optional(
      z.object({
        format: optional(
          z.discriminatedUnion('type', [
            z.object({ type: z.enum(['text', 'json_object']) }),
            z.object({ type: z.literal('json_schema'), ...answerSchemaFields }),
          ]),
        ),
      }),
    ),
    metadata: optional(z.record(z.string().max(64), z.string().max(512))),
    nanoclaw: optional(NanoClawOptions),
  })
  .refine((body) => body.background !== true || body.store !== false, {
    error: 'background responses are always stored: omit `store`',
    path: ['store'],
  })
  .meta({ id: 'ResponseRequest' })
export type ResponseBody = z.infer<typeof ResponseBody>

const ItemStatus = z.enum(['in_progress', 'completed', 'incomplete', 'failed'])

/**
 * One item of the output: the model's thinking or text, a call of a tool of the program, or a call of a tool of the server.
 */
export const OutputItem = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('reasoning'),
      id: z.string(),
      summary: z.array(z.object({ type: z.literal('summary_text'), text: z.string() })),
      status: ItemStatus,
    }),
    z.object({
      type: z.literal('message'),
      id: z.string(),
      role: z.literal('assistant'),
      status: ItemStatus,
      content: z.array(
        z.object({
          type: z.literal('output_text'),
          text: z.string(),
          annotations: z.array(z.unknown()),
          logprobs: z.array(z.unknown()),
        }),
      ),
    }),
    z.object({
      type: z.literal('function_call'),
      id: z.string(),
      call_id: z.string(),
      name: z.string(),
      namespace: z.string().optional(),
      arguments: z.string(),
      status: ItemStatus,
    }),
    /** A call of a tool of the program whose input is a text. */
    z.object({
      type: z.literal('custom_tool_call'),
      id: z.string(),
      call_id: z.string(),
      name: z.string(),
      namespace: z.string().optional(),
      input: z.string(),
      status: ItemStatus,
    }),
    /** A web search that the program asked for. */
    z.object({
      type: z.literal('web_search_call'),
      id: z.string(),
      status: ItemStatus,
      action: z.discriminatedUnion('type', [
        z.object({
          type: z.literal('search'),
          query: z.string(),
          queries: z.array(z.string()),
        }),
        z.object({ type: z.literal('open_page'), url: z.string() }),
      ]),
    }),
    /** A call of a tool of the server. */
    z.object({
      type: z.literal('mcp_call'),
      id: z.string(),
      server_label: z.string(),
      name: z.string(),
      arguments: z.string(),
      output: z.string().nullable(),
      error: z.string().nullable(),
      status: ItemStatus,
    }),
  ])
  .meta({ id: 'ResponseOutputItem' })
export type OutputItem = z.infer<typeof OutputItem>

export const ResponseStatus = z.enum([
  'in_progress',
  'completed',
  'incomplete',
  'failed',
  'cancelled',
])

export const ResponseUsage = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
})

/** A response of the Responses API: a run in OpenAI's form. */
export const ResponseObject = z
  .object({
    /** The id of the run. */
    id: z.string(),
    object: z.literal('response'),
    /** Seconds since 1970, as is `completed_at`. */
    created_at: z.int(),
    completed_at: z.int().nullable(),
    status: ResponseStatus,
    background: z.boolean(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.string() }).nullable(),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    metadata: z.record(z.string(), z.string()),
    model: z.string(),
    output: z.array(OutputItem),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable(),
    store: z.boolean(),
    temperature: z.number().nullable(),
    text: z.object({ format: z.union([z.object({ type: z.literal('text') }), AnswerFormat]) }),
    tool_choice: z.union([z.string(), z.object({ type: z.string(), name: z.string() })]),
    tools: z.array(EchoedTool),
    warnings: Warnings,
    top_p: z.number().nullable(),
    usage: ResponseUsage.nullable(),
    /** What the answer did, in numbers; absent until it has ended. */
    nanoclaw: ProgramReceipt.optional(),
  })
  .meta({ id: 'Response' })
export type ResponseObject = z.infer<typeof ResponseObject>

export const ResponseQuery = z.object({
  stream: z.enum(['true', 'false']).optional(),
  /** With `stream`: only events with a larger `sequence_number`. */
  starting_after: z.coerce.number().int().min(0).optional(),
})

/** The parameters of `GET /v1/responses/:id/input_items`. */
export const InputItemsQuery = z.object({
  /** The `last_id` of the page before. */
  after: MessageId.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
})

/** The response of `DELETE /v1/responses/:id`. */
export const DeletedResponse = z
  .object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) })
  .meta({ id: 'DeletedResponse' })

/** The response of `GET /v1/responses/:id/input_items`. */
export const ResponseInputItems = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        id: z.string(),
        type: z.literal('message'),
        role: z.enum(['user', 'assistant']),
        status: z.literal('completed'),
        content: z.array(
          z.object({ type: z.enum(['input_text', 'output_text']), text: z.string() }),
        ),
      }),
    ),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'ResponseInputItems' })
export type ResponseInputItems = z.infer<typeof ResponseInputItems>
