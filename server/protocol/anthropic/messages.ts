// Messages on the wire, as Anthropic defines them: https://platform.claude.com/docs/en/api/messages.
import { z } from 'zod'
import { optional } from '../envelope.ts'
import { NanoClawOptions } from '../openai/chat-completions.ts'
import { MAX_CLIENT_TOOLS, Warnings } from '../openai/tools.ts'
import { AnswerSchema, ToolParameters } from '../runs/answer-format.ts'

const MAX_MESSAGES = 2_000
const MAX_BLOCKS = 500
const Id = z.string().min(1).max(500)

const TextBlock = z.object({ type: z.literal('text'), text: z.string() })
const ImageBlock = z.object({
  type: z.literal('image'),
  source: z.object({
    type: z.literal('base64', { error: 'send images as base64' }),
    media_type: z.string().max(100),
    data: z.string(),
  }),
})
const DocumentBlock = z.object({
  type: z.literal('document'),
  title: optional(z.string().max(500)),
  source: z.discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('text'), data: z.string() }),
      z.object({ type: z.literal('base64'), media_type: z.string().max(100), data: z.string() }),
    ],
    { error: 'only documents of the sources "text" and "base64" are supported' },
  ),
})
const KNOWN_BLOCKS: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'tool_use',
  'tool_result',
])
/** Thinking, and blocks of tools that only other servers run. They are left out. */
const OtherBlock = z
  .looseObject({
    type: z
      .string()
      .max(100)
      .refine((type) => !KNOWN_BLOCKS.has(type)),
  })
  .transform(({ type }) => ({ type: 'other' as const, kind: type }))

const ResultContent = z.union([
  z.string(),
  z
    .array(
      z.union([z.discriminatedUnion('type', [TextBlock, ImageBlock, DocumentBlock]), OtherBlock]),
    )
    .max(MAX_BLOCKS),
])
const Block = z.union([
  z.discriminatedUnion('type', [
    TextBlock,
    ImageBlock,
    DocumentBlock,
    z.object({
      type: z.literal('tool_use'),
      id: Id,
      name: z.string().min(1).max(200),
      input: z.record(z.string(), z.unknown()),
    }),
    z.object({
      type: z.literal('tool_result'),
      tool_use_id: Id,
      content: optional(ResultContent),
      is_error: optional(z.boolean()),
    }),
  ]),
  OtherBlock,
])
/** A block of a message's content. */
export type MessageBlock = z.infer<typeof Block>
const Texts = z.union([z.string(), z.array(TextBlock).max(MAX_BLOCKS)])

const Tool = z.looseObject({
  /** Absent for tools that the program runs; others are tools of Anthropic's servers. */
  type: optional(z.string().max(100)),
  name: z.string().regex(/^[\w.-]{1,128}$/),
  description: optional(z.string().max(50_000)),
  input_schema: optional(ToolParameters),
})

const content = {
  model: z.string().min(1).max(210),
  messages: z
    .array(
      z.object({
        role: z.enum(['user', 'assistant', 'system']),
        content: z.union([z.string(), z.array(Block).max(MAX_BLOCKS)]),
      }),
    )
    .min(1)
    .max(MAX_MESSAGES),
  system: optional(Texts),
  tools: optional(z.array(Tool).max(MAX_CLIENT_TOOLS)),
}

/** The body of `POST /v1/messages`. Parameters that change how likely words are (`top_p`, `top_k`, …) are ignored. */
export const MessagesBody = z
  .object({
    ...content,
    max_tokens: z.int().min(1).max(10_000_000),
    stream: optional(z.boolean()),
    temperature: optional(z.number().min(0).max(1)),
    thinking: optional(z.looseObject({ type: z.enum(['enabled', 'disabled', 'adaptive']) })),
    tool_choice: optional(
      z.object({
        type: z.enum(['auto', 'any', 'none', 'tool']),
        name: optional(z.string().min(1).max(200)),
      }),
    ),
    output_config: optional(
      z.object({
        format: optional(z.object({ type: z.literal('json_schema'), schema: AnswerSchema })),
      }),
    ),
    nanoclaw: optional(NanoClawOptions),
  })
  .meta({ id: 'MessagesRequest' })
export type MessagesBody = z.infer<typeof MessagesBody>

/** The body of `POST /v1/messages/count_tokens`. */
export const CountTokensBody = z.object(content).meta({ id: 'CountTokensRequest' })
export type CountTokensBody = z.infer<typeof CountTokensBody>

export const CountedTokens = z.object({ input_tokens: z.int() }).meta({ id: 'CountedTokens' })

export const MessageUsage = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_read_input_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
})

export const StopReason = z.enum(['end_turn', 'max_tokens', 'tool_use'])
export type StopReason = z.infer<typeof StopReason>

/** The response of `POST /v1/messages` without `stream`. */
export const AnthropicMessage = z
  .object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
        TextBlock,
        z.object({
          type: z.literal('tool_use'),
          id: z.string(),
          name: z.string(),
          input: z.record(z.string(), z.unknown()),
        }),
      ]),
    ),
    stop_reason: StopReason.nullable(),
    stop_sequence: z.null(),
    usage: MessageUsage,
    warnings: Warnings,
  })
  .meta({ id: 'AnthropicMessage' })
export type AnthropicMessage = z.infer<typeof AnthropicMessage>
