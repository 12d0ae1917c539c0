// The model catalog: what it lists, what it hides, and the clients behind its models.
import { describe, expect, test } from 'vitest'
import type { ModelSettings } from '../../../server/protocol/models/catalog.ts'
import { llmRequest, readResponse } from '../../support/provider/llm.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useModels } from './use-models.ts'

const { upstream, model, catalogOf } = useModels()

describe('the catalog', () => {
  test('lists public facts of models and never a key or an address', async () => {
    const list = await catalogOf(
      [model('a'), model('b', { name: 'B', vision: true, thinking: 'high', context_window: 1000 })],
      { defaultModel: 'b' },
    ).list()
    expect(list.map(({ id, default: isDefault }) => [id, isDefault])).toEqual([
      ['a', false],
      ['b', true],
    ])
    expect(list[1]).toMatchObject({ name: 'B', vision: true, thinking: 'high', demo: false })
    expect(JSON.stringify(list)).not.toMatch(/key-|127\.0\.0\.1/)
  })

  test('knows no price of a model that was removed, has none, or cannot be read', async () => {
    const price = { input: 1, output: 2, currency: 'USD' }
    const priced = model('priced', { price })
    let read = async () => [{ settings: priced, needsKey: false }]
    const catalog = catalogOf([model('free')], { stored: () => read() })
    const prices = () => Promise.all(['priced', 'free', 'demo'].map(catalog.priceOf))
    expect(await prices()).toEqual([price, null, null])
    read = async () => []
    expect(await prices()).toEqual([null, null, null])
    read = () => Promise.reject(new Error('The store is not there.'))
    expect(await prices()).toEqual([null, null, null])
  })

  test('offers the demo while there is no other model, and follows changes of stored models', async () => {
    let stored: ModelSettings[] = []
    const catalog = catalogOf([], {
      stored: async () => stored.map((settings) => ({ settings, needsKey: false })),
    })
    expect((await catalog.list()).map(({ id }) => id)).toEqual(['demo'])
    stored = [model('s')]
    upstream.enqueueFor({ apiKey: 'key-s' }, turn.text('stored'))
    expect((await catalog.list()).map(({ id, default: d }) => [id, d])).toEqual([['s', true]])
    expect((await readResponse((await catalog.resolve()).client)).text).toBe('stored')
    await expect(catalog.resolve('demo')).rejects.toMatchObject({ code: 'unknown_model' })
    stored = [model('s', { api_key: 'other' })]
    upstream.enqueueFor({ apiKey: 'other' }, turn.text('new key'))
    expect((await readResponse((await catalog.resolve('s')).client)).text).toBe('new key')
    stored = []
    expect((await catalog.resolve()).model.demo).toBe(true)
  })

  test('marks a model whose stored key is lost, never makes it the default, and uses its fallback', async () => {
    const catalog = catalogOf([], {
      stored: async () => [
        { settings: model('lost', { name: 'Lost' }), needsKey: true },
        { settings: model('covered', { fallback: ['good'] }), needsKey: true },
        { settings: model('good'), needsKey: false },
      ],
    })
    expect((await catalog.list()).map((one) => [one.id, one.needs_key, one.default])).toEqual([
      ['lost', true, false],
      ['covered', true, false],
      ['good', false, true],
    ])
    const { end } = await readResponse((await catalog.resolve('lost')).client)
    expect(end).toMatchObject({
      type: 'failed',
      error: { code: 'model_unauthorized', message: expect.stringContaining('Lost') },
    })
    upstream.enqueueFor({ apiKey: 'key-good' }, turn.text('here'))
    expect((await readResponse((await catalog.resolve('covered')).client)).text).toBe('here')
  })

  test('lists the available ids in the error for an unknown id', async () => {
    await expect(catalogOf([model('a'), model('b')]).resolve('c')).rejects.toMatchObject({
      code: 'unknown_model',
      message: expect.stringContaining('Available models: a, b'),
    })
  })

  test('offers no tools to a model without tools, and shows it earlier calls as text', async () => {
    upstream.enqueue(turn.text('ok'))
    const { client } = await catalogOf([model('a', { tool_mode: 'none' })]).resolve()
    const callId = 'c1' as never
    await readResponse(
      client,
      llmRequest({
        messages: [
          { role: 'user', content: 'q' },
          {
            role: 'assistant',
            content: '',
            toolCalls: [{ id: callId, name: 'f', arguments: '{}' }],
          },
          { role: 'tool', callId, name: 'f', content: '{"success":true}' },
        ],
        tools: [{ type: 'function', function: { name: 'f', description: '', parameters: {} } }],
        toolChoice: 'auto',
      }),
    )
    const { body, messages } = await upstream.nextRequest()
    expect(Object.keys(body)).not.toContain('tools')
    expect(Object.keys(body)).not.toContain('tool_choice')
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })
})
