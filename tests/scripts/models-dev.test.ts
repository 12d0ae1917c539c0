// The refresh of the model table, from a few models in the form of models.dev's api.json.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { modelTableText } from '../../scripts/models-dev.ts'
import table from '../../server/llm/model-table.json' with { type: 'json' }

/** Values of models.dev (MIT License, Copyright (c) 2025 models.dev). */
const model = {
  name: 'A model',
  attachment: true,
  reasoning: true,
  tool_call: true,
  release_date: '2026-03-05',
  modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
  limit: { context: 1_050_000, input: 922_000, output: 128_000 },
}
const gpt = {
  ...model,
  temperature: false,
  cost: {
    input: 2.5,
    output: 15,
    cache_read: 0.25,
    tiers: [{ input: 5, output: 22.5, cache_read: 0.5, tier: { type: 'context', size: 272_000 } }],
  },
}
const deepseek = {
  ...model,
  temperature: true,
  interleaved: { field: 'reasoning_content' },
  modalities: { input: ['text'], output: ['text'] },
  limit: { context: 1_000_000, output: 384_000 },
  cost: { input: 0.435, output: 0.87, cache_read: 0.003625 },
}
/** It differs from a chat model by its family, name or price, not by its modalities. */
const embedding = {
  ...model,
  modalities: { input: ['text'], output: ['text'] },
  limit: { context: 8191, output: 1536 },
  cost: { input: 0.02, output: 0 },
}
const openai = {
  id: 'openai',
  models: {
    'whisper-1': { ...model, modalities: { input: ['audio'], output: ['text'] } },
    'gpt-image-1': { ...model, modalities: { input: ['text'], output: ['image'] } },
    'gpt-5.4': gpt,
    'text-embedding-3-small': { ...embedding, family: 'text-embedding' },
    'codestral-embed': { ...embedding, cost: undefined },
    'vectors-1': { ...embedding, family: 'text-embedding', cost: { input: 0, output: 0 } },
    'vectors-2': embedding,
    'a-broken-one': { name: 'no limits' },
    'gpt-5': { ...model, cost: undefined },
  },
}
/** Providers without a well-known address name it themselves. */
const others = Object.fromEntries(
  Object.entries(table.addresses).map(([id, address]) => [
    id,
    { id, api: `https://${address}/`, models: {} },
  ]),
)
const Table = z.object({
  addresses: z.record(z.string(), z.string()),
  models: z.array(z.record(z.string(), z.unknown())),
})

test('chat models become rows with limits, abilities and prices, and unreadable entries are reported and skipped', () => {
  const leftOut: string[] = []
  const source = {
    ...others,
    openai,
    deepseek: { ...others.deepseek, models: { 'deepseek-v4-pro': deepseek } },
    'not-in-the-table': { models: { some: model } },
  }
  const { text, models } = modelTableText(source, (name) => leftOut.push(name))
  expect(leftOut).toEqual(['openai a-broken-one'])
  const read = Table.parse(JSON.parse(text))
  expect(read.addresses).toEqual(table.addresses)
  expect(models).toBe(3)
  expect(read.models).toEqual([
    {
      provider: 'openai',
      id: 'gpt-5',
      window: 922_000,
      output: 128_000,
      can: ['image', 'pdf', 'reason', 'call', 'temperature'],
    },
    table.models.find(({ provider, id }) => provider === 'openai' && id === 'gpt-5.4'),
    table.models.find(({ provider, id }) => provider === 'deepseek' && id === 'deepseek-v4-pro'),
  ])
  // One model a line, so that a refresh shows as changed lines.
  expect(text.split('\n').filter((line) => line.includes('"window"'))).toHaveLength(3)
})

test('the snapshot has no embedding models', () => {
  const found = table.models.filter(
    ({ id, price }) =>
      /embed/i.test(id) || (price !== undefined && price.input > 0 && price.output === 0),
  )
  expect(found).toEqual([])
})

test('a catalog in an unknown format or a provider without a URL changes nothing', () => {
  expect(() => modelTableText([], () => {})).toThrow()
  expect(() => modelTableText({ openai }, () => {})).toThrow('No address for deepseek')
})
