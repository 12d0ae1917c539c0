// The differences between providers, as a table. A provider without a row needs only a URL.
import { oncePer } from '../lib/once-per.ts'
import type { ModelApi, ModelSettings } from '../protocol/models/catalog.ts'
import type { SchemaRules } from './sendable-schema.ts'
import { serviceAtHost, serviceInPath } from './services.ts'

/** What a provider does differently from OpenAI's API. */
export interface Compat {
  /** Maximum value of `max_tokens` for models that the model table does not know; null if there is none. */
  maxTokensCap: number | null
  /**
   * How to request thinking: with an object, with the effort in the model's settings, with both, with the field
   * `enable_thinking`, or only to switch it off.
   */
  thinking: 'object' | 'effort' | 'object and effort' | 'enable' | 'off only'
  /** Further fields of that object. */
  thinkingFields?: Readonly<Record<string, unknown>>
  /** Models that take the effort instead, and their words for it. */
  effortFor?: { models: RegExp; words: Readonly<Record<'low' | 'medium' | 'high', string>> }
  /** Models that accept that; by default all. Others always think, or never do. */
  thinkingFor?: RegExp
  /** Further fields of every request. */
  fields?: Readonly<Record<string, unknown>>
  /**
   * Which `reasoning_content` to send back: none, that of all calls, or that of all calls and an empty one with every other
   * answer. The reasoning of earlier turns is included: otherwise the request would no longer begin as the previous one
   * did.
   */
  reasoningBack: 'none' | 'calls' | 'always'
  /** Replaces the reasoning of a call that was made without any. */
  missingReasoning?: string
  /** Models that take `max_completion_tokens` instead of `max_tokens`. */
  completionTokensFor?: RegExp
  /** Whether it accepts `prompt_cache_key`. */
  cacheKey?: boolean
  /**
   * Whether it makes no call with `tool_choice: none`. Other providers receive no tools instead, because some of them make
   * calls all the same.
   */
  toolChoiceNone?: boolean
  /** Whether it accepts files in chat completions. */
  files?: boolean
  /** Whether `usage.cost` is the cost of a call in US dollars. */
  reportsCost?: boolean
  /** Whether it refuses call ids that are not nine letters and digits. */
  shortCallIds?: boolean
  /** Whether tool messages can hold images. It refuses a user message right after them. */
  imagesInResults?: boolean
  /** What it can be told about the form of an answer: a schema, by default, or only that it is a JSON object. */
  formats?: 'object'
  /** Models that refuse a tool call without a signature, even if another model made the call. */
  needsSignatures?: RegExp
}

const plain: Compat = { maxTokensCap: null, thinking: 'effort', reasoningBack: 'none' }

/** Also for the `provider` of a Mistral model on another server: the chat templates of many of them check the ids. */
const mistral: Compat = { ...plain, shortCallIds: true, imagesInResults: true }

const table: Readonly<Record<string, Compat>> = {
  openai: plain,
  // Thinks unless that is switched off. From V4 on, it refuses a request without the reasoning of any earlier call
  // (https://api-docs.deepseek.com/guides/thinking_mode).
  deepseek: {
    maxTokensCap: 8192,
    thinking: 'object and effort',
    reasoningBack: 'always',
    toolChoiceNone: true,
    // https://api-docs.deepseek.com/guides/json_mode
    formats: 'object',
  },
  // Without `clear_thinking: false`, it drops the reasoning of earlier turns, and with it the cached prefix
  // (https://docs.z.ai/guides/capabilities/thinking-mode).
  glm: {
    maxTokensCap: 65_536,
    thinking: 'object',
    thinkingFields: { clear_thinking: false },
    // https://docs.z.ai/guides/capabilities/struct-output
    formats: 'object',
    reasoningBack: 'calls',
  },
  // A thinking model refuses a call without reasoning, of any turn, and treats an empty one as none
  // (https://github.com/theopenco/llmgateway/pull/2093). K2.5 and K2.6 think unless that is switched off; K3 takes an effort
  // (https://platform.kimi.ai/docs/guide/use-thinking-effort).
  moonshot: {
    maxTokensCap: null,
    thinking: 'off only',
    effortFor: { models: /kimi-k[3-9]/, words: { low: 'low', medium: 'high', high: 'high' } },
    thinkingFor: /kimi-k2\.[56](?!\d)/,
    reasoningBack: 'calls',
    missingReasoning: ' ',
  },
  // https://help.aliyun.com/en/model-studio/deep-thinking
  qwen: {
    ...plain,
    thinking: 'enable',
    thinkingFor:
      /^(?!.*(?:thinking|instruct|coder))(?:qwen3|qwen-(?:plus|turbo|flash)|deepseek-v3\.\d|glm-|kimi-k2\.[56])/,
  },
  // https://www.volcengine.com/docs/82379/1449737
  doubao: {
    ...plain,
    thinking: 'object',
    thinkingFor: /^(?!.*thinking)(?:doubao-seed-|deepseek-v[34]|glm-|kimi-k2[.-][56])/,
  },
  // Reasoning comes in `reasoning_details`, which must go back, instead of tags in the text
  // (https://platform.minimax.io/docs/api-reference/text-openai-api).
  minimax: {
    ...plain,
    thinking: 'off only',
    thinkingFor: /m[3-9]/i,
    fields: { reasoning_split: true },
  },
  // OpenAI itself, not the many compatible providers.
  'api.openai.com': {
    ...plain,
    completionTokensFor: /^(?!gpt-[34])/,
    cacheKey: true,
    files: true,
    toolChoiceNone: true,
  },
  openrouter: { ...plain, files: true, reportsCost: true, toolChoiceNone: true },
  'openrouter.ai': { ...plain, files: true, reportsCost: true, toolChoiceNone: true },
  mistral,
  // Behind a gateway, models have names such as `google/gemini-3-pro`.
  gemini: { ...plain, needsSignatures: /^(?:[\w.-]+\/)*gemini-(?![12]\b)/ },
}

/**
 * Which schemas of tools a model accepts outside Anthropic's API. Gemini reads a subset of OpenAPI, through gateways, too.
 */
export const schemaRulesOf = oncePer(
  (settings: Pick<ModelSettings, 'id' | 'upstream_model' | 'provider' | 'api_url'>): SchemaRules =>
    /(^|[^a-z])gemini([^a-z]|$)/i.test(settings.upstream_model ?? settings.id) ||
    /^(gemini|google)$/.test(providerOf(settings)) ||
    hostOf(settings.api_url) === 'generativelanguage.googleapis.com'
      ? 'gemini'
      : 'common',
)

/**
 * Detects the provider from a URL, by its host, otherwise by its path, because gateways name providers there
 * (`https://gateway.example/account/deepseek/v1`). `openai` if nothing names another one.
 */
export const detectProvider = (apiUrl: string): string =>
  serviceAtHost(apiUrl)?.provider ?? serviceInPath(apiUrl)?.provider ?? 'openai'

/** The provider of a model: from its settings, otherwise from its URL. Computed once per model. */
export const providerOf = oncePer(
  (settings: Pick<ModelSettings, 'provider' | 'api_url'>): string =>
    settings.provider ?? detectProvider(settings.api_url),
)

/** The end of a URL that names an endpoint, and thereby the API. */
const ENDPOINT = /\/(chat\/completions|messages|responses)\/?$/

/** Providers whose own API does more than chat completions. */
const API_OF_HOST: ReadonlyMap<string, ModelApi> = new Map([
  ['api.openai.com', 'responses'],
  ['api.anthropic.com', 'messages'],
])
/**
 * The path under which other providers (DeepSeek, GLM, MiniMax, Moonshot) offer Anthropic's API in addition to their own.
 */
const ANTHROPIC_PATH = /\/anthropic(\/|$)/

/** The API of a model: from its settings, otherwise from its URL. */
export function apiOf({ api, api_url }: Pick<ModelSettings, 'api' | 'api_url'>): ModelApi {
  if (api !== undefined) return api
  const { pathname } = new URL(api_url)
  const end = pathname.match(ENDPOINT)?.[1]
  if (end === 'messages' || end === 'responses') return end
  if (end !== undefined) return 'chat'
  return ANTHROPIC_PATH.test(pathname) ? 'messages' : (API_OF_HOST.get(hostOf(api_url)) ?? 'chat')
}

/** The row for a model; `plain` for providers without one. Computed once per model. */
export const compatOf = oncePer((settings: Pick<ModelSettings, 'provider' | 'api_url'>): Compat => {
  const provider = providerOf(settings)
  const host = hostOf(settings.api_url)
  if (provider === 'openai' && Object.hasOwn(table, host)) return table[host] ?? plain
  return Object.hasOwn(table, provider) ? (table[provider] ?? plain) : plain
})

/** What the model's API can be told about the form of an answer. */
export const formatSupportOf = (
  settings: Pick<ModelSettings, 'provider' | 'api_url' | 'api'>,
): 'schema' | 'object' | 'none' =>
  apiOf(settings) === 'messages' ? 'none' : (compatOf(settings).formats ?? 'schema')

/** The base URL and the query of an `api_url`, which may end with an endpoint such as `/chat/completions`. */
export function splitApiUrl(apiUrl: string): { base: string; query: Record<string, string> } {
  const url = new URL(apiUrl)
  const path = url.pathname.replace(/\/+$/, '').replace(ENDPOINT, '')
  return { base: url.origin + path, query: Object.fromEntries(url.searchParams) }
}

function hostOf(apiUrl: string): string {
  try {
    return new URL(apiUrl).hostname.toLowerCase()
  } catch {
    return ''
  }
}
