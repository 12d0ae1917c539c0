// Apps of MCP servers: what servers are told, which tools models see, which document a result names, and how it is read.
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startModernMcpServer } from '../../../fixtures/mcp-modern-server.ts'
import { startScriptedMcpServer } from '../../../fixtures/mcp-scripted-server.ts'
import { call, SOMEBODY, start, temporaryFolder } from './use-servers.ts'

const MIME = 'text/html;profile=mcp-app'
const HTML = '<!doctype html><p>Clock</p>'
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

const sdk = resolve(
  import.meta.dirname,
  '../../../../node_modules/@modelcontextprotocol/sdk/dist/esm',
)

/** A program that shows a clock, and tells what the client has said of itself. */
const PROGRAM = `
import { McpServer } from '${sdk}/server/mcp.js'
import { StdioServerTransport } from '${sdk}/server/stdio.js'
const server = new McpServer({ name: 'clocks', version: '1' })
const ui = { resourceUri: 'ui://clocks/clock.html' }
server.registerTool('clock', { description: 'Shows a clock', _meta: { ui } }, async () => ({
  content: [{ type: 'text', text: '12:00' }], structuredContent: { hours: 12 }, _meta: { zone: 'UTC' },
}))
server.registerTool('old', { description: 'Shows it, as before', _meta: { 'ui/resourceUri': ui.resourceUri } }, async () => ({ content: [{ type: 'text', text: 'old' }] }))
server.registerTool('tick', { description: 'For the app', _meta: { ui: { visibility: ['app'] } } }, async () => ({ content: [] }))
server.registerTool('told', { description: 'What it was told' }, async () => ({
  content: [{ type: 'text', text: JSON.stringify(server.server.getClientCapabilities()) }],
}))
server.registerResource('Clock', ui.resourceUri, { mimeType: '${MIME}' }, async () => ({ contents: [{
  uri: ui.resourceUri, mimeType: '${MIME}', text: '${HTML}',
  _meta: { ui: { csp: { connectDomains: ['https://time.example.org', 'http://plain.example.org', '*'] }, permissions: { camera: {}, other: {} } } },
}] }))
await server.connect(new StdioServerTransport())`

async function startProgram(offersApps: boolean) {
  const file = join(await temporaryFolder(), 'server.mjs')
  await writeFile(file, PROGRAM)
  const started = start({ clocks: { command: process.execPath, args: [file] } }, { offersApps })
  await started.connected('clocks')
  return started
}

describe('a program with apps', () => {
  test('is told that apps are shown, its results name their app, and tools that are only for apps are hidden from models', async () => {
    const { tools, mcp } = await startProgram(true)
    const { data } = await call(tools.get('mcp__clocks__told'))
    expect(JSON.stringify(data)).toContain('io.modelcontextprotocol/ui')
    expect(JSON.stringify(data)).toContain(MIME)

    const app = { server: 'clocks', uri: 'ui://clocks/clock.html' }
    const shown = await call(tools.get('mcp__clocks__clock'))
    expect(shown.artifact?.app).toEqual({ ...app, tool: 'clock' })
    expect(shown.artifact?.app_result).toEqual({
      content: [{ type: 'text', text: '12:00' }],
      structuredContent: { hours: 12 },
      _meta: { zone: 'UTC' },
    })
    expect((await call(tools.get('mcp__clocks__old'))).artifact?.app).toEqual({
      ...app,
      tool: 'old',
    })
    expect(tools.get('mcp__clocks__tick')).toBeUndefined()
    expect(mcp.list(SOMEBODY)[0]?.tools.map(({ name }) => name)).not.toContain('mcp__clocks__tick')
  })

  test('sends the document of an address that it names, and of what it asks for only what could be allowed is passed on', async () => {
    const { mcp } = await startProgram(true)
    expect(await mcp.readApp(SOMEBODY, 'clocks', 'ui://clocks/clock.html')).toEqual({
      html: HTML,
      csp: { connectDomains: ['https://time.example.org'] },
      permissions: { camera: {} },
      sha256: createHash('sha256').update(HTML).digest('hex'),
    })
    await expect(mcp.readApp(SOMEBODY, 'clocks', 'ui://clocks/other.html')).rejects.toMatchObject({
      status: 400,
      reason: 'mcp_app_unknown',
    })
    await expect(mcp.readApp(SOMEBODY, 'other', 'ui://clocks/clock.html')).rejects.toMatchObject({
      status: 404,
    })
  })

  test('is told nothing of apps where they are off, and its results name none', async () => {
    const { tools } = await startProgram(false)
    const { data } = await call(tools.get('mcp__clocks__told'))
    expect(JSON.stringify(data)).not.toContain('io.modelcontextprotocol/ui')
    const { artifact } = await call(tools.get('mcp__clocks__clock'))
    expect(artifact).not.toHaveProperty('app')
    expect(artifact).not.toHaveProperty('app_result')
    expect(tools.get('mcp__clocks__tick')).toBeUndefined()
  })
})

test('a server over HTTP of the newest revision shows apps, too, and documents that are too large or of another type are refused', async () => {
  const server = await startModernMcpServer((mcp) => {
    const uri = 'ui://shop/cart.html'
    mcp.registerTool('cart', { _meta: { ui: { resourceUri: uri } } }, async () => text('full'))
    const add = (name: string, address: string, mimeType: string, html: string) =>
      mcp.registerResource(name, address, { mimeType }, async () => ({
        contents: [{ uri: address, mimeType, text: html }],
      }))
    add('Cart', uri, MIME, HTML)
    add('Large', 'ui://shop/large.html', MIME, 'x'.repeat(2 * 1024 * 1024 + 1))
    add('Page', 'ui://shop/page.html', 'text/html', HTML)
    add('Quoted', 'ui://shop/quoted.html', 'text/html; profile="mcp-app"', HTML)
  })
  onTestFinished(() => server.close())
  const { mcp, tools, connected } = start({ shop: { url: server.url } }, { offersApps: true })
  await connected('shop')
  const shown = await call(tools.get('mcp__shop__cart'))
  expect(shown.artifact?.app).toEqual({ server: 'shop', uri: 'ui://shop/cart.html', tool: 'cart' })
  const read = (name: string) => mcp.readApp(SOMEBODY, 'shop', `ui://shop/${name}.html`)
  expect((await read('cart')).html).toBe(HTML)
  expect((await read('quoted')).html).toBe(HTML)
  await expect(read('large')).rejects.toMatchObject({ status: 413 })
  await expect(read('page')).rejects.toMatchObject({ status: 415 })
})

test('what a server says oddly about apps counts as not said', async () => {
  const odd = await startScriptedMcpServer({
    tools: [
      { name: 'number', inputSchema: {}, _meta: { ui: { resourceUri: 7, visibility: 'app' } } },
      { name: 'web', inputSchema: {}, _meta: { ui: { resourceUri: 'https://example.org/' } } },
      { name: 'none', inputSchema: {}, _meta: { ui: { visibility: [] } } },
      { name: 'list', inputSchema: {}, _meta: { ui: [] } },
    ],
  })
  const { tools, mcp, connected } = start({ odd: { url: odd.url } }, { offersApps: true })
  await connected('odd')
  expect(mcp.tools(SOMEBODY).map(({ name }) => name)).toEqual([
    'mcp__odd__list',
    'mcp__odd__number',
    'mcp__odd__web',
  ])
  for (const name of ['number', 'web', 'list'])
    expect((await call(tools.get(`mcp__odd__${name}`))).artifact).not.toHaveProperty('app')
})
