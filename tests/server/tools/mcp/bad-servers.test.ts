// MCP servers that misbehave: their own connection fails with a clear text, and other servers go on working.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startModernMcpServer } from '../../../fixtures/mcp-modern-server.ts'
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
    await vi.waitFor(
      () => {
        const bad = mcp.list(SOMEBODY).find(({ name }) => name === 'bad')
        expect(bad).toMatchObject({ state: expect.not.stringMatching('connected'), tools: [] })
        expect(bad?.error).toMatch(/failed or was lost|in time/)
      },
      { timeout: 25_000 },
    )
    expect(await call(tools.get('mcp__good__count'))).toMatchObject({ success: true, data: 7 })
  },
)
