// Probing a provider: what each kind of provider reveals, and the settings that are suggested for it.
import { afterAll, describe, expect, test } from 'vitest'
import { guessModelRow } from '../../../../server/llm/model-table.ts'
import { createModelProbe } from '../../../../server/llm/probe.ts'
import { createProviderHttp } from '../../../../server/llm/streaming/provider-http.ts'
import { messagesTurn } from '../../../support/provider/messages-turns.ts'
import { called, reasoned, responsesTurn, said } from '../../../support/provider/responses-turns.ts'
import { refusingUrl, type UpstreamRequest } from '../../../support/provider/upstream.ts'
import { type Turn, turn } from '../../../support/provider/upstream-turns.ts'
import { useFreshUpstream } from '../../../support/provider/use-upstream.ts'

const upstream = useFreshUpstream()
const probe = createModelProbe()
afterAll(() => probe.close())

const KEY = 'sk-probe-key'
const tryOut = (more: { api_url?: string; upstream_model?: string } = {}) =>
  probe.probe({ api_url: upstream.url, api_key: KEY, ...more }, new AbortController().signal)

const hasTools = (request: UpstreamRequest) => request.body.tools !== undefined
const hasPicture = (request: UpstreamRequest) =>
  JSON.stringify(request.messages).includes('image_url')
const isChat = (request: UpstreamRequest) => request.path.includes('chat')

/** Scripts a provider by its responses to a greeting, to a tool and to a picture. */
const provider = (answers: { plain: Turn; tool: Turn; picture: Turn }) =>
  upstream.program((request) => {
    if (!isChat(request)) return undefined
    if (hasTools(request)) return answers.tool
    return hasPicture(request) ? answers.picture : answers.plain
  })
const call = turn.toolCalls([{ name: 'report_colour', arguments: { colour: 'blue' } }])

describe('the probe', () => {
  test('finds tools, vision, usage and reasoning of a capable provider', async () => {
    upstream.models = ['text-embedding-3', 'big-chat']
    provider({ plain: turn.thinking('hm', 'pong'), tool: call, picture: turn.text('Red.') })
    expect(await tryOut()).toEqual({
      reachable: true,
      models: ['text-embedding-3', 'big-chat'],
      streaming: true,
      usage: true,
      native_tools: true,
      reasoning: true,
      vision: true,
      error: null,
      suggested: {
        api_url: upstream.url,
        provider: 'openai',
        upstream_model: 'big-chat',
        tool_mode: 'native',
        thinking: true,
        vision: true,
      },
    })
    for (const request of upstream.requests) expect(request.apiKey).toBe(KEY)
    expect(upstream.requests).toHaveLength(5)
  })

  test('finds no tools, no vision and no usage in a small provider', async () => {
    provider({
      plain: turn.text('pong', { usage: null }),
      tool: turn.error(400, 'tools are not supported'),
      picture: turn.error(400, 'images are not supported'),
    })
    expect(await tryOut({ upstream_model: 'small' })).toMatchObject({
      usage: false,
      native_tools: false,
      vision: false,
      reasoning: false,
      suggested: { upstream_model: 'small', tool_mode: 'prompt', vision: false },
    })
  })

  test.each([
    [400, 'Unsupported value: parallel_calls must be set', 'model_refused'],
    [400, 'Thinking must be enabled for this request', 'model_refused'],
    [429, 'Slow down', 'model_rate_limited'],
    [503, 'Overloaded', 'model_unavailable'],
  ])(
    'reports a request with a tool that fails with %i (%s) instead of suggesting prompt mode',
    async (status, words, code) => {
      provider({
        plain: turn.text('pong'),
        tool: turn.error(status, words),
        picture: turn.text('blue'),
      })
      const report = await tryOut()
      expect(report).toMatchObject({
        native_tools: false,
        error: expect.stringContaining(words),
        error_code: code,
      })
      expect(report.suggested).not.toHaveProperty('tool_mode')
    },
  )

  test('suggests prompt mode for a server started without tool support', async () => {
    provider({
      plain: turn.text('pong'),
      tool: turn.error(500, 'tools param requires --jinja flag'),
      picture: turn.text('blue'),
    })
    expect(await tryOut()).toMatchObject({ error: null, suggested: { tool_mode: 'prompt' } })
  })

  test("fills in window, vision and price for a gateway model that has the table's name", async () => {
    provider({ plain: turn.text('pong'), tool: call, picture: turn.error(429) })
    for (const upstream_model of ['anthropic/claude-sonnet-4-5', 'claude-sonnet-4-5'])
      expect((await tryOut({ upstream_model })).suggested).toMatchObject({
        vision: true,
        context_window: expect.any(Number),
        price: { currency: 'USD', input: 3, output: 15, cached_input: 0.3 },
      })
    // Anybody may run an open model.
    const open = await tryOut({ upstream_model: 'gemma-4-31b-it' })
    expect(open.suggested).not.toHaveProperty('price')
    const unknown = await tryOut({ upstream_model: 'anthropic/Claude-Sonnet-4-5' })
    expect(unknown.suggested).not.toHaveProperty('price')
    expect(unknown.suggested.vision).toBe(false)
  })

  test("fills in the window that a server's list of models reports, unless the table has the model", async () => {
    const list = [
      { id: 'of-vllm', max_model_len: 32_768 },
      { id: 'of-openrouter', context_length: 200_000, top_provider: { context_length: 65_536 } },
      { id: 'of-one-provider', context_length: 200_000, top_provider: null },
      // What the model was trained with is not what this server was started with.
      { id: 'of-llama.cpp', meta: { n_ctx_train: 131_072 } },
      { id: 'broken', max_model_len: '32k', context_length: -1, top_provider: [] },
      { id: 'claude-sonnet-4-5', max_model_len: 4_096 },
    ]
    upstream.program(({ method }) =>
      method === 'GET' ? turn.json(200, { object: 'list', data: list }) : undefined,
    )
    provider({ plain: turn.text('pong'), tool: call, picture: turn.text('Red.') })
    const windows: unknown[] = []
    for (const { id } of list)
      windows.push((await tryOut({ upstream_model: id })).suggested.context_window)
    const known = guessModelRow('claude-sonnet-4-5')?.window
    expect(known).toBeGreaterThan(4_096)
    expect(windows).toEqual([32_768, 65_536, 200_000, undefined, undefined, known])
  })

  test('returns a tool result and reports a provider that refuses it', async () => {
    const isSecond = (request: UpstreamRequest) =>
      request.messages.some(({ role }) => role === 'tool')
    upstream.program((request) =>
      isSecond(request)
        ? turn.error(400, 'Function call is missing a thought_signature')
        : undefined,
    )
    provider({ plain: turn.text('pong'), tool: call, picture: turn.text('Red.') })
    const report = await tryOut()
    expect(report).toMatchObject({
      reachable: true,
      native_tools: false,
      vision: true,
      error: expect.stringContaining('thought_signature'),
    })
    expect(report.suggested).not.toHaveProperty('tool_mode')
  })

  test('returns the reasoning with the tool result, which some providers refuse to do without', async () => {
    const http = createProviderHttp()
    const address = 'https://api.deepseek.com'
    const elsewhere = createModelProbe({
      ...http,
      request: (request) => {
        const href = request.url.href.replace(address, new URL(upstream.url).origin)
        return http.request({ ...request, url: new URL(href) })
      },
    })
    const thought = turn.toolCalls([{ name: 'report_colour', arguments: { colour: 'blue' } }], {
      thinking: 'Call it.',
    })
    provider({ plain: turn.text('pong'), tool: thought, picture: turn.text('Red.') })
    const target = { api_url: `${address}/v1`, upstream_model: 'deepseek-v4-pro' }
    expect(await elsewhere.probe(target, new AbortController().signal)).toMatchObject({
      native_tools: true,
      reasoning: true,
    })
    const second = upstream.requests.find(({ messages }) =>
      messages.some(({ role }) => role === 'tool'),
    )
    expect(second?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', reasoning_content: 'Call it.' },
      { role: 'tool' },
    ])
    await elsewhere.close()
  })

  test('detects tools of a model that accepts them only without reasoning', async () => {
    const refused = 'Function tools with reasoning_effort are not supported for gpt-5.6'
    upstream.program((request) =>
      hasTools(request) && request.body.reasoning_effort !== 'none'
        ? turn.error(400, `${refused}. Set reasoning_effort to 'none'.`)
        : undefined,
    )
    provider({ plain: turn.text('pong'), tool: call, picture: turn.text('?') })
    expect(await tryOut()).toMatchObject({
      native_tools: true,
      error: null,
      suggested: { tool_mode: 'native' },
    })
  })

  test('suggests no stream_options for a provider that refuses them', async () => {
    upstream.program((request) =>
      isChat(request) && request.body.stream_options !== undefined
        ? turn.error(400, 'unknown field stream_options')
        : undefined,
    )
    const whole = { choices: [{ message: { content: 'pong' }, finish_reason: 'stop' }] }
    provider({ plain: turn.json(200, whole), tool: call, picture: turn.text('blue') })
    expect(await tryOut()).toMatchObject({
      streaming: false,
      native_tools: true,
      vision: false,
      suggested: { stream_usage: false },
    })
  })

  test('detects the API of a server whose URL does not reveal it', async () => {
    const only = (path: string, answers: { plain: Turn; tool: Turn }) => {
      upstream.reset()
      upstream.program((request) => {
        if (request.method === 'GET') return undefined
        if (!request.path.endsWith(path)) return turn.error(404, 'Not Found')
        return hasTools(request) ? answers.tool : answers.plain
      })
    }
    const input = { colour: 'blue' }
    only('/responses', {
      plain: responsesTurn([reasoned('hm'), said('red')]),
      tool: responsesTurn([called('call_1', 'report_colour', input)]),
    })
    const suggested = { tool_mode: 'native', vision: true, api_url: upstream.url }
    expect(await tryOut()).toMatchObject({
      native_tools: true,
      reasoning: true,
      suggested: { ...suggested, api: 'responses' },
    })
    only('/messages', {
      plain: messagesTurn([{ type: 'text', text: 'red' }]),
      tool: messagesTurn([{ type: 'tool_use', id: 'toolu_1', name: 'report_colour', input }]),
    })
    expect(await tryOut()).toMatchObject({ suggested: { ...suggested, api: 'messages' } })
  })

  test('adds a missing /v1', async () => {
    provider({ plain: turn.text('pong'), tool: call, picture: turn.text('?') })
    const report = await tryOut({ api_url: `http://127.0.0.1:${upstream.port}` })
    expect(report).toMatchObject({ reachable: true, suggested: { api_url: upstream.url } })
  })

  test('reports what is wrong with key, address or model, and never shows the key', async () => {
    upstream.program(() => turn.error(401, `bad key ${KEY}`))
    const refused = await tryOut()
    expect(refused.error).toContain('API key')
    upstream.reset()
    // Many providers list their models for any key, so a list says nothing about the key.
    upstream.program((request) => (isChat(request) ? turn.error(401, `bad key ${KEY}`) : undefined))
    expect(await tryOut()).toMatchObject({
      reachable: false,
      models: ['test-model'],
      error: expect.stringContaining('rejected the API key'),
      error_code: 'model_unauthorized',
    })
    const dead = await tryOut({ api_url: await refusingUrl() })
    expect(dead).toMatchObject({
      reachable: false,
      error: expect.stringContaining('Cannot reach the model'),
    })
    upstream.reset()
    upstream.program(() => turn.html(200))
    const page = await tryOut()
    expect(page).toMatchObject({
      error: expect.stringContaining('OpenAI-compatible'),
      error_reason: 'model_api_missing',
    })
    upstream.reset()
    upstream.program((request) => (isChat(request) ? turn.error(404, 'no such model') : undefined))
    expect(await tryOut({ upstream_model: 'x' })).toMatchObject({
      reachable: true,
      models: ['test-model'],
      error: expect.stringContaining('does not recognize the model'),
    })
    expect(JSON.stringify([refused, dead, page])).not.toContain(KEY)
  })

  test('needs a model name when the provider lists no models', async () => {
    upstream.models = []
    expect(await tryOut()).toMatchObject({
      error: expect.stringContaining('Enter a model name'),
      error_reason: 'model_list_empty',
    })
  })
})
