// The table of known models: which models match it, what it fills in, and that settings take precedence.
import { expect, test } from 'vitest'
import table from '../../../server/llm/model-table.json' with { type: 'json' }
import { findModelRow, withTableFacts } from '../../../server/llm/model-table.ts'

const openai = { id: 'gpt-5.4', api_url: 'https://api.openai.com/v1' }

test('a model is found by the host of its API, with any path, prefix and date suffix', () => {
  expect(findModelRow(openai)).toMatchObject({ provider: 'openai', id: 'gpt-5.4' })
  expect(
    findModelRow({
      id: 'mine',
      upstream_model: 'gpt-5.4-2026-03-05',
      api_url: `${openai.api_url}/chat/completions`,
    }),
  ).toMatchObject({ id: 'gpt-5.4' })
  const google = 'https://generativelanguage.googleapis.com/v1beta/openai'
  expect(findModelRow({ id: 'models/gemini-2.5-pro', api_url: google })).toBeDefined()
  expect(
    findModelRow({ id: 'anthropic/claude-sonnet-5', api_url: 'https://openrouter.ai/api/v1' }),
  ).toMatchObject({ provider: 'openrouter' })
})

test('every row of the table can be read', () => {
  const addresses: Record<string, string> = table.addresses
  for (const { id, provider } of table.models)
    expect(findModelRow({ id, api_url: `https://${addresses[provider]}` })?.id).toBeTypeOf('string')
})

test('the same name at another host is a different model, unless the settings name the provider', () => {
  const elsewhere = 'http://127.0.0.1:4000/v1'
  expect(findModelRow({ ...openai, api_url: elsewhere })).toBeUndefined()
  expect(findModelRow({ ...openai, api_url: elsewhere, provider: 'openai' })).toBeUndefined()
  expect(
    findModelRow({ ...openai, api_url: 'https://api.openai.com.example.org/v1' }),
  ).toBeUndefined()
  const chat = { id: 'deepseek-chat', api_url: elsewhere, provider: 'deepseek' }
  expect(findModelRow(chat)).toMatchObject({ provider: 'deepseek' })
  expect(withTableFacts({ ...openai, api_url: elsewhere })).toEqual({
    ...openai,
    api_url: elsewhere,
  })
})

test('settings take precedence over the table, which fills in the rest', () => {
  const price = { input: 1, output: 2, currency: 'EUR' }
  expect(withTableFacts({ ...openai, vision: false, price })).toMatchObject({
    vision: false,
    thinking: true,
    context_window: 922_000,
    price,
  })
  expect(withTableFacts(openai).price).toEqual({
    input: 2.5,
    output: 15,
    cached_input: 0.25,
    currency: 'USD',
    tiers: [{ above: 272_000, input: 5, output: 22.5, cached_input: 0.5 }],
  })
})

test('a model gets PDF files if both the model and its API support them', () => {
  const reads = (id: string, api_url: string, more: object = {}) =>
    withTableFacts({ id, api_url, ...more }).pdf
  const openaiUrl = 'https://api.openai.com/v1'
  expect(reads('gpt-5.4', openaiUrl)).toBe(true)
  expect(reads('gpt-5.4', openaiUrl, { api: 'chat' })).toBe(true)
  expect(reads('gpt-5.4', openaiUrl, { pdf: false })).toBe(false)
  expect(reads('claude-sonnet-5', 'https://api.anthropic.com')).toBe(true)
  expect(reads('anthropic/claude-sonnet-5', 'https://openrouter.ai/api/v1')).toBe(true)
  // Their chat completions have no documented place for a file.
  const google = 'https://generativelanguage.googleapis.com/v1beta/openai'
  expect(reads('gemini-2.5-pro', google)).toBe(false)
  expect(reads('gemini-2.5-pro', google, { pdf: true })).toBe(true)
  expect(reads('deepseek-chat', 'https://api.deepseek.com')).toBe(false)
})
