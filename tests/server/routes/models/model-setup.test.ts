// Setting up the first model: presets, probe, store, chat; the API key is never returned.
import { describe, expect, test } from 'vitest'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { useServers } from '../../../support/server/server.ts'

const KEY = 'sk-setup-key-123456'
const servers = useServers()
const upstream = await useUpstream()

describe('a model that is set to think', () => {
  test('is asked to think unless the conversation disables it', async () => {
    upstream.program(() => turn.text('ok'))
    const server = await servers.start({
      config: {
        models: [{ id: 'deep', api_url: upstream.url, thinking: 'high' }],
        titles: 'off',
      },
    })
    for (const body of [{}, { thinking_enabled: false }]) {
      const created = await server.call('POST', '/api/conversations', { body })
      await server.call('POST', `/api/conversations/${created.json.data.id}/messages`, {
        body: { text: 'think', stream: false },
      })
    }
    expect(upstream.requests.map((request) => request.body.reasoning_effort)).toEqual([
      'high',
      undefined,
    ])
  })
})

describe('adding a provider', () => {
  test('leads from the demo to a model that was probed, stored and answers', async () => {
    const server = await servers.start()
    expect((await server.call('GET', '/api/models')).json.data).toMatchObject([{ id: 'demo' }])
    const presets = await server.call('GET', '/api/admin/models/presets')
    expect(presets.json.data.map(({ id }: { id: string }) => id)).toContain('deepseek')

    upstream.program((request) =>
      request.path.endsWith('/chat/completions') ? turn.text('a red pong') : undefined,
    )
    const probed = await server.call('POST', '/api/admin/models/probe', {
      body: { api_url: upstream.url, api_key: KEY },
    })
    expect(probed.json.data).toMatchObject({
      reachable: true,
      suggested: { upstream_model: 'test-model', tool_mode: 'prompt', vision: true },
    })

    const model = { ...probed.json.data.suggested, id: 'mine', name: 'Mine', api_key: KEY }
    const stored = await server.call('POST', '/api/admin/models', { body: model })
    expect(stored.json.data).toMatchObject({ id: 'mine', has_api_key: true, source: 'store' })
    const list = await server.call('GET', '/api/models')
    expect(list.json.data).toMatchObject([{ id: 'mine', default: true, demo: false }])

    const conversation = await server.call('POST', '/api/conversations', { body: {} })
    const response = await server.call(
      'POST',
      `/api/conversations/${conversation.json.data.id}/messages`,
      { body: { text: 'hello', stream: false } },
    )
    expect(response.json.data.message.text).toBe('a red pong')
    expect(upstream.requests.at(-1)?.apiKey).toBe(KEY)
    const seen = JSON.stringify([presets, probed, stored, list, response]) + server.logged()
    expect(seen).not.toContain(KEY)
  })

  test('returns 400 for an invalid address and reports an address that does not respond', async () => {
    const server = await servers.start()
    const wrong = await server.call('POST', '/api/admin/models/probe', { body: { api_url: 'x' } })
    expect(wrong.status).toBe(400)
    const dead = await server.call('POST', '/api/admin/models/probe', {
      body: { api_url: 'http://127.0.0.1:1/v1' },
    })
    expect(dead.json.data).toMatchObject({ reachable: false, error: expect.any(String) })
  })
})
