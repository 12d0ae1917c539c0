// The request body: adapted to the provider, with nothing that was not requested.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LlmMessage } from '../../../../server/llm/client.ts'
import { buildRequestBody } from '../../../../server/llm/openai.ts'
import { detectProvider, splitApiUrl } from '../../../../server/llm/provider-quirks.ts'
import type { ModelSettings } from '../../../../server/protocol/models/catalog.ts'
import { llmRequest } from '../../../support/provider/llm.ts'

const settings = (more: Partial<ModelSettings> = {}): ModelSettings => ({
  id: 'm',
  api_url: 'https://example.test/v1',
  ...more,
})
const deepseek = settings({ api_url: 'https://api.deepseek.com/v1' })
const glm = settings({ api_url: 'https://open.bigmodel.cn/api/paas/v4' })
const callId = 'c1' as never

describe('the address', () => {
  test('may be the API base or the full URL, with a query', () => {
    for (const url of [
      'https://a.test/v1',
      'https://a.test/v1/',
      'https://a.test/v1/chat/completions',
    ])
      expect(splitApiUrl(url)).toEqual({ base: 'https://a.test/v1', query: {} })
    expect(splitApiUrl('https://a.test/x/chat/completions?api-version=2').query).toEqual({
      'api-version': '2',
    })
  })

  test('reveals the provider', () => {
    expect(detectProvider('https://api.deepseek.com/chat/completions')).toBe('deepseek')
    expect(detectProvider('https://open.bigmodel.cn/api/paas/v4')).toBe('glm')
    expect(detectProvider('http://127.0.0.1:11434/v1')).toBe('openai')
    // Gateways name it in their paths. The host counts first.
    for (const [url, provider] of [
      ['https://gateway.example/v1/account/gw/deepseek/v1', 'deepseek'],
      ['https://gateway.example/zhipu/api/paas/v4', 'glm'],
      ['https://gateway.example/kimi/v1', 'moonshot'],
      ['https://gateway.example/v1/account/gw/google-ai-studio/v1beta/openai', 'gemini'],
      ['https://gateway.example/mistral/v1', 'mistral'],
      ['https://api.deepseek.com/mistral/v1', 'deepseek'],
      ['https://generativelanguage.googleapis.com/v1beta/openai', 'gemini'],
      ['https://dashscope.aliyuncs.com/compatible-mode/v1', 'qwen'],
      ['https://ark.cn-beijing.volces.com/api/v3', 'doubao'],
      ['https://api.minimaxi.com/v1', 'minimax'],
      ['https://gateway.example/v1/deep/seek', 'openai'],
    ] as const)
      expect([url, detectProvider(url)]).toEqual([url, provider])
  })
})

test('a Gemini model behind a gateway can be named by its provider or its name', () => {
  const parameters = { type: 'object', properties: { at: { type: 'string', const: 'now' } } }
  const tool = { type: 'function' as const, function: { name: 't', description: '', parameters } }
  const typesFor = (more: Partial<ModelSettings>) =>
    JSON.stringify(buildRequestBody(llmRequest({ tools: [tool] }), settings(more)).tools)
  // Gemini reads no `const`.
  expect(typesFor({})).toContain('"const":"now"')
  for (const named of [
    { provider: 'gemini' },
    { provider: 'google' },
    { id: 'google/gemini-3-pro' },
    { upstream_model: 'gemini-3-pro' },
  ])
    expect(typesFor(named), JSON.stringify(named)).toContain('"enum":["now"]')
})

describe('the body', () => {
  test('contains nothing that was not requested', () => {
    expect(buildRequestBody(llmRequest(), settings())).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(
      buildRequestBody(llmRequest(), settings({ stream_usage: false, upstream_model: 'u' })),
    ).toEqual({ model: 'u', messages: [{ role: 'user', content: 'hello' }], stream: true })
  })

  test('caps max_tokens where the provider does', () => {
    const asked = llmRequest({ maxTokens: 100_000 })
    expect(buildRequestBody(asked, settings())).toMatchObject({ max_tokens: 100_000 })
    expect(buildRequestBody(asked, deepseek)).toMatchObject({ max_tokens: 8192 })
    expect(buildRequestBody(asked, glm)).toMatchObject({ max_tokens: 65_536 })
    // The table knows better for this model.
    const known = { ...deepseek, upstream_model: 'deepseek-v4-pro' }
    expect(buildRequestBody(asked, known)).toMatchObject({ max_tokens: 100_000 })
    // Behind a gateway too; what no table knows is capped.
    const gateway = settings({ api_url: 'https://gateway.example/deepseek/v1' })
    expect(
      buildRequestBody(asked, { ...gateway, upstream_model: 'deepseek-v4-pro' }),
    ).toMatchObject({ max_tokens: 100_000 })
    expect(buildRequestBody(asked, gateway)).toMatchObject({ max_tokens: 8192 })
    expect(buildRequestBody(llmRequest(), settings({ max_tokens: 5 }))).toMatchObject({
      max_tokens: 5,
    })
    const own = settings({ api_url: 'https://api.openai.com/v1', upstream_model: 'gpt-5-mini' })
    expect(buildRequestBody(asked, own)).toMatchObject({ max_completion_tokens: 100_000 })
  })

  test('requests thinking in the form that the provider expects', () => {
    const on = llmRequest({ thinking: true })
    expect(buildRequestBody(on, glm)).toMatchObject({
      // Else it drops the reasoning of earlier turns, and with it what is cached.
      thinking: { type: 'enabled', clear_thinking: false },
    })
    expect(buildRequestBody(on, deepseek)).toMatchObject({ thinking: { type: 'enabled' } })
    expect(buildRequestBody(on, deepseek)).not.toHaveProperty('reasoning_effort')
    expect(buildRequestBody(llmRequest({ thinking: 'high' }), deepseek)).toMatchObject({
      thinking: { type: 'enabled' },
      reasoning_effort: 'high',
    })
    // Both think unless that is switched off.
    for (const model of [deepseek, glm]) {
      const body = buildRequestBody(llmRequest({ thinking: false }), model)
      expect(body).toMatchObject({ thinking: { type: 'disabled' } })
      expect(buildRequestBody(llmRequest(), model)).not.toHaveProperty('thinking')
    }
    expect(buildRequestBody(on, settings())).not.toHaveProperty('reasoning_effort')
    expect(buildRequestBody(on, settings({ thinking: 'high' }))).toMatchObject({
      reasoning_effort: 'high',
    })
    expect(buildRequestBody(llmRequest({ thinking: 'low' }), settings())).toMatchObject({
      reasoning_effort: 'low',
    })
    const off = llmRequest({ thinking: false })
    expect(buildRequestBody(off, settings({ thinking: 'high' }))).not.toHaveProperty(
      'reasoning_effort',
    )
    // The settings can name the provider of a model when its URL does not reveal it.
    expect(buildRequestBody(on, settings({ provider: 'glm' }))).toMatchObject({
      thinking: { type: 'enabled' },
    })
  })

  test.each([
    // https://platform.kimi.ai/docs/guide/use-thinking-effort
    ['moonshot', 'kimi-k2.6', {}, { thinking: { type: 'disabled' } }],
    ['moonshot', 'kimi-k2.7-code', {}, {}],
    ['moonshot', 'kimi-k3', { reasoning_effort: 'high' }, {}],
    // https://help.aliyun.com/en/model-studio/deep-thinking
    ['qwen', 'qwen-plus', { enable_thinking: true }, { enable_thinking: false }],
    ['qwen', 'qwen3-235b-a22b-thinking-2507', {}, {}],
    [
      'doubao',
      'doubao-seed-1-6-251015',
      { thinking: { type: 'enabled' } },
      { thinking: { type: 'disabled' } },
    ],
    // https://platform.minimax.io/docs/api-reference/text-openai-api
    [
      'minimax',
      'MiniMax-M3',
      { reasoning_split: true },
      { reasoning_split: true, thinking: { type: 'disabled' } },
    ],
    ['minimax', 'MiniMax-M2.1', { reasoning_split: true }, { reasoning_split: true }],
    ['gemini', 'gemini-3-pro', { reasoning_effort: 'medium' }, {}],
  ])('of %s requests the thinking of %s as documented', (provider, id, on, off) => {
    const fields = (thinking: 'medium' | false) => {
      const {
        model: _1,
        messages: _2,
        stream: _3,
        stream_options: _4,
        ...rest
      } = buildRequestBody(llmRequest({ thinking }), settings({ provider, id }))
      return rest
    }
    expect([fields('medium'), fields(false)]).toEqual([on, off])
  })

  const turns: LlmMessage[] = [
    { role: 'user', content: 'first' },
    { role: 'assistant', content: 'old', reasoning: 'old thought' },
    { role: 'user', content: 'second' },
    {
      role: 'assistant',
      content: '',
      reasoning: 'new thought',
      toolCalls: [{ id: callId, name: 'f', arguments: '{"a":1}' }],
    },
    { role: 'tool', callId, name: 'f', content: '{"success":true}' },
  ]

  test('keeps calls and results, and contains the reasoning of the calls for providers that expect it', () => {
    const request = llmRequest({ messages: turns })
    expect(buildRequestBody(request, settings()).messages).toEqual([
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'old' },
      { role: 'user', content: 'second' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"success":true}' },
    ])
    const text = JSON.stringify(buildRequestBody(request, glm))
    expect(text).toContain('"reasoning_content":"new thought"')
    expect(text).not.toContain('old thought')
  })

  test('contains the reasoning of calls of earlier turns too, and something in its place for Moonshot, which refuses a call without', () => {
    const later: LlmMessage[] = [
      ...turns,
      { role: 'assistant', content: 'done', reasoning: 'last thought' },
      { role: 'user', content: 'third' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'c2' as never, name: 'f', arguments: '{}' }],
      },
    ]
    const reasoningOf = (api_url: string) =>
      z
        .array(z.object({ role: z.string(), reasoning_content: z.string().optional() }))
        .parse(buildRequestBody(llmRequest({ messages: later }), settings({ api_url })).messages)
        .flatMap(({ role, reasoning_content }) => (role === 'assistant' ? [reasoning_content] : []))
    expect(reasoningOf('https://api.moonshot.ai/v1')).toEqual([
      undefined,
      'new thought',
      undefined,
      ' ',
    ])
    expect(reasoningOf('https://api.z.ai/api/paas/v4')).toEqual([
      undefined,
      'new thought',
      undefined,
      undefined,
    ])
  })

  test('contains reasoning with every answer for DeepSeek, which refuses a request without that of earlier calls', () => {
    const later: LlmMessage[] = [
      ...turns.map((message): LlmMessage => {
        if (message.role !== 'assistant' || message.toolCalls !== undefined) return message
        return { role: 'assistant', content: message.content }
      }),
      { role: 'assistant', content: 'done', reasoning: 'last thought' },
      { role: 'user', content: 'third' },
    ]
    const { messages } = buildRequestBody(llmRequest({ messages: later }), deepseek)
    expect(messages).toMatchObject([
      {},
      { content: 'old', reasoning_content: '' },
      {},
      { content: null, reasoning_content: 'new thought' },
      {},
      { content: 'done', reasoning_content: 'last thought' },
      {},
    ])
  })

  test('contains ids of nine letters and digits for Mistral, which refuses the ids that other providers make', () => {
    const idsOf = (id: string) => {
      const made = [{ id: id as never, name: 'f', arguments: '{}' }]
      const { messages } = buildRequestBody(
        llmRequest({
          messages: [
            { role: 'assistant', content: '', toolCalls: made },
            { role: 'tool', callId: id as never, name: 'f', content: 'done' },
          ],
        }),
        settings({ api_url: 'https://api.mistral.ai/v1' }),
      )
      return [...JSON.stringify(messages).matchAll(/"(?:tool_call_)?id":"([^"]*)"/g)].map(
        ([, found]) => found,
      )
    }
    expect(idsOf('D681PevKs')).toEqual(['D681PevKs', 'D681PevKs'])
    for (const id of ['call_Zq1nHk3Vt8', 'D681PevKs-2']) {
      const [ofCall = '', ofResult] = idsOf(id)
      expect(ofCall).toMatch(/^[a-z0-9]{9}$/)
      expect(ofResult).toBe(ofCall)
    }
    expect(idsOf('call_a')).not.toEqual(idsOf('call_b'))
  })

  test('never contains invalid JSON arguments, which providers refuse', () => {
    const call = { id: callId, name: 'f', arguments: '{"a":' }
    const body = buildRequestBody(
      llmRequest({ messages: [{ role: 'assistant', content: '', toolCalls: [call] }] }),
      settings(),
    )
    expect(JSON.stringify(body)).toContain('unreadable')
  })

  test('contains images for models with vision, and a note for others', () => {
    const request = llmRequest({
      messages: [{ role: 'user', content: 'look', images: [{ mime: 'image/png', data: 'AAAA' }] }],
    })
    expect(buildRequestBody(request, settings({ vision: true })).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ])
    expect(JSON.stringify(buildRequestBody(request, settings()))).toContain(
      'does not accept images',
    )
  })
})
