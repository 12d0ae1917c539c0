// How providers differ, as one table: a provider with quirks is a row here, any other one only needs a URL.
import type { ModelSettings } from '../../protocol/catalog.ts'

export interface Compat {
  /** The most that `max_tokens` may be; null for no cap. */
  maxTokensCap: number | null
  /** How thinking is requested: not at all, by GLM's object, or by the effort in the model's settings. */
  thinking: 'never' | 'object' | 'effort'
  /** The `reasoning_content` of earlier iterations of the current turn is sent back with them. */
  reasoningBack: boolean
  /** Models that take `max_completion_tokens` instead of `max_tokens`. */
  completionTokensFor?: RegExp
}

const plain: Compat = { maxTokensCap: null, thinking: 'effort', reasoningBack: false }

const table: Readonly<Record<string, Compat>> = {
  openai: plain,
  // The reasoner always thinks; `deepseek-chat` has no switch in this API.
  deepseek: { maxTokensCap: 8192, thinking: 'never', reasoningBack: true },
  glm: { maxTokensCap: 65_536, thinking: 'object', reasoningBack: true },
  moonshot: { maxTokensCap: null, thinking: 'never', reasoningBack: true },
  // OpenAI itself, not the many compatible providers.
  'api.openai.com': { ...plain, completionTokensFor: /^(o\d|gpt-5)/ },
}

/** The provider behind a URL, as far as it matters: `deepseek`, `glm`, `moonshot`, else `openai`. */
export function detectProvider(apiUrl: string): string {
  const host = hostOf(apiUrl)
  if (host.includes('deepseek')) return 'deepseek'
  if (host.includes('bigmodel') || host === 'api.z.ai') return 'glm'
  if (host.includes('moonshot')) return 'moonshot'
  return 'openai'
}

/** The provider of a model: from its settings, else from its URL. */
export const providerOf = (settings: Pick<ModelSettings, 'provider' | 'api_url'>): string =>
  settings.provider ?? detectProvider(settings.api_url)

/** The row for a model; `plain` for providers without one. */
export function compatOf(settings: Pick<ModelSettings, 'provider' | 'api_url'>): Compat {
  const provider = providerOf(settings)
  const host = hostOf(settings.api_url)
  if (provider === 'openai' && Object.hasOwn(table, host)) return table[host] ?? plain
  return Object.hasOwn(table, provider) ? (table[provider] ?? plain) : plain
}

/** The API base and the query of an `api_url`, which may also be the full `…/chat/completions`. */
export function splitApiUrl(apiUrl: string): { base: string; query: Record<string, string> } {
  const url = new URL(apiUrl)
  const path = url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '')
  return { base: url.origin + path, query: Object.fromEntries(url.searchParams) }
}

function hostOf(apiUrl: string): string {
  try {
    return new URL(apiUrl).hostname.toLowerCase()
  } catch {
    return ''
  }
}
