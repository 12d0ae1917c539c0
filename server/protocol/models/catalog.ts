// Models and tools in public lists, and models as administrators store them.
import { z } from 'zod'
import { TokenCount } from '../bounds.ts'
import { optional, Timestamp } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import { RiskLevel } from '../runs/run-event.ts'

/** How a model calls tools: by function calling, by calls in its text (prompt mode), or not at all. */
export const ToolMode = z.enum(['native', 'prompt', 'none'])
export type ToolMode = z.infer<typeof ToolMode>

/** The API that a model is reached through: OpenAI's chat completions or Responses API, or Anthropic's Messages API. */
export const ModelApi = z.enum(['chat', 'responses', 'messages'])
export type ModelApi = z.infer<typeof ModelApi>

/** Whether, or how much, a model thinks: an effort level for providers that support one. */
export const Thinking = z.union([z.boolean(), z.enum(['low', 'medium', 'high'])])
export type Thinking = z.infer<typeof Thinking>

const Rate = z.number().min(0)
/** Per million tokens. */
const Rates = z.object({
  input: Rate,
  output: Rate,
  /** Input that the provider read from its cache; default: `input`. */
  cached_input: Rate.optional(),
  /** Input that the provider wrote to its cache; default: `input`. */
  cache_write: Rate.optional(),
  /** Reasoning, which is part of the output; default: `output`. */
  reasoning: Rate.optional(),
})
/** What a model costs, in `currency` per million tokens. */
export const Price = Rates.extend({
  currency: z.string().min(1).max(10),
  /** Other rates for the whole request when its input has more tokens than `above`. */
  tiers: z
    .array(Rates.extend({ above: z.int().min(0) }))
    .max(10)
    .optional(),
})
export type Price = z.infer<typeof Price>

/** A model as every user may see it: without its API key and URL. */
export const PublicModel = z
  .object({
    id: z.string(),
    name: z.string(),
    /** Whose oddities apply; `openai` for every compatible API. */
    provider: z.string(),
    /** What people call the service, such as `OpenRouter`; null if its address names none. */
    service: z.string().nullable(),
    tool_mode: ToolMode,
    thinking: Thinking,
    vision: z.boolean(),
    /** Whether the model reads PDF files themselves, not only their text. */
    pdf: z.boolean(),
    context_window: z.int().nullable(),
    max_tokens: z.int().nullable(),
    /** Null if neither its settings nor the model table contain one. */
    price: Price.nullable(),
    default: z.boolean(),
    /** Whether it is the built-in demo, which is not a language model. */
    demo: z.boolean(),
    /**
     * Whether the stored API key can no longer be decrypted, so that the model fails until an administrator enters the key
     * again.
     */
    needs_key: z.boolean(),
  })
  .meta({ id: 'Model' })
export type PublicModel = z.infer<typeof PublicModel>

/** Headers of the connection and the body, which belong to the server. */
const SERVER_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const MAX_HEADERS = 20
const HeaderName = z
  .string()
  .max(100)
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'the name of an HTTP header' })
  .refine((name) => !SERVER_HEADERS.has(name.toLowerCase()), {
    error: 'a header that the server does not set itself',
  })
const HeaderValue = z
  .string()
  .max(4_000)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, { error: 'a text without line breaks' })

/** Headers that a gateway needs in addition to the key. Their values are secret. */
export const ModelHeaders = z
  .record(HeaderName, HeaderValue)
  .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, {
    error: `at most ${MAX_HEADERS} headers`,
  })

/** Changes of headers: null removes one, absent ones stay. */
const HeaderChanges = z
  .record(HeaderName, HeaderValue.nullable())
  .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, {
    error: `at most ${MAX_HEADERS} headers`,
  })

/**
 * The settings of a model: the same object in `config.yml` and in the database. Absent fields are detected or have
 * defaults.
 */
export const ModelSettings = z.strictObject({
  id: z.string().min(1).max(200),
  name: z.string().min(1).max(200).optional(),
  api_url: z.url(),
  api_key: z.string().optional(),
  headers: ModelHeaders.optional(),
  provider: z.string().min(1).max(50).optional(),
  /** Default: detected from `api_url`. */
  api: ModelApi.optional(),
  upstream_model: z.string().min(1).max(200).optional(),
  tool_mode: ToolMode.optional(),
  /** The role of messages with tool results in prompt mode. */
  tool_results: z.enum(['tool', 'user']).optional(),
  thinking: Thinking.optional(),
  vision: z.boolean().optional(),
  pdf: z.boolean().optional(),
  context_window: TokenCount.optional(),
  max_tokens: TokenCount.optional(),
  stream_usage: z.boolean().optional(),
  /** Seconds without data after which a response counts as failed. */
  idle_timeout: z.number().positive().optional(),
  price: Price.optional(),
  fallback: z.array(z.string()).optional(),
})
export type ModelSettings = z.infer<typeof ModelSettings>

const { shape } = ModelSettings

/** A model that an administrator adds. `null` for an optional field means absent. */
export const CreateModelBody = z
  .object({
    id: shape.id,
    api_url: shape.api_url,
    name: shape.name.nullable(),
    api_key: z.string().max(1000).nullish(),
    headers: HeaderChanges.nullish(),
    provider: shape.provider.nullable(),
    api: shape.api.nullable(),
    upstream_model: shape.upstream_model.nullable(),
    tool_mode: shape.tool_mode.nullable(),
    tool_results: shape.tool_results.nullable(),
    thinking: shape.thinking.nullable(),
    vision: shape.vision.nullable(),
    pdf: shape.pdf.nullable(),
    context_window: shape.context_window.nullable(),
    max_tokens: shape.max_tokens.nullable(),
    stream_usage: shape.stream_usage.nullable(),
    idle_timeout: shape.idle_timeout.nullable(),
    price: shape.price.nullable(),
    fallback: shape.fallback.nullable(),
  })
  .meta({ id: 'CreateModel' })
export type CreateModelBody = z.infer<typeof CreateModelBody>

/** Changes of a model. `null` clears a field; an absent field stays unchanged. The id cannot change. */
export const PatchModelBody = CreateModelBody.omit({ id: true })
  .extend({ api_url: optional(shape.api_url) })
  .meta({ id: 'PatchModel' })
export type PatchModelBody = z.infer<typeof PatchModelBody>

/** A model with its settings, as administrators see it: without its key and the values of its headers. */
export const AdminModel = ModelSettings.omit({ api_key: true, headers: true })
  .extend({
    has_api_key: z.boolean(),
    /** The names of its own headers, whose values are never returned. */
    header_names: z.array(z.string()),
    /** The stored key can no longer be decrypted and must be entered again. */
    needs_key: z.boolean(),
    /** From `config.yml` (read-only here) or stored by an administrator. */
    source: z.enum(['config', 'store']),
    created_at: Timestamp.nullable(),
  })
  .meta({ id: 'AdminModel' })
export type AdminModel = z.infer<typeof AdminModel>

export const ProbeBody = z
  .object({
    api_url: z.url(),
    api_key: optional(z.string().max(1000)),
    headers: optional(ModelHeaders),
    api: optional(ModelApi),
    upstream_model: optional(z.string().min(1).max(200)),
  })
  .meta({ id: 'ProbeModel' })

/** A provider that the setup page offers by name. */
export const ModelPreset = z
  .object({
    id: z.string(),
    name: z.string(),
    api_url: z.url(),
    /** Whether it was found running on the server's own machine. */
    detected: z.boolean(),
    /** The page on which its keys are created; null if it needs no key. */
    key_url: z.url().nullable(),
    /**
     * The environment variable of the server that has its key, such as OPENAI_API_KEY; null if none has. It is used for models
     * of this provider without a key of their own.
     */
    key_variable: z.string().nullable(),
  })
  .meta({ id: 'ModelPreset' })
export type ModelPreset = z.infer<typeof ModelPreset>

/** What a few tiny requests to a provider found. */
export const ProbeReport = z
  .object({
    reachable: z.boolean(),
    models: z.array(z.string()),
    streaming: z.boolean(),
    usage: z.boolean(),
    native_tools: z.boolean(),
    reasoning: z.boolean(),
    vision: z.boolean(),
    error: z.string().nullable(),
    /** Set if the provider refused: the machine-readable reason and the parameters of the text. */
    error_code: z.string().optional(),
    /** More specific than `error_code`: `reason` of error responses. */
    error_reason: z.string().optional(),
    error_params: ErrorParams.optional(),
    suggested: ModelSettings.partial().omit({ api_key: true, headers: true }),
  })
  .meta({ id: 'ProbeReport' })
export type ProbeReport = z.infer<typeof ProbeReport>

/** A tool in the form of OpenAI's API, with further facts for people. */
export const ToolListing = z
  .object({
    type: z.literal('function'),
    function: z.object({
      name: z.string(),
      description: z.string(),
      parameters: z.record(z.string(), z.unknown()),
    }),
    category: z.string(),
    risk_level: RiskLevel,
    /** The isolation in force, for tools that run programs. */
    isolation: z.string().optional(),
  })
  .meta({ id: 'Tool' })
export type ToolListing = z.infer<typeof ToolListing>

/** What a new conversation sends of the tools with each request. Tokens are estimates. */
export const SentTools = z
  .object({
    /** Without tools that the user has switched off; with `tool_search` if that finds the tools of MCP servers. */
    tools: z.int(),
    tokens: z.int(),
    /** All tools of MCP servers. Above one of the limits, they are not sent until the model finds them with `tool_search`. */
    mcp: z.object({
      tools: z.int(),
      tokens: z.int(),
      max_tools: z.int(),
      max_tokens: z.int(),
      on_demand: z.boolean(),
    }),
  })
  .meta({ id: 'SentTools' })
export type SentTools = z.infer<typeof SentTools>

export const ToolList = z
  .object({ tools: z.array(ToolListing), total: z.int(), sent: SentTools })
  .meta({ id: 'ToolList' })
