// Apps of MCP servers over HTTP: their documents, the domains that people allow them, and the document that holds their frame.
import { expect, onTestFinished, test } from 'vitest'
import { startModernMcpServer } from '../../../fixtures/mcp-modern-server.ts'
import { scripted } from '../../../support/provider/scripted.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../../support/server/server.ts'

const upstream = await useUpstream()
const servers = useServers()
const MIME = 'text/html;profile=mcp-app'
const URI = 'ui://maps/map.html'
const HTML = '<!doctype html><p>Map</p>'
const CSP = {
  connectDomains: ['https://api.example.org', 'wss://*.example.org:8443'],
  resourceDomains: ['https://cdn.example.org', 'https://api.example.org'],
  frameDomains: ['https://frames.example.org'],
}
const DOMAINS = ['https://api.example.org', 'https://cdn.example.org', 'wss://*.example.org:8443']
const MULTI = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }

async function startMaps() {
  const maps = await startModernMcpServer((mcp) => {
    mcp.registerTool(
      'map',
      { description: 'Shows a map', _meta: { ui: { resourceUri: URI } } },
      async () => ({ content: [{ type: 'text', text: 'Here.' }] }),
    )
    mcp.registerResource('Map', URI, { mimeType: MIME }, async () => ({
      contents: [{ uri: URI, mimeType: MIME, text: HTML, _meta: { ui: { csp: CSP } } }],
    }))
  })
  onTestFinished(() => maps.close())
  return maps
}

const read = (server: TestServer, { name = 'maps', uri = URI, token }: Given = {}) =>
  server.call('GET', `/api/mcp/apps/${name}?uri=${encodeURIComponent(uri)}`, { token })
interface Given {
  name?: string
  uri?: string
  token?: string
}

describeOnEachServer('an app of an MCP server', (start) => {
  test('is read by its address, and reaches the domains that its user has allowed, exactly these, until they are not allowed any more', async () => {
    const maps = await startMaps()
    const server = await start({ ...MULTI, mcp_servers: { maps: { url: maps.url } } })
    await server.server.toolsReady
    await server.server.appsServer?.listen({ host: '127.0.0.1', port: 0 })
    const ada = await register(server, 'ada')
    const bob = await register(server, 'bob')
    const before = await read(server, { token: ada })
    expect(before.json.data).toMatchObject({ html: HTML, csp: CSP, permissions: {} })
    expect(before.json.data.domains_allowed).toBe(false)
    const frame = new URL(before.json.data.url)
    expect(frame.origin).not.toBe(new URL(server.url).origin)
    expect(frame.pathname).toBe('/proxy.html')
    expect(frame.searchParams.get('csp')).toBeNull()

    const put = (body: object, token = ada, name = 'maps') =>
      server.call('PUT', `/api/mcp/apps/${name}/domains`, { body, token })
    const allowed = await put({
      domains: [...CSP.connectDomains, ...CSP.resourceDomains],
      allowed: true,
    })
    expect(allowed.json.data).toEqual({ domains: DOMAINS, allowed: true })
    const after = (await read(server, { token: ada })).json.data
    expect(after.domains_allowed).toBe(true)
    const { connectDomains, resourceDomains } = CSP
    expect(JSON.parse(new URL(after.url).searchParams.get('csp') ?? '')).toEqual({
      connectDomains,
      resourceDomains,
    })
    expect((await read(server, { token: bob })).json.data.domains_allowed).toBe(false)
    const listed = () => server.call('GET', '/api/mcp/apps/maps/domains', { token: ada })
    expect((await listed()).json.data.items).toMatchObject([{ domains: DOMAINS }])
    // Another list is another question.
    await put({ domains: DOMAINS, allowed: false })
    await put({ domains: DOMAINS.slice(1), allowed: true })
    expect((await read(server, { token: ada })).json.data.domains_allowed).toBe(false)

    for (const domain of [
      'http://example.org',
      'https://',
      'https://*',
      'https://a.*.org',
      'https://example.org/x',
      '*',
      'https://a.org; script-src *',
    ])
      expect([domain, (await put({ domains: [domain], allowed: true })).status]).toEqual([
        domain,
        400,
      ])
    expect((await put({ domains: DOMAINS, allowed: true }, ada, 'other')).status).toBe(404)
    const { json } = await server.call('GET', '/api/admin/audit?action=mcp_app_domains_allowed', {
      token: ada,
    })
    expect(json.data.items).toMatchObject([
      { username: 'ada', details: { server: 'maps', domains: DOMAINS.slice(1).join(' ') } },
      { username: 'ada', details: { server: 'maps', domains: DOMAINS.join(' ') } },
    ])
  })
})

test('a document is 404 for a server that is not there, without a sign-in and where apps are off, and 400 for an address that nothing names', async () => {
  const maps = await startMaps()
  const mcp_servers = { maps: { url: maps.url }, secret: { url: maps.url, users: ['carol'] } }
  const server = await servers.start({ config: { ...MULTI, mcp_servers } })
  await server.server.toolsReady
  await register(server, 'ada')
  const token = await register(server, 'bob')
  expect((await read(server)).status).toBe(401)
  expect((await read(server, { token })).status).toBe(200)
  expect((await read(server, { token, name: 'secret' })).status).toBe(404)
  expect((await read(server, { token, name: 'none' })).status).toBe(404)
  expect((await read(server, { token, uri: 'ui://maps/other.html' })).status).toBe(400)
  expect((await read(server, { token, uri: 'https://example.org/' })).status).toBe(400)
  expect((await server.call('GET', '/api/mcp/apps/maps', { token })).status).toBe(400)
  // The server has no origin for apps yet.
  expect((await read(server, { token })).json.data.url).toBeNull()
  const off = await servers.start({ config: { mcp_servers, apps: { enabled: false } } })
  await off.server.toolsReady
  expect((await read(off)).json).toMatchObject({ code: 404, reason: 'apps_off' })
})

test('the result of a tool with an app names it in the message', async () => {
  const maps = await startMaps()
  const server = await servers.start({
    config: {
      ...scripted(upstream),
      approval: { default: 'auto' },
      mcp_servers: { maps: { url: maps.url } },
    },
  })
  await server.server.toolsReady
  upstream.enqueue(
    turn.toolCalls([{ name: 'mcp__maps__map', arguments: {} }]),
    turn.text('There it is.'),
  )
  const { json } = await server.call('POST', '/api/conversations', { body: {} })
  const sent = await server.call('POST', `/api/conversations/${json.data.id}/messages`, {
    body: { text: 'Where?', stream: false },
  })
  const steps: { type: string; artifact?: unknown }[] = sent.json.data.message.process_steps
  expect(steps.find(({ type }) => type === 'tool_result')?.artifact).toMatchObject({
    untrusted: true,
    app: { server: 'maps', uri: URI, tool: 'map' },
    app_result: { content: [{ type: 'text', text: 'Here.' }] },
  })
})

test('the document around an app has the policy of its query, which cannot ask for more than encrypted origins', async () => {
  const server = await servers.start({ config: {} })
  const { appsServer } = server.server
  await appsServer?.listen({ host: '127.0.0.1', port: 0 })
  const { json } = await server.call('POST', '/api/projects', { body: { name: 'Apps' } })
  const project = json.data.id
  await server.call('PUT', `/api/projects/${project}/files/a.html`, { body: { content: '' } })
  const opened = await server.call('POST', '/api/apps', {
    body: { project_id: project, path: 'a.html' },
  })
  const { port } = new URL(opened.json.data.url)
  const proxy = (query: Record<string, string>, method = 'GET') =>
    fetch(`http://127.0.0.1:${port}/proxy.html?${new URLSearchParams(query)}`, { method })
  const page = 'http://127.0.0.1:3000'

  const closed = await proxy({ page })
  expect(closed.status).toBe(200)
  expect(closed.headers.get('content-security-policy')).toBe(
    [
      "default-src 'none'",
      "script-src 'unsafe-inline' 'self'",
      "style-src 'unsafe-inline' 'self'",
      "img-src data: 'self'",
      "font-src data: 'self'",
      "media-src data: 'self'",
      "connect-src 'none'",
      "frame-src 'none'",
      "object-src 'none'",
      "worker-src 'none'",
      "form-action 'none'",
      "base-uri 'none'",
      `frame-ancestors ${page}`,
    ].join('; '),
  )
  expect(closed.headers.get('connection-allowlist')).toBe('(response-origin)')
  const csp = (fields: object) => ({ page, csp: JSON.stringify(fields) })
  const opener = await proxy(csp(CSP))
  const policy = opener.headers.get('content-security-policy')
  expect(policy).toContain('connect-src https://api.example.org wss://*.example.org:8443;')
  expect(policy).toContain("img-src data: 'self' https://cdn.example.org https://api.example.org;")
  expect(policy).toContain("frame-src 'none';")
  const both = ['api.example.org', '*.example.org:8443', 'cdn.example.org'].flatMap((host) => [
    `"https://${host}"`,
    `"wss://${host}"`,
  ])
  expect(opener.headers.get('connection-allowlist')).toBe(`(response-origin ${both.join(' ')})`)

  const wrong = [
    '*',
    'http://a.org',
    'https:',
    'https://',
    'https://*.',
    'https://a.*.org',
    'https://a.org/x',
    "'unsafe-eval'",
    'https://a.org; script-src *',
    'https://a.org\n',
  ]
  for (const domain of wrong)
    expect([domain, (await proxy(csp({ connectDomains: [domain] }))).status]).toEqual([domain, 400])
  for (const query of [
    { csp: '{' },
    { csp: '[]' },
    csp({ scriptDomains: [] }),
    { page: '*' },
    { page: "'self'" },
    { other: '1' },
  ])
    expect([query, (await proxy(query as Record<string, string>)).status]).toEqual([query, 400])
  // Only pages of this server, if the address names none.
  expect((await proxy({})).headers.get('content-security-policy')).toContain(
    'frame-ancestors http://127.0.0.1:',
  )
  expect((await proxy({ page }, 'POST')).status).toBe(405)
  expect((await fetch(`http://127.0.0.1:${port}/proxy.html/x`)).status).toBe(404)
})
