// What providers want differently, as one table: a provider with quirks is a row here, any other is just a URL.
import type { ModelSettings } from '../../protocol/catalog.ts'

export interface Compat {
  /** The most that `max_tokens` may ask for; null for no cap. */
  maxTokensCap: number | null
  /** How thinking is asked for: not at all, GLM's object, or by the effort that the model's settings name. */
  thinking: 'never' | 'object' | 'effort'
  /** `reasoning_content` of the rounds of the running turn goes back with them. */
  reasoningBack: boolean
  /** Models that take `max_completion_tokens` in place of `max_tokens`. */
  completionTokensFor?: RegExp
}

const plain: Compat = { maxTokensCap: null, thinking: 'effort', reasoningBack: false }

const table: Readonly<Record<string, Compat>> = {
  openai: plain,
  // The reasoner thinks by itself; `deepseek-chat` has no switch in this API.
  deepseek: { maxTokensCap: 8192, thinking: 'never', reasoningBack: true },
  glm: { maxTokensCap: 65_536, thinking: 'object', reasoningBack: true },
  moonshot: { maxTokensCap: null, thinking: 'never', reasoningBack: true },
  // OpenAI itself, not the many that speak its language.
  'api.openai.com': { ...plain, completionTokensFor: /^(o\d|gpt-5)/ },
}

/** Which provider a URL belongs to, as far as it matters: `deepseek`, `glm`, `moonshot`, else `openai`. */
export function detectProvider(apiUrl: string): string {
  const host = hostOf(apiUrl)
  if (host.includes('deepseek')) return 'deepseek'
  if (host.includes('bigmodel') || host === 'api.z.ai') return 'glm'
  if (host.includes('moonshot')) return 'moonshot'
  return 'openai'
}

/** The provider of a model: the one that its settings name, else the one that its URL shows. */
export const providerOf = (settings: Pick<ModelSettings, 'provider' | 'api_url'>): string =>
  settings.provider ?? detectProvider(settings.api_url)

/** The row for a model; providers that nobody wrote a row for are plain. */
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
