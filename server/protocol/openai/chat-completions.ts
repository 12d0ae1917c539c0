// Chat completions on the wire, as OpenAI defines them: https://platform.openai.com/docs/api-reference/chat.
import { z } from 'zod'
import { TokenCount } from '../bounds.ts'
import { Temperature } from '../conversations/conversation.ts'
import { ToolChoice } from '../conversations/message.ts'
import { optional } from '../envelope.ts'
import { ProjectId } from '../ids.ts'

const MAX_MESSAGES = 2_000
const MAX_PARTS = 100
export const MAX_CLIENT_TOOLS = 128

const TextPart = z.object({ type: z.literal('text'), text: z.string() })
const RefusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() })
const ImagePart = z.object({
  type: z.literal('image_url'),
  /** A data URL. */
  image_url: z.object({ url: z.string() }),
})
const Texts = z.union([z.string(), z.array(TextPart).max(MAX_PARTS)])

/** A call of one of the program's own tools, in OpenAI's format; `arguments` is JSON text. */
export const ChatToolCall = z.object({
  id: z.string().min(1).max(500),
  type: z.literal('function'),
  function: z.object({ name: z.string().min(1).max(200), arguments: z.string() }),
})
export type ChatToolCall = z.infer<typeof ChatToolCall>

/** A message of `POST /v1/chat/completions`, as OpenAI defines it. */
export const ChatMessage = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer']), content: Texts }),
  z.object({
    role: z.literal('user'),
    content: z.union([
      z.string(),
      z.array(z.discriminatedUnion('type', [TextPart, ImagePart])).max(MAX_PARTS),
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

const ChatTool = z.object({
  type: z.literal('function', { error: 'only tools of type "function" are supported' }),
  function: z.object({
    name: z.string().regex(/^[\w.-]{1,64}$/),
    description: optional(z.string().max(10_000)),
    parameters: optional(z.record(z.string(), z.unknown())),
  }),
})

/** Options that only NanoClaw understands; other servers ignore them. */
export const NanoClawOptions = z.object({
  /** The project whose files and documents the tools use. */
  project_id: optional(ProjectId),
  /** `false`: the answer uses no tools of the server. */
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
    tool_choice: optional(ToolChoice),
    temperature: optional(Temperature),
    max_tokens: optional(TokenCount),
    max_completion_tokens: optional(TokenCount),
    reasoning_effort: optional(
      z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
    ),
    /** If `true`, the conversation stays in the user's list. */
    store: optional(z.boolean()),
    n: optional(z.literal(1, { error: 'only one choice is supported' })),
    logprobs: optional(z.literal(false, { error: 'log probabilities are not supported' })),
    response_format: optional(
      z.object({
        type: z.literal('text', { error: 'only the response format "text" is supported' }),
      }),
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
