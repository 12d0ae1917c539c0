// Chat completions on the wire, as OpenAI defines them: https://platform.openai.com/docs/api-reference/chat.
import { z } from 'zod'
import { TokenCount } from '../bounds.ts'
import { Temperature } from '../conversations/conversation.ts'
import { optional } from '../envelope.ts'
import { ProjectId } from '../ids.ts'
import { ReceiptCounts } from '../runs/receipt.ts'
import { answerSchemaFields } from './answer-schema.ts'
import { AnyToolChoice, ChatTool, MAX_CLIENT_TOOLS, Warnings } from './tools.ts'

const MAX_MESSAGES = 2_000
const MAX_PARTS = 100

const TextPart = z.object({ type: z.literal('text'), text: z.string() })
const RefusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() })
const ImagePart = z.object({
  type: z.literal('image_url'),
  /** A data URL. */
  image_url: z.object({ url: z.string() }),
})
const FilePart = z.object({
  type: z.literal('file'),
  file: z.object({
    filename: optional(z.string().max(500)),
    /** A data URL, or base64. */
    file_data: optional(z.string()),
    /** The id of a file of `POST /api/files`. */
    file_id: optional(z.string().max(100)),
  }),
})
/** Handled like a file: the server refuses those that it cannot read. */
const AudioPart = z.object({
  type: z.literal('input_audio'),
  input_audio: z.object({ data: z.string(), format: z.string().max(20) }),
})
const Texts = z.union([z.string(), z.array(TextPart).max(MAX_PARTS)])

/** `arguments` is JSON text. */
const FunctionCall = z.object({
  id: z.string().min(1).max(500),
  type: z.literal('function'),
  function: z.object({ name: z.string().min(1).max(200), arguments: z.string() }),
})
/** A call of one of the program's own tools, in OpenAI's format. The input of a custom tool is a text. */
export const ChatToolCall = z.discriminatedUnion('type', [
  FunctionCall,
  z.object({
    id: z.string().min(1).max(500),
    type: z.literal('custom'),
    custom: z.object({ name: z.string().min(1).max(200), input: z.string() }),
  }),
])
export type ChatToolCall = z.infer<typeof ChatToolCall>

/** A message of `POST /v1/chat/completions`, as OpenAI defines it. */
export const ChatMessage = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer']), content: Texts }),
  z.object({
    role: z.literal('user'),
    content: z.union([
      z.string(),
      z
        .array(z.discriminatedUnion('type', [TextPart, ImagePart, FilePart, AudioPart]))
        .max(MAX_PARTS),
    ]),
  }),
  z.object({
    role: z.literal('assistant'),
    content: optional(
      z.union([
        z.string(),
        z.array(z.discriminatedUnion('type', [TextPart, RefusalPart])).max(MAX_PARTS),
      ]),
    ),
    tool_calls: optional(z.array(ChatToolCall).max(MAX_CLIENT_TOOLS)),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string().min(1).max(500), content: Texts }),
])
export type ChatMessage = z.infer<typeof ChatMessage>

/** Options that only NanoClaw understands; other servers ignore them. */
export const NanoClawOptions = z.object({
  /** The project whose files and documents the tools use. */
  project_id: optional(ProjectId),
  /** Whether the conversation may have files of its own where it has no project: then the file tools are offered. */
  files: optional(z.boolean()),
  /** Whether the answer uses tools of the server. By default, unless the program brings its own. */
  server_tools: optional(z.boolean()),
})

/**
 * The body of `POST /v1/chat/completions`. Parameters that change how likely words are (`top_p`, `seed`, `stop`,
 * `presence_penalty`, …) are ignored; unsupported ones that change the form of the response are refused.
 */
export const ChatCompletionBody = z
  .object({
    model: z.string().min(1).max(210),
    messages: z.array(ChatMessage).min(1).max(MAX_MESSAGES),
    stream: optional(z.boolean()),
    stream_options: optional(z.object({ include_usage: optional(z.boolean()) })),
    tools: optional(z.array(ChatTool).max(MAX_CLIENT_TOOLS)),
    tool_choice: optional(AnyToolChoice),
    temperature: optional(Temperature),
    max_tokens: optional(TokenCount),
    max_completion_tokens: optional(TokenCount),
    reasoning_effort: optional(
      z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
    ),
    /** If `true`, the conversation stays in the user's list. */
    store: optional(z.boolean()),
    /** The earlier name of `tools`. If it were ignored, the model would never call them. */
    functions: z.never({ error: 'is not supported: use `tools`' }).optional(),
    n: optional(z.literal(1, { error: 'only one choice is supported' })),
    logprobs: optional(z.literal(false, { error: 'log probabilities are not supported' })),
    response_format: optional(
      z.discriminatedUnion('type', [
        z.object({ type: z.enum(['text', 'json_object']) }),
        z.object({
          type: z.literal('json_schema'),
          json_schema: z.object(answerSchemaFields),
        }),
      ]),
    ),
    nanoclaw: optional(NanoClawOptions),
  })
  .meta({ id: 'ChatCompletionRequest' })
export type ChatCompletionBody = z.infer<typeof ChatCompletionBody>

/** Token counts of a completion; `prompt_tokens` includes the cached ones. */
export const ChatUsage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int() }),
})
export type ChatUsage = z.infer<typeof ChatUsage>

/** What programs learn about an answer beyond OpenAI's fields. */
export const ProgramReceipt = z.object({ receipt: ReceiptCounts }).meta({ id: 'ProgramReceipt' })
export type ProgramReceipt = z.infer<typeof ProgramReceipt>

/** Why a completion ended: it is complete, reached a limit, or waits for the program to run its tools. */
export const ChatFinishReason = z.enum(['stop', 'length', 'tool_calls'])
export type ChatFinishReason = z.infer<typeof ChatFinishReason>

/** The response of `POST /v1/chat/completions` without `stream`. */
export const ChatCompletion = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    /** Seconds since 1970. */
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          /** The model's thinking, if any. */
          reasoning_content: z.string().optional(),
          refusal: z.null(),
          tool_calls: z.array(ChatToolCall).optional(),
        }),
        logprobs: z.null(),
        finish_reason: ChatFinishReason,
      }),
    ),
    usage: ChatUsage,
    warnings: Warnings,
    /** What the answer did, in numbers. */
    nanoclaw: ProgramReceipt.optional(),
  })
  .meta({ id: 'ChatCompletion' })
export type ChatCompletion = z.infer<typeof ChatCompletion>

/** One piece of a streamed completion. */
export interface ChatCompletionChunk {
  id: string
  object: 'chat.completion.chunk'
  created: number
  model: string
  choices: {
    index: 0
    delta: {
      role?: 'assistant'
      content?: string
      reasoning_content?: string
      tool_calls?: (ChatToolCall & { index: number })[]
    }
    logprobs: null
    finish_reason: ChatFinishReason | null
  }[]
  usage?: ChatUsage | null
  /** In the first chunk. */
  warnings?: readonly string[]
  /** In the last piece. */
  nanoclaw?: ProgramReceipt
}

/** A model in the list of `GET /v1/models`. Fields beyond OpenAI's are for programs that show them. */
export const ProgramModel = z
  .object({
    /** `nanoclaw/<model id>` */
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    name: z.string(),
    context_window: z.int().nullable(),
    vision: z.boolean(),
  })
  .meta({ id: 'ProgramModel' })
export type ProgramModel = z.infer<typeof ProgramModel>

/** The response of `GET /v1/models`. */
export const ProgramModelList = z
  .object({
    object: z.literal('list'),
    data: z.array(ProgramModel),
  })
  .meta({ id: 'ProgramModelList' })
