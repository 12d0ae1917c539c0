// MCP servers that misbehave: their own connection fails with a clear text, and other servers go on working.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startModernMcpServer } from '../../../fixtures/mcp-modern-server.ts'
import { eventually } from '../../../support/eventually.ts'
import { call, SOMEBODY, start } from './use-servers.ts'

/** A server that does the same with each request. */
async function badServer(respond: (response: ServerResponse) => void): Promise<string> {
  const http = createServer((request, response) => {
    request.resume()
    request.on('end', () => respond(response))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const address = http.address() as AddressInfo // listening on TCP, so never a string or null
  return `http://127.0.0.1:${address.port}/mcp`
}

const flood = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const chunk = 'x'.repeat(1_000_000)
  const more = (): void => {
    if (!response.destroyed) response.write(chunk, more)
  }
  more()
}
const json = (body: string) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(body)

test.each([
  ['floods', flood],
  ['sends no JSON', json('<html>not JSON</html>')],
  ['dies', (response: ServerResponse) => void response.destroy()],
])(
  'a server that %s has no tools and says that its connection failed; another one works',
  async (_how, respond) => {
    const good = await startModernMcpServer()
    onTestFinished(() => good.close())
    const { mcp, tools, connected } = start({
      bad: { url: await badServer(respond) },
      good: { url: good.url },
    })
    await connected('good')
    await eventually(() => {
      const bad = mcp.list(SOMEBODY).find(({ name }) => name === 'bad')
      expect(bad).toMatchObject({ state: expect.not.stringMatching('connected'), tools: [] })
      expect(bad?.error).toMatch(/failed or was lost|in time/)
    })
    expect(await call(tools.get('mcp__good__count'))).toMatchObject({ success: true, data: 7 })
  },
)

/** A good server whose calls of tools are answered by `respond` instead. */
async function badInCalls(respond: (response: ServerResponse, id: unknown) => void) {
  const good = await startModernMcpServer()
  const http = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString('utf8')
      if (request.headers['mcp-method'] === 'tools/call')
        return respond(response, JSON.parse(body).id)
      const headers = new Headers()
      for (const [name, value] of Object.entries(request.headers))
        if (!/^(host|connection|content-length)$/.test(name)) headers.set(name, String(value))
      const answer = await fetch(good.url, { method: request.method ?? 'POST', headers, body })
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      for await (const chunk of answer.body ?? []) response.write(chunk)
      response.end()
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    http.closeAllConnections()
    http.close()
    await good.close()
  })
  const address = http.address() as AddressInfo // listening on TCP, so never a string or null
  return `http://127.0.0.1:${address.port}/mcp`
}

test.each([
  ['floods', flood, /larger than 10 MB, so it was not read. The call has run/],
  [
    'dies',
    (response: ServerResponse) => void response.destroy(),
    /lost during the call; the call may/,
  ],
  [
    'answers with something else than a result',
    (response: ServerResponse, id: unknown) =>
      json(JSON.stringify({ jsonrpc: '2.0', id, result: { content: 'no list' } }))(response),
    /The server rejected the call/,
  ],
  [
    'answers with a page',
    (response: ServerResponse) =>
      void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    /lost during the call; the call may or may not/,
  ],
])(
  'a call of a server that %s fails with a clear text, and another server works',
  async (_how, respond, says) => {
    const good = await startModernMcpServer()
    onTestFinished(() => good.close())
    const { tools, connected } = start({
      bad: { url: await badInCalls(respond) },
      good: { url: good.url },
    })
    await Promise.all([connected('bad'), connected('good')])
    const failed = call(tools.get('mcp__bad__count'))
    expect(await call(tools.get('mcp__good__count'))).toMatchObject({ success: true, data: 7 })
    expect(await failed).toMatchObject({ success: false, error: expect.stringMatching(says) })
    // The connection is made again by itself.
    await connected('bad')
  },
)

test('a server that never responds blocks nobody', async () => {
  const good = await startModernMcpServer()
  onTestFinished(() => good.close())
  const { mcp, tools, connected } = start({
    bad: { url: await badServer(() => {}) },
    good: { url: good.url },
  })
  await connected('good')
  expect(await call(tools.get('mcp__good__count'))).toMatchObject({ success: true })
  expect(await mcp.resources(SOMEBODY)).toEqual([])
  expect(mcp.list(SOMEBODY)).toMatchObject([
    { state: 'connecting', tools: [] },
    { state: 'connected' },
  ])
  await mcp.close()
})

/** A program that says hello to both generations, then does `then` with each tick of the event loop. */
const program = (then: string) => `
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
let left = ''
process.stdin.on('data', (data) => {
  const lines = (left + data).split('\\n')
  left = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize')
      say({ id, result: { protocolVersion: params.protocolVersion, serverInfo: { name: 'bad', version: '1' }, capabilities: { tools: { listChanged: true } } } })
    else if (method === 'tools/list') {
      say({ id, result: { tools: [{ name: 'look', inputSchema: { type: 'object' } }] } })
      start()
    } else if (id !== undefined) say({ id, error: { code: -32601, message: 'unknown' } })
  }
})
let isStarted = false
const start = () => {
  if (isStarted) return
  isStarted = true
  const more = () => { ${then}; if (process.stdout.writableLength < 1e6) setImmediate(more); else process.stdout.once('drain', more) }
  more()
}
`

test.each([
  [
    'sends notifications without end',
    "for (let at = 0; at < 500; at += 1) say({ method: 'notifications/message', params: { level: 'info', data: 'x' } })",
  ],
  ['sends a line without end', "process.stdout.write('x'.repeat(100000))"],
  ['ends at once', 'process.exit(1)'],
])(
  'a program that %s is given up and begun again later; another server works',
  async (_how, then) => {
    const good = await startModernMcpServer()
    onTestFinished(() => good.close())
    const { mcp, tools, connected, logged } = start({
      bad: { command: process.execPath, args: ['-e', program(then)] },
      good: { url: good.url },
    })
    await connected('good')
    await eventually(() =>
      expect(logged.filter((line) => line.includes('is not connected'))).not.toEqual([]),
    )
    expect(await call(tools.get('mcp__good__count'))).toMatchObject({ success: true, data: 7 })
    await mcp.close()
  },
)

test('a server that announces a tool change a thousand times is queried only a few times', async () => {
  const changed =
    "if (!said) { said = true; for (let at = 0; at < 1000; at += 1) say({ method: 'notifications/tools/list_changed' }) } else process.stdout.write('')"
  const source = `let said = false, lists = 0;${program(changed)}`.replace(
    "name: 'look',",
    "name: 'look' + ++lists,",
  )
  const { tools, connected } = start({ bad: { command: process.execPath, args: ['-e', source] } })
  await connected('bad')
  // Once for the first notification, once for all others.
  await eventually(() => expect(tools.get('mcp__bad__look3')).toBeDefined())
  expect(tools.get('mcp__bad__look4')).toBeUndefined()
})
