// The end of a run's stream for clients that connect again by themselves, as an EventSource does.
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../../support/server/server.ts'

const upstream = await useUpstream()

describeOnEachServer('the stream of a run that has ended', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      cors_origins: ['app://obsidian.md', 'chrome-extension://abcdef', 'tauri://localhost'],
    })
  })

  test('a client that already has the last event is told not to connect again', async () => {
    upstream.enqueue(turn.text('Done.'))
    const { json } = await server.call('POST', '/api/conversations', { body: {} })
    const sent = await server.call('POST', `/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Hello', stream: false },
    })
    const url = `${server.url}/api/runs/${sent.json.data.run.id}/events`
    const read = async (id: string) => {
      const response = await fetch(url, { headers: { 'last-event-id': id } })
      return { status: response.status, text: await response.text() }
    }
    const first = await read('0')
    const last =
      first.text
        .match(/^id: (\d+)$/gm)
        ?.at(-1)
        ?.slice('id: '.length) ?? ''
    expect(first.status).toBe(200)
    expect(await read(last)).toEqual({ status: 204, text: '' })
    expect((await read(String(Number(last) - 1))).text).toContain('event: done')
  })

  test('pages of desktop apps and browser extensions may call if their origin is configured', async () => {
    const statusOf = async (origin: string) =>
      (await fetch(`${server.url}/api/conversations`, { headers: { origin } })).status
    expect(await statusOf('app://obsidian.md')).toBe(200)
    expect(await statusOf('chrome-extension://abcdef')).toBe(200)
    expect(await statusOf('tauri://localhost')).toBe(200)
    expect(await statusOf('chrome-extension://other')).toBe(403)
  })

  test('they may send the headers of the packages that programs use, and others may send none', async () => {
    const headers = 'x-api-key,anthropic-version,x-stainless-lang,x-nanoclaw-tools'
    const preflight = (origin: string) =>
      fetch(`${server.url}/v1/messages`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': headers,
        },
      })
    const allowed = await preflight('app://obsidian.md')
    expect(allowed.headers.get('access-control-allow-origin')).toBe('app://obsidian.md')
    expect(allowed.headers.get('access-control-allow-headers')).toBe(headers)
    const other = await preflight('https://elsewhere.example')
    expect(other.headers.get('access-control-allow-headers')).toBeNull()
  })
})
