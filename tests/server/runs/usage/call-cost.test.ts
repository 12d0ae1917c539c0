// The cost of a model call: every token counts once, at the rate that applies to it.
import { expect, test } from 'vitest'
import { readUsage } from '../../../../server/llm/openai/chunk-reader.ts'
import { callCost } from '../../../../server/runs/usage/call-cost.ts'

const counts = {
  promptTokens: 1_000_000,
  completionTokens: 100_000,
  cachedTokens: 600_000,
  cacheWriteTokens: 100_000,
  reasoningTokens: 50_000,
}
const price = { input: 2, output: 10, currency: 'USD' }

test('without separate rates, cached and reasoning tokens cost the standard rate', () => {
  expect(callCost(price, counts)).toBeCloseTo(3)
})

test('cached tokens are billed once, at their own rates', () => {
  const rates = { ...price, cached_input: 0.2, cache_write: 2.5, reasoning: 20 }
  // 0.3 × 2 + 0.6 × 0.2 + 0.1 × 2.5 + 0.05 × 10 + 0.05 × 20
  expect(callCost(rates, counts)).toBeCloseTo(2.47)
})

test('the highest tier that a call reaches applies to the whole call', () => {
  const tiers = [
    { above: 500_000, input: 4, output: 20, cached_input: 1 },
    { above: 200_000, input: 3, output: 15 },
  ]
  expect(callCost({ ...price, tiers }, counts)).toBeCloseTo(4 * 0.4 + 0.6 + 20 * 0.1)
  expect(
    callCost({ ...price, tiers }, { ...counts, promptTokens: 500_000, cachedTokens: 0 }),
  ).toBeCloseTo(3 * 0.5 + 15 * 0.1)
  const small = { ...counts, promptTokens: 200_000, cachedTokens: 0, cacheWriteTokens: 0 }
  expect(callCost({ ...price, tiers }, small)).toBeCloseTo(2 * 0.2 + 10 * 0.1)
})

test.each([
  [
    'OpenAI',
    {
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
    60,
    3,
  ],
  ['DeepSeek', { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 }, 60, undefined],
  ['Moonshot', { cached_tokens: 60 }, 60, undefined],
  ['a provider that reports more than there is', { cached_tokens: 500 }, 100, undefined],
])('cached tokens are read as %s reports them', (_name, more, cached, reasoning) => {
  const usage = { prompt_tokens: 100, completion_tokens: 10, ...more }
  const read = readUsage(usage)
  expect(read).toMatchObject({ prompt_tokens: 100, total_tokens: 110, cached_tokens: cached })
  expect(read).toHaveProperty('completion_tokens', 10)
  expect(typeof read === 'object' ? read?.reasoning_tokens : null).toBe(reasoning)
})
