// Tools of MCP servers of revision 2026-07-28 over HTTP: no session, no handshake.

import { ResourceTemplate } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { type McpUser, maySeeServer } from '../../../../server/tools/mcp/servers.ts'
import { startModernMcpServer } from '../../../fixtures/mcp-modern-server.ts'
import { eventually } from '../../../support/eventually.ts'
import { call, SOMEBODY, start } from './use-servers.ts'

const startModern = async () => {
  const server = await startModernMcpServer()
  onTestFinished(() => server.close())
  const started = start({ modern: { url: server.url } })
  await started.connected('modern')
  return { server, ...started }
}

test('a server of the newest revision gets no handshake, and its results are any JSON', async () => {
  const { server, tools, mcp } = await startModern()
  expect(mcp.list(SOMEBODY)[0]).toMatchObject({ era: 'modern', state: 'connected' })
  expect(await call(tools.get('mcp__modern__count'))).toMatchObject({ success: true, data: 7 })
  expect(server.requests.map(({ method }) => method)).not.toContain('initialize')
  expect(mcp.tools(SOMEBODY).map(({ name }) => name)).toEqual([
    'mcp__modern__count',
    'mcp__modern__in_region',
    'mcp__modern__wait',
  ])
})

test('an argument marked in the schema is repeated as a header', async () => {
  const { server, tools } = await startModern()
  expect(await call(tools.get('mcp__modern__in_region'), { region: 'eu-west' })).toMatchObject({
    success: true,
    data: 'in eu-west',
  })
  const sent = server.requests.find(({ method }) => method === 'tools/call')
  expect(sent?.headers).toMatchObject({
    'mcp-name': 'in_region',
    'mcp-param-region': 'eu-west',
    'mcp-protocol-version': '2026-07-28',
  })
})

test('an argument that does not fit in a header is encoded, and cannot add another header', async () => {
  const { server, tools } = await startModern()
  const region = 'eu\r\nx-evil: 1 中'
  expect(await call(tools.get('mcp__modern__in_region'), { region })).toMatchObject({
    success: true,
    data: `in ${region}`,
  })
  const sent = server.requests.find(({ method }) => method === 'tools/call')?.headers
  expect(sent?.['mcp-param-region']).toMatch(/^=\?base64\?[\w+/=]+\?=$/)
  expect(sent).not.toHaveProperty('x-evil')
})

test('a call that lacks a header of a newer definition is repeated with it, once', async () => {
  let isMarked = false
  const server = await startModernMcpServer((mcp) => {
    const place = isMarked ? z.string().meta({ 'x-mcp-header': 'Place' }) : z.string()
    mcp.registerTool(
      'look',
      { description: 'Looks', inputSchema: z.object({ place }) },
      async (input) => ({ content: [{ type: 'text', text: `at ${input.place}` }] }),
    )
  })
  onTestFinished(() => server.close())
  const { tools, connected } = start({ modern: { url: server.url } })
  await connected('modern')
  isMarked = true
  expect(await call(tools.get('mcp__modern__look'), { place: 'home' })).toMatchObject({
    success: true,
    data: 'at home',
  })
  const sent = server.requests.filter(({ method }) => method === 'tools/call')
  expect(sent.map(({ headers }) => headers['mcp-param-place'])).toEqual([undefined, 'home'])
})

test('closing the response cancels a call', async () => {
  const { server, tools } = await startModern()
  const stop = new AbortController()
  const answer = call(tools.get('mcp__modern__wait'), {}, stop.signal)
  await eventually(() => expect(server.calls).toContain('wait'))
  stop.abort()
  expect(await answer).toMatchObject({ success: false, error: 'The call was stopped.' })
  await eventually(() => expect(server.calls).toContain('wait was cancelled'))
})

test('a new tool is detected, even after the change stream was interrupted', async () => {
  const { server, tools } = await startModern()
  await eventually(() =>
    expect(server.requests.map(({ method }) => method)).toContain('subscriptions/listen'),
  )
  server.cut()
  server.grow()
  await eventually(() => expect(tools.get('mcp__modern__grown')).toBeDefined())
})

test('a server that is limited to some users does not exist for others', async () => {
  const server = await startModernMcpServer()
  onTestFinished(() => server.close())
  const { mcp } = start({
    open: { url: server.url },
    mine: { url: server.url, users: ['ann'] },
    theirs: { url: server.url, users: ['bob'] },
  })
  await mcp.ready
  await mcp.prepare(SOMEBODY)
  expect(mcp.list(SOMEBODY).map(({ name }) => name)).toEqual(['open', 'mine'])
  expect(mcp.tools(SOMEBODY).map(({ name }) => name)).toContain('mcp__mine__count')
  expect(JSON.stringify(mcp.tools(SOMEBODY))).not.toContain('theirs')
  await expect(mcp.signIn(SOMEBODY, 'theirs', 'https://example.org')).rejects.toMatchObject({
    reason: 'mcp_server_not_found',
  })
})

test('the prompts of a server are listed, and filled in with arguments', async () => {
  const server = await startModernMcpServer((mcp) => {
    mcp.registerPrompt(
      'review',
      {
        title: 'Review',
        description: 'Reviews a text',
        argsSchema: z.object({ text: z.string() }),
      },
      ({ text }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Review this: ${text}` } }],
      }),
    )
  })
  onTestFinished(() => server.close())
  const { mcp, connected } = start({ modern: { url: server.url } })
  await connected('modern')
  expect(await mcp.prompts(SOMEBODY)).toEqual([
    {
      server: 'modern',
      name: 'review',
      title: 'Review',
      description: 'Reviews a text',
      arguments: [{ name: 'text', required: true }],
    },
  ])
  expect(await mcp.prompt(SOMEBODY, 'modern', 'review', { text: 'abc' })).toBe('Review this: abc')
  await expect(mcp.prompt(SOMEBODY, 'modern', 'other', {})).rejects.toMatchObject({
    reason: 'mcp_prompt_failed',
  })
})

test('the resources of a server are listed, and read as files with a name and a type', async () => {
  let read = 0
  const server = await startModernMcpServer((mcp) => {
    mcp.registerResource(
      'Notes',
      'notes://team/weekly%20plan',
      { title: 'Weekly plan', mimeType: 'text/markdown' },
      async ({ href }) => ({
        contents: [{ uri: href, mimeType: 'text/markdown', text: `Plan ${++read}` }],
      }),
    )
    mcp.registerResource('Both', 'notes://both', {}, async () => ({
      contents: [
        { uri: 'notes://both/picture', blob: 'AAAA' },
        { uri: 'notes://both/one', text: 'First' },
        { uri: 'notes://both/two', text: 'Second' },
      ],
    }))
    mcp.registerResource('Bytes', 'notes://bytes', {}, async ({ href }) => ({
      contents: [{ uri: `${href}/report`, mimeType: 'application/pdf', blob: 'JVBERg==' }],
    }))
    mcp.registerResource('Nothing', 'notes://nothing', {}, async () => ({ contents: [] }))
  })
  onTestFinished(() => server.close())
  const { mcp, connected } = start({ modern: { url: server.url } })
  await connected('modern')
  const listed = await mcp.resources(SOMEBODY)
  expect(listed.map(({ name }) => name)).toEqual(['Notes', 'Both', 'Bytes', 'Nothing'])
  expect(listed[0]).toEqual({
    server: 'modern',
    uri: 'notes://team/weekly%20plan',
    name: 'Notes',
    title: 'Weekly plan',
    mime: 'text/markdown',
  })
  const get = async (uri: string) => {
    const { name, content } = await mcp.readResource(SOMEBODY, 'modern', uri)
    return [name, content.toString('latin1')]
  }
  expect(await get('notes://team/weekly%20plan')).toEqual(['weekly plan.md', 'Plan 1'])
  expect(await get('notes://team/weekly%20plan')).toEqual(['weekly plan.md', 'Plan 2'])
  expect(await get('notes://both')).toEqual([
    'one',
    '# notes://both/one\n\nFirst\n\n# notes://both/two\n\nSecond',
  ])
  expect(await get('notes://bytes')).toEqual(['report.pdf', '%PDF'])
  await expect(get('notes://nothing')).rejects.toMatchObject({ reason: 'mcp_resource_empty' })
  await expect(get('notes://other')).rejects.toMatchObject({ reason: 'mcp_resource_failed' })
})

test('resource templates are listed, even if other servers do not support such a list', async () => {
  const server = await startModernMcpServer((mcp) => {
    mcp.registerResource(
      'Day',
      new ResourceTemplate('menu://{+place}/{day}{?diet}', { list: undefined }),
      { title: 'Menu of a day', mimeType: 'text/plain' },
      async ({ href }, { place, day, diet }) => ({
        contents: [{ uri: href, text: `${place} ${day} ${diet}` }],
      }),
    )
  })
  const plain = await startModernMcpServer((mcp) => {
    mcp.registerResource('Only', 'menu://only', {}, async () => ({ contents: [] }))
    mcp.server.removeRequestHandler('resources/templates/list')
  })
  onTestFinished(async () => {
    await Promise.all([server.close(), plain.close()])
  })
  const { mcp, connected, logged } = start({
    modern: { url: server.url },
    plain: { url: plain.url },
  })
  await Promise.all([connected('modern'), connected('plain')])
  expect(await mcp.resourceTemplates(SOMEBODY)).toEqual([
    {
      server: 'modern',
      uri_template: 'menu://{+place}/{day}{?diet}',
      name: 'Day',
      title: 'Menu of a day',
      mime: 'text/plain',
      arguments: [
        { name: 'place', required: true },
        { name: 'day', required: true },
        { name: 'diet', required: false },
      ],
    },
  ])
  expect(logged.join()).not.toContain('not listed')
})

test('access to a server is decided in one place', () => {
  const ann: McpUser = { username: 'ann', role: 'user' }
  expect(maySeeServer({}, undefined)).toBe(true)
  expect(maySeeServer({ users: ['ann'] }, ann)).toBe(true)
  expect(maySeeServer({ users: ['bob'] }, ann)).toBe(false)
  expect(maySeeServer({ users: [] }, { username: 'root', role: 'admin' })).toBe(true)
  expect(maySeeServer({ users: ['ann'] }, undefined)).toBe(false)
})
