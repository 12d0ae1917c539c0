// The cost of a model call: every token once, cached and reasoning tokens at their own rates.
import type { Price } from '../../protocol/models/catalog.ts'

export interface PricedCounts {
  promptTokens: number
  completionTokens: number
  /** Parts of `promptTokens`. */
  cachedTokens: number
  cacheWriteTokens: number
  /** Part of `completionTokens`. */
  reasoningTokens: number
}

/** In the currency of the price. The rates of a tier apply to the whole call. */
export function callCost(price: Price, counts: PricedCounts): number {
  const tier = price.tiers
    ?.filter(({ above }) => counts.promptTokens > above)
    .reduce<NonNullable<Price['tiers']>[number] | undefined>(
      (highest, one) => (highest === undefined || one.above > highest.above ? one : highest),
      undefined,
    )
  const rates = tier ?? price
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = counts
  const millionths =
    (promptTokens - cachedTokens - cacheWriteTokens) * rates.input +
    cachedTokens * (rates.cached_input ?? rates.input) +
    cacheWriteTokens * (rates.cache_write ?? rates.input) +
    (completionTokens - reasoningTokens) * rates.output +
    reasoningTokens * (rates.reasoning ?? rates.output)
  return millionths / 1e6
}
