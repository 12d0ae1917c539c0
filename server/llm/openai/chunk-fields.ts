// Reads single chunks of a chat completion stream: text, padding, errors, usage, cost.
import { asRecord, asText, isRecord } from '../../lib/records.ts'
import { MAX_TOKENS } from '../../protocol/bounds.ts'
import { readCount, readCounts, type TokenCounts } from '../usage.ts'

/** Undefined if it is not JSON. */
export function parse(payload: string): unknown {
  try {
    return JSON.parse(payload) as unknown
  } catch {
    return undefined
  }
}

/**
 * Fewer random characters could be equal by chance. Many chunks have none, because their word is as long as the padding.
 */
const MIN_PADDING = 4

/** OpenAI hides the lengths of words by padding chunks with random characters. Empty if there are too few. */
export function paddingOf(value: unknown): string {
  const filling = asText(asRecord(value)?.obfuscation)
  return filling.length < MIN_PADDING ? '' : filling
}

/** Whether a chunk contains a piece of the answer. */
export function saysSomething(value: unknown): boolean {
  const delta = firstDelta(value)
  if (delta === undefined) return false
  const calls = delta.tool_calls
  const texts = [
    delta.content,
    delta.reasoning_content,
    delta.reasoning,
    delta.thinking,
    delta.refusal,
  ]
  return texts.some((text) => asText(text) !== '') || (Array.isArray(calls) && calls.length > 0)
}

/** The text in a field of the first choice's delta; empty if there is none. */
export const deltaText = (value: unknown, field: string): string =>
  asText(firstDelta(value)?.[field])

function firstDelta(value: unknown): Record<string, unknown> | undefined {
  const choices = isRecord(value) && Array.isArray(value.choices) ? value.choices : []
  return asRecord(asRecord(choices[0])?.delta)
}

/**
 * The reported usage, with missing fields filled in; null if there is none. `implausible` if it exceeds what any model can
 * process. Cached input is part of the prompt, whatever the provider calls it.
 */
export function readUsage(value: unknown): TokenCounts | 'implausible' | null {
  if (!isRecord(value)) return null
  const inPrompt = asRecord(value.prompt_tokens_details)
  const prompt = readCount(value.prompt_tokens)
  const completion = readCount(value.completion_tokens)
  const total = readCount(value.total_tokens)
  // xAI and Gemini include reasoning, which is billed as output, only in the total.
  const beside = total > 2 * MAX_TOKENS ? 0 : Math.max(0, total - prompt - completion)
  const read = readCounts({
    prompt,
    completion: completion + beside,
    // DeepSeek uses its own field, and Moonshot uses OpenAI's without the enclosing details.
    cached:
      readCount(inPrompt?.cached_tokens) ||
      readCount(value.prompt_cache_hit_tokens) ||
      readCount(value.cached_tokens),
    cacheWrite: readCount(inPrompt?.cache_write_tokens),
    reasoning: Math.max(
      beside,
      readCount(asRecord(value.completion_tokens_details)?.reasoning_tokens),
    ),
  })
  if (read === null || read === 'implausible') return read
  return total === 0 || total > 2 * MAX_TOKENS ? read : { ...read, total_tokens: total }
}

/** More than any call costs. */
const MAX_COST_USD = 10_000

/** OpenRouter's own cost, plus what the provider charges directly if the person uses their own key for it. */
export function reportedCost(value: unknown): { cost_usd?: number } {
  const usage = asRecord(value)
  const direct =
    usage?.is_byok === true ? asRecord(usage.cost_details)?.upstream_inference_cost : undefined
  if (typeof usage?.cost !== 'number') return {}
  const cost = usage.cost + (typeof direct === 'number' ? direct : 0)
  return cost >= 0 && cost <= MAX_COST_USD ? { cost_usd: cost } : {}
}
