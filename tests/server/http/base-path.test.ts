// A server below a path of its host: it answers with and without the path, and what it hands out has it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Client,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basePathOf, isPossibleBase, withoutBase } from '../../../server/lib/base-path.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../../support/server/server.ts'
import { setUp } from '../../support/sign-in/single-sign-on.ts'

const INDEX =
  '<!doctype html><html lang="en"><head><link rel="manifest" href="/app.webmanifest" /><script>"/inline"</script></head><body><a href="//other.example/x">x</a><script type="module" src="/assets/a.js"></script></body></html>'

/** Where clients look for metadata: at the top of the host, with the path of what they call behind it (RFC 8414, RFC 9728), or below that. */
const WELL_KNOWN = [
  '/.well-known',
  '/.well-known/anything.json',
  '/%2ewell-known/oauth-authorization-server',
  ...['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration'].flatMap(
    (name) => ['', '/mcp', '/chat/mcp', '/mcp?x=1'].map((path) => `/.well-known/${name}${path}`),
  ),
  '/mcp/.well-known/openid-configuration',
  '/c/.well-known/openid-configuration',
  '/mcp/nothing',
]

describe('a server at /chat of its host', () => {
  const { start } = useServers()
  const webRoot = mkdtempSync(join(tmpdir(), 'nanoclaw-page-'))
  let server: TestServer
  let token: string
  beforeAll(async () => {
    mkdirSync(join(webRoot, 'assets'))
    for (const name of ['index.html', 'accounts.html', 'diagram.html'])
      writeFileSync(join(webRoot, name), INDEX)
    writeFileSync(join(webRoot, 'assets/a.js'), 'export {}')
    server = await start({
      webRoot,
      config: {
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        public_url: 'https://example.org/chat/',
        public_reference: true,
      },
    })
    token = await setUp(server)
  })
  afterAll(() => rmSync(webRoot, { recursive: true, force: true }))
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(server.url + path, { headers, redirect: 'manual' })

  test('the API, the page and its files are found whether the proxy has removed the path or not', async () => {
    for (const path of ['/healthz', '/api/auth/mode', '/assets/a.js', '/c/some-id', '/', ''])
      for (const base of ['', '/chat'])
        expect((await get(base + path)).status, base + path).toBe(200)
    const { status } = await get('/chat/api/auth/profile', { authorization: `Bearer ${token}` })
    expect(status).toBe(200)
    for (const path of ['/chat/chat/api/auth/mode', '/chatty/api/auth/mode'])
      expect((await get(path)).headers.get('content-type'), path).toContain('text/html')
    expect((await get('/chat/api/nothing')).status).toBe(404)
  })

  test('documents have the path before their addresses, are compressed, and are not sent twice', async () => {
    const response = await get('/chat/c/some-id', { 'accept-encoding': 'identity' })
    const html = await response.text()
    expect(html).toContain('<html data-base="/chat" lang="en">')
    expect(html).toContain('href="/chat/app.webmanifest"')
    expect(html).toContain('src="/chat/assets/a.js"')
    expect(html).toContain('"/inline"')
    expect(html).toContain('href="//other.example/x"')
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self' 'sha256-")
    const etag = response.headers.get('etag') ?? ''
    expect((await get('/c/some-id', { 'if-none-match': etag })).status).toBe(304)
    for (const encoding of ['br', 'gzip']) {
      const compressed = await get('/diagram.html', { 'accept-encoding': encoding })
      expect(compressed.headers.get('content-encoding')).toBe(encoding)
      expect(await compressed.text()).toBe(html)
    }
  })

  test('cookies, links and the reference have the path', async () => {
    const { headers } = await server.call('POST', '/chat/api/auth/login', {
      body: { username: 'root', password: 'a good password', cookie: true },
    })
    for (const cookie of headers.getSetCookie())
      expect(cookie).toMatch(/; Path=\/chat\/api\/auth; .*Secure/)
    expect(headers.getSetCookie()).toHaveLength(2)
    const invited = await server.call('POST', '/api/admin/invitations', { token, body: {} })
    expect(invited.json.data.url).toMatch(/^https:\/\/example\.org\/chat\/join#/)
    expect(await (await get('/openapi.json')).json()).toMatchObject({ servers: [{ url: '/chat' }] })
    expect(await (await get('/chat/docs')).text()).toContain('"/chat/docs/static/swagger-ui.css"')
  })

  test('the other address of the reference leads to its beginning, below the path', async () => {
    for (const base of ['', '/chat']) {
      const { status, headers } = await get(`${base}/docs/static/index.html`)
      expect([status, headers.get('location')]).toEqual([302, '/chat/docs/'])
    }
    expect((await get('/chat/docs/')).status).toBe(200)
  })

  test('programs reach the server below the path: by /v1 in both formats, and by /mcp', async () => {
    const made = await server.call('POST', '/api/auth/keys', { token, body: { name: 'program' } })
    const { key } = made.json.data
    const openai = new OpenAI({ baseURL: `${server.url}/chat/v1`, apiKey: key })
    const asked = [{ role: 'user' as const, content: 'What is 12 * 34?' }]
    const { choices } = await openai.chat.completions.create({ model: 'nanoclaw', messages: asked })
    expect(choices[0]?.message.content).toContain('408')
    const { output_text } = await openai.responses.create({
      model: 'nanoclaw',
      input: 'What is 12 * 34?',
    })
    expect(output_text).toContain('408')
    const messages = await fetch(`${server.url}/chat/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({ model: 'nanoclaw', max_tokens: 100, messages: asked }),
    })
    expect(await messages.text()).toContain('408')
    const refused = await fetch(`${server.url}/chat/v1/messages`, { method: 'POST' })
    expect(await refused.json()).toMatchObject({ type: 'error' })
    const client = new Client({ name: 'program', version: '1' })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${server.url}/chat/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
      }),
    )
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('ask')
    await client.close()
  })

  test('paths of metadata that the server does not have are not found, in JSON, so that MCP clients see that there is no OAuth', async () => {
    for (const path of WELL_KNOWN)
      for (const base of ['', '/chat']) {
        const response = await get(base + path, { accept: 'text/html' })
        expect(response.status, base + path).toBe(404)
        expect(await response.json(), base + path).toMatchObject({ reason: 'nothing_here' })
      }
    for (const url of [`${server.url}/mcp`, `${server.url}/chat/mcp`]) {
      await expect(discoverOAuthProtectedResourceMetadata(url)).rejects.toThrow(
        'does not implement',
      )
      expect(await discoverAuthorizationServerMetadata(url)).toBeUndefined()
    }
  })

  test('a shared conversation names its files relative to itself', async () => {
    const made = await server.call('POST', '/api/conversations', {
      token,
      body: { title: 'Shared' },
    })
    const path = `/api/conversations/${made.json.data.id}/share`
    const shared = await server.call('POST', path, { token, body: {} })
    expect(shared.json.data.url).toMatch(/^https:\/\/example\.org\/chat\/s\//)
    const name = new URL(shared.json.data.url).pathname
    const html = await (await get(name)).text()
    const onward = /href="(\.\.\/continue\/[^"]+)"/.exec(html)?.[1] ?? ''
    expect(new URL(onward, `${server.url}${name}`).pathname).toMatch(/^\/chat\/continue\//)
  })
})

describe('a server at the top of its host', () => {
  const { start } = useServers()

  test('paths of metadata that it does not have are not found, in JSON', async () => {
    const { url } = await start()
    for (const path of WELL_KNOWN) {
      const response = await fetch(url + path)
      expect(response.status, path).toBe(404)
      expect(response.headers.get('content-type'), path).toContain('application/json')
    }
  })
})

test('the path of the public URL has no slash at its end, and only whole parts of a request are removed', () => {
  expect(
    ['https://a.example', 'https://a.example/', 'https://a.example/x/y/'].map(basePathOf),
  ).toEqual(['', '', '/x/y'])
  expect(['/x', '/x?q', '/x/', '/x/api', '/xy', '/'].map((url) => withoutBase(url, '/x'))).toEqual([
    ...['/', '/?q', '/', '/api', '/xy', '/'],
  ])
})

test('no path is possible that begins like one of the server or the page', () => {
  for (const path of ['', '/chat', '/tools/nano-claw_1.0~x', '/v2'])
    expect(isPossibleBase(path)).toBe(true)
  for (const path of [
    '/api',
    '/c',
    '/s/x',
    '/settings',
    '/../x',
    '/a b',
    '/%20',
    '/x//y',
    '/"><script>',
  ])
    expect(isPossibleBase(path)).toBe(false)
})
