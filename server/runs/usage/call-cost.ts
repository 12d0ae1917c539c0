// The cost of a model call: every token once, cached and reasoning tokens at their own rates.
import type { Price } from '../../protocol/models/catalog.ts'

/** Token counts of one model call that are priced differently. */
export interface PricedCounts {
  promptTokens: number
  completionTokens: number
  /** Parts of `promptTokens`. */
  cachedTokens: number
  cacheWriteTokens: number
  /** Part of `completionTokens`. */
  reasoningTokens: number
}

type Tier = NonNullable<Price['tiers']>[number]

/** The rates for a prompt of this length. The rates of a price tier apply to the whole call. */
export const ratesOf = (price: Price, promptTokens: number): Price | Tier =>
  price.tiers
    ?.filter(({ above }) => promptTokens > above)
    .reduce<Tier | undefined>(
      (highest, one) => (highest === undefined || one.above > highest.above ? one : highest),
      undefined,
    ) ?? price

/** The cost of a call, in the currency of the price. The rates of a tier apply to the whole call. */
export function callCost(price: Price, counts: PricedCounts): number {
  const rates = ratesOf(price, counts.promptTokens)
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = counts
  const millionths =
    (promptTokens - cachedTokens - cacheWriteTokens) * rates.input +
    cachedTokens * (rates.cached_input ?? rates.input) +
    cacheWriteTokens * (rates.cache_write ?? rates.input) +
    (completionTokens - reasoningTokens) * rates.output +
    reasoningTokens * (rates.reasoning ?? rates.output)
  return millionths / 1e6
}
