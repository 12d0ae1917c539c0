// The token counts of model calls, in one form for all APIs.
import { MAX_TOKENS } from '../protocol/bounds.ts'

/**
 * `cached_tokens` and `cache_write_tokens` are parts of `prompt_tokens`; `reasoning_tokens` are part of
 * `completion_tokens`.
 */
export interface TokenCounts {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  /** Tokens read from the provider's cache. */
  cached_tokens?: number
  /** Tokens written to the provider's cache. */
  cache_write_tokens?: number
  reasoning_tokens?: number
  /**
   * The prompt of the last request, if several made one response: each of them is billed, but the context window held only
   * the last.
   */
  last_prompt_tokens?: number
  /** The cost of the call in US dollars, as the provider reported it. */
  cost_usd?: number
}

export const NO_TOKENS: TokenCounts = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

const PARTS = ['cached_tokens', 'cache_write_tokens', 'reasoning_tokens'] as const

/** The tokens of the context window that the prompt of a response used. */
export const windowTokens = (counts: TokenCounts): number =>
  counts.last_prompt_tokens ?? counts.prompt_tokens

/** The tokens of several calls together; `other` is the later one. */
export function addCounts(one: TokenCounts, other: TokenCounts): TokenCounts {
  const sum: TokenCounts = {
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    total_tokens: one.total_tokens + other.total_tokens,
  }
  for (const part of PARTS) {
    const count = (one[part] ?? 0) + (other[part] ?? 0)
    if (count > 0) sum[part] = count
  }
  const last = windowTokens(other)
  if (last > 0 && last < sum.prompt_tokens) sum.last_prompt_tokens = last
  // If the cost of one call is unknown, so is the cost of both.
  const costs = [one, other].flatMap((counts) =>
    counts.total_tokens === 0 && counts.cost_usd === undefined ? [] : [counts.cost_usd],
  )
  const known = costs.filter((cost) => cost !== undefined)
  if (known.length > 0 && known.length === costs.length)
    sum.cost_usd = known.reduce((total, cost) => total + cost, 0)
  return sum
}

/** A count that a provider reports; 0 for anything but a number. */
export const readCount = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.round(value) : 0

/**
 * Reads reported counts; null if there are none. `implausible` if they exceed what any model can process; such usage is
 * neither billed nor stored. A part is never larger than the whole.
 */
export function readCounts(counts: {
  prompt: number
  completion: number
  cached: number
  cacheWrite: number
  reasoning: number
}): TokenCounts | 'implausible' | null {
  const { prompt, completion } = counts
  if (prompt === 0 && completion === 0) return null
  if (prompt > MAX_TOKENS || completion > MAX_TOKENS) return 'implausible'
  const cached = Math.min(counts.cached, prompt)
  const cacheWrite = Math.min(counts.cacheWrite, prompt - cached)
  const reasoning = Math.min(counts.reasoning, completion)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached === 0 ? {} : { cached_tokens: cached }),
    ...(cacheWrite === 0 ? {} : { cache_write_tokens: cacheWrite }),
    ...(reasoning === 0 ? {} : { reasoning_tokens: reasoning }),
  }
}
