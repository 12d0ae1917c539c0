// How MCP servers are started and reached: programs a few at a time, once each; old transports; what became of a call.
import { EventEmitter, once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createClientOpener } from '../../../../server/tools/mcp/connection/open-client.ts'
import { createMcpConnection } from '../../../../server/tools/mcp/connection.ts'
import { createStarts } from '../../../../server/tools/mcp/servers.ts'
import { startScriptedMcpServer } from '../../../fixtures/mcp-scripted-server.ts'
import { eventually } from '../../../support/eventually.ts'
import { call, SOMEBODY, start, temporaryFolder } from './use-servers.ts'

const TOOLS = [{ name: 'good', inputSchema: { type: 'object' } }]

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const http = createServer(handle)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const address = http.address() as AddressInfo // listening on TCP, so never a string or null
  return `http://127.0.0.1:${address.port}`
}

/** A program that answers as servers of earlier revisions do. `first` runs at its start. */
const program = (first: string, more = '') => ({
  command: process.execPath,
  args: [
    '-e',
    `${first}
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
    let left = ''
    process.stdin.on('data', (data) => {
      const lines = (left + data).split('\\n')
      left = lines.pop()
      for (const line of lines) {
        const { id, method, params } = JSON.parse(line)
        ${more}
        if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, serverInfo: { name: 'p', version: '1' }, capabilities: { tools: {} } } })
        else if (method === 'tools/list') say({ id, result: { tools: [{ name: 'good', inputSchema: { type: 'object' } }] } })
        else if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: 'x'.repeat(params.arguments.size ?? 1) }] } })
        else if (id !== undefined) say({ id, error: { code: -32601, message: 'unknown' } })
      }
    })`,
  ],
})

describe('a program', () => {
  test('is started once, and again only if it ends at the question for its revision', async () => {
    const { mcp, tools, connected } = start({
      plain: program("process.stderr.write('begun ')"),
      strict: program(
        "process.stderr.write('begun ')",
        "if (method === 'server/discover') process.exit(1)",
      ),
    })
    await Promise.all([connected('plain'), connected('strict')])
    expect(mcp.listAll(SOMEBODY).map(({ output, era }) => [output, era])).toEqual([
      ['begun', 'legacy'],
      // The output of the second start.
      ['begun', 'legacy'],
    ])
    expect(await call(tools.get('mcp__strict__good'))).toMatchObject({ data: 'x' })
  })

  test('says on its standard error what it needs, and administrators read that, without secrets', async () => {
    const { mcp } = start({
      keyless: {
        command: process.execPath,
        args: [
          '-e',
          'console.error("\\u001b[31mError:\\u001b[0m NOTES_KEY is missing, seed " + process.env.SEED); process.exit(1)',
        ],
        env: { SEED: 'very-secret-seed' },
      },
    })
    await eventually(() =>
      expect(mcp.listAll(SOMEBODY)[0]).toMatchObject({
        state: 'waiting',
        output: 'Error: NOTES_KEY is missing, seed [redacted]',
      }),
    )
    expect(JSON.stringify(mcp.list(SOMEBODY))).not.toContain('NOTES_KEY')
  })

  test('starts beside at most two others, and one that failed before after those that were never tried', async () => {
    const starts = createStarts()
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const begin = (name: string, isFirst: boolean) =>
      void starts(isFirst).then((end) => {
        begun.push(name)
        ends.set(name, end)
      })
    for (const name of ['a', 'b', 'c']) begin(name, true)
    begin('failed', false)
    begin('d', true)
    await eventually(() => expect(begun).toEqual(['a', 'b', 'c']))
    // What has ended already does not make room twice.
    for (const name of ['b', 'b']) ends.get(name)?.()
    await eventually(() => expect(begun).toEqual(['a', 'b', 'c', 'd']))
    ends.get('a')?.()
    await eventually(() => expect(begun).toEqual(['a', 'b', 'c', 'd', 'failed']))
  })

  test('is not started again when its connection is closed before it has answered', async () => {
    const starts = join(await temporaryFolder(), 'starts')
    const connection = createMcpConnection({
      name: 'silent',
      settings: program(
        `require('node:fs').appendFileSync(${JSON.stringify(starts)}, 'begun ')`,
        'continue',
      ),
      onChange: () => {},
      log: () => {},
      starts: async () => () => {},
    })
    onTestFinished(() => connection.close())
    const opened = connection.open()
    await eventually(async () => expect(await readFile(starts, 'utf8')).toBe('begun '))
    await connection.close()
    await opened
    expect(await readFile(starts, 'utf8')).toBe('begun ')
  })

  test('is not started at all when its connection is closed first', async () => {
    const starts = join(await temporaryFolder(), 'starts')
    const opener = createClientOpener(
      program(`require('node:fs').writeFileSync(${JSON.stringify(starts)}, '')`),
      {
        maxResponseBytes: 1_000,
        isWaiting: () => false,
        offersApps: false,
        onOutput() {},
        onProblems() {},
      },
    )
    let isClosed = false
    const close = () => {
      isClosed = true
    }
    await expect(opener.open(close, () => isClosed)).rejects.toThrow(/no longer wanted/)
    await expect(readFile(starts)).rejects.toThrow(/ENOENT/)
  })

  test('that prints without end is ended and started again, and the log stays short', async () => {
    const go = (line: string) =>
      `{ const go = () => process.stdout.write(${JSON.stringify(`${line}\n`)}.repeat(2_000), go); go(); continue }`
    const stray = '{"jsonrpc":"2.0","id":99999,"result":{}}'
    const { tools, connected, logged } = start({
      noise: program('', `if (method === 'tools/call') ${go('no message')}`),
      strays: program('', `if (method === 'tools/call') ${go(stray)}`),
    })
    await Promise.all(
      ['noise', 'strays'].map(async (name) => {
        await connected(name)
        expect(await call(tools.get(`mcp__${name}__good`))).toMatchObject({
          success: false,
          error: expect.stringMatching(/lost during the call/),
        })
        await connected(name)
      }),
    )
    expect(logged.length).toBeLessThan(60)
  })

  test('whose answer is too large says so instead of a lost connection', async () => {
    const connection = createMcpConnection({
      name: 'big',
      settings: program(''),
      onChange: () => {},
      log: () => {},
      starts: async () => () => {},
      maxResponseBytes: 1024 * 1024,
    })
    onTestFinished(() => connection.close())
    await connection.open()
    const [tool] = connection.tools
    if (tool === undefined) throw new Error('no tool')
    const answer = await connection.call({
      tool,
      input: { size: 2_000_000 },
      signal: new AbortController().signal,
      onProgress: () => {},
      onInput: async () => ({ action: 'cancel' }),
    })
    expect(answer).toMatchObject({ error: expect.stringMatching(/sent more than 1 MB at once/) })
  })
})

describe('a server of the old transport (HTTP with SSE)', () => {
  async function startOldServer(path: string) {
    let stream: ServerResponse | undefined
    const url = await listen(async (request, response) => {
      if (request.method === 'GET' && request.url === path) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('event: endpoint\ndata: /messages?session=1\n\n')
        stream = response
        return
      }
      if (request.method !== 'POST' || !request.url?.startsWith('/messages'))
        return void response.writeHead(request.url === path ? 405 : 404).end()
      const { id, method, params } = JSON.parse(await text(request))
      response.writeHead(202).end()
      const results: Record<string, unknown> = {
        initialize: {
          protocolVersion: '2024-11-05',
          capabilities: { tools: {} },
          serverInfo: { name: 'old', version: '1' },
        },
        'tools/list': { tools: TOOLS },
        'tools/call': { content: [{ type: 'text', text: `called ${params?.name}` }] },
        ping: {},
      }
      if (id !== undefined)
        stream?.write(
          `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n\n`,
        )
    })
    return { url: `${url}${path}`, cut: () => stream?.end() }
  }

  test.each([undefined, 'sse' as const])('is reached with the type %s', async (type) => {
    const { url } = await startOldServer('/sse')
    const { tools, connected } = start({ old: { url, ...(type === undefined ? {} : { type }) } })
    await connected('old')
    expect(await call(tools.get('mcp__old__good'))).toMatchObject({ data: 'called good' })
  })

  test('is reached again after its stream has ended', async () => {
    const { url, cut } = await startOldServer('/sse')
    const { tools, connected, logged } = start({ old: { url } })
    await connected('old')
    cut()
    await eventually(() => expect(logged).toContain('an MCP server is not connected'))
    expect(await call(tools.get('mcp__old__good'))).toMatchObject({ data: 'called good' })
  })

  test('that never says where to send messages does not keep the connection from closing', async () => {
    const streams = new EventEmitter()
    const opened = once(streams, 'open')
    const url = await listen((request, response) => {
      if (request.method !== 'GET') return void response.writeHead(404).end()
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      streams.emit('open')
    })
    const { mcp } = start({ silent: { url, type: 'sse' } })
    await opened
    await mcp.close()
    expect(mcp.list(SOMEBODY)[0]?.state).toBe('connecting')
  })

  test('that is none at all is named by what it answered first', async () => {
    const url = await listen((_request, response) => void response.writeHead(404).end())
    const { mcp } = start({ none: { url } })
    await eventually(() =>
      expect(mcp.list(SOMEBODY)[0]).toMatchObject({ reason: 'mcp_wrong_address' }),
    )
  })
})

describe('a call', () => {
  test.each([
    [401, /refused the call before it ran \(its credentials were not accepted\)/],
    [403, /refused the call before it ran \(HTTP 403/],
    [429, /refused the call before it ran \(HTTP 429/],
    [413, /refused the call before it ran \(HTTP 413/],
    [502, /may or may not have taken effect/],
  ])('that is answered with HTTP %i says what became of it', async (status, says) => {
    const server = await startScriptedMcpServer({
      tools: TOOLS,
      status: (method) => (method === 'tools/call' ? status : undefined),
    })
    const { tools, connected } = start({
      odd: { url: server.url, headers: { authorization: 'Bearer abc' } },
    })
    await connected('odd')
    expect(await call(tools.get('mcp__odd__good'))).toMatchObject({
      success: false,
      error: expect.stringMatching(says),
    })
    expect(server.calls).toEqual([])
  })

  test('whose answer is larger than 10 MB says so, and the connection stays', async () => {
    const server = await startScriptedMcpServer({
      tools: TOOLS,
      call: (_name, input) => ({
        content: [
          { type: 'text', text: 'x'.repeat(JSON.stringify(input).length > 2 ? 11_000_000 : 1) },
        ],
      }),
    })
    const { tools, mcp, connected } = start({ odd: { url: server.url } })
    await connected('odd')
    expect(await call(tools.get('mcp__odd__good'), { big: true })).toMatchObject({
      success: false,
      error: expect.stringMatching(/larger than 10 MB, so it was not read. The call has run/),
    })
    expect(mcp.list(SOMEBODY)[0]?.state).toBe('connected')
    expect(await call(tools.get('mcp__odd__good'))).toMatchObject({ data: 'x' })
  })
})
