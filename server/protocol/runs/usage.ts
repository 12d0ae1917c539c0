// Tokens and cost of a run on the wire.
import { z } from 'zod'

/** Tokens and cost of model calls. */
export const Usage = z.object({
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  total_tokens: z.int().min(0),
  /** The part of `prompt_tokens` that the provider read from its cache. */
  cached_tokens: z.int().min(0),
  /** By currency, from the models' prices at the time of use; empty if they have none. */
  cost: z.record(z.string(), z.number()),
})
export type Usage = z.infer<typeof Usage>

/** The usage of a run, from the columns of its row. */
export const usageOfRun = (row: {
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  cost: Readonly<Record<string, number>> | null
}): Usage => ({
  prompt_tokens: row.promptTokens,
  completion_tokens: row.completionTokens,
  total_tokens: row.promptTokens + row.completionTokens,
  cached_tokens: row.cachedTokens,
  cost: { ...row.cost },
})
