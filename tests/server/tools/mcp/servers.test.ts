// Tools of MCP servers, against a real server from npm over stdio and one over streamable HTTP.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { newId } from '../../../../server/lib/ids.ts'
import { CallId, type RunId, type UserId } from '../../../../server/protocol/ids.ts'
import type { McpServerSettings } from '../../../../server/protocol/mcp.ts'
import type {
  ToolContext,
  ToolDefinition,
  ToolResult,
} from '../../../../server/tools/definition.ts'
import type { McpConnection } from '../../../../server/tools/mcp/connection.ts'
import { createMcpServers } from '../../../../server/tools/mcp/servers.ts'
import { defineMcpTool, mcpToolName } from '../../../../server/tools/mcp/tool.ts'
import { startMcpHttpServer } from '../../../fixtures/mcp-http-server.ts'
import { bench, noAgents, call as toolCall } from '../support.ts'

const filesystemServer = resolve(
  import.meta.dirname,
  '../../../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
)

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const start = (servers: Record<string, McpServerSettings>) => {
  const mcp = createMcpServers({
    servers,
    log: () => undefined,
    firstPauseMs: 20,
  })
  const tools = {
    get: (name: string): ToolDefinition | undefined =>
      mcp.tools().find((tool) => tool.name === name),
  }
  cleanups.push(() => mcp.close())
  const connected = (name: string) =>
    vi.waitFor(
      () => expect(mcp.list().find((server) => server.name === name)?.status).toBe('connected'),
      { timeout: 20_000, interval: 20 },
    )
  return { tools, mcp, connected }
}

const contextWith = (signal: AbortSignal): ToolContext => ({
  userId: newId<UserId>(),
  conversationId: null,
  isTainted: () => false,
  agents: noAgents,
  projectId: null,
  runId: newId<RunId>(),
  messageId: null,
  model: 'test',
  callId: CallId.parse('call_1'),
  signal,
  progress: () => undefined,
})

const call = async (
  tool: ToolDefinition | undefined,
  input: Record<string, unknown> = {},
  signal = new AbortController().signal,
): Promise<ToolResult> => {
  const parsed = tool?.parse(JSON.stringify(input))
  if (parsed?.ok !== true) throw new Error(parsed?.error ?? 'no such tool')
  return parsed.input.run(contextWith(signal))
}

const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-test-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

describe('the filesystem MCP server from npm, over stdio', () => {
  test('its tools appear with schema and risk, and work on real files', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'note.txt'), '你好')
    const { tools, connected } = start({
      files: { command: process.execPath, args: [filesystemServer, folder] },
    })
    await connected('files')

    const read = tools.get('mcp__files__read_text_file')
    expect(read).toMatchObject({
      category: 'mcp',
      riskLevel: 'low',
      untrusted: true,
      cacheable: false,
    })
    expect(read?.parameters).toMatchObject({ type: 'object', required: ['path'] })
    expect(await call(read, { path: join(folder, 'note.txt') })).toMatchObject({
      success: true,
      artifact: { untrusted: true },
      data: { content: '你好' },
    })

    const write = tools.get('mcp__files__write_file')
    expect(write?.riskLevel).toBe('medium')
    const made = await call(write, { path: join(folder, 'made.txt'), content: 'made' })
    expect(made.success).toBe(true)
    expect(await readFile(join(folder, 'made.txt'), 'utf8')).toBe('made')
  })

  test('arguments that do not fit its schema never reach it', async () => {
    const folder = await temporaryFolder()
    const { tools, connected } = start({
      files: { command: process.execPath, args: [filesystemServer, folder] },
    })
    await connected('files')
    const read = tools.get('mcp__files__read_text_file')
    expect(read?.parse('{"path": 5}')).toMatchObject({
      ok: false,
      error: expect.stringMatching(/path.*string/),
    })
    expect(read?.parse('{}')).toMatchObject({ ok: false, error: expect.stringContaining('path') })
    expect(read?.parse('[]')).toMatchObject({ ok: false })
  })

  test('a refusal of the server is a failed result with its words', async () => {
    const folder = await temporaryFolder()
    const { tools, connected } = start({
      files: { command: process.execPath, args: [filesystemServer, folder] },
    })
    await connected('files')
    expect(
      await call(tools.get('mcp__files__read_text_file'), { path: '/etc/passwd' }),
    ).toMatchObject({
      success: false,
      error: expect.stringContaining('denied'),
    })
  })
})

describe('a stdio server as a child process', () => {
  const script = async (source: string): Promise<string> => {
    const folder = await temporaryFolder()
    const file = join(folder, 'server.mjs')
    await writeFile(file, source)
    return file
  }
  const sdk = resolve(
    import.meta.dirname,
    '../../../../node_modules/@modelcontextprotocol/sdk/dist/esm',
  )
  const withTools = (body: string) => `
    import { McpServer } from '${sdk}/server/mcp.js'
    import { StdioServerTransport } from '${sdk}/server/stdio.js'
    const server = new McpServer({ name: 'child', version: '1' })
    ${body}
    await server.connect(new StdioServerTransport())`

  test('gets nothing of the server environment but what its settings name', async () => {
    process.env.MCP_TEST_SECRET = 'canary'
    cleanups.push(async () => delete process.env.MCP_TEST_SECRET)
    const file = await script(
      withTools(
        `server.registerTool('env', { description: 'env' }, async () => ({ content: [{ type: 'text', text: JSON.stringify(process.env) }] }))`,
      ),
    )
    const { tools, connected } = start({
      child: { command: process.execPath, args: [file], env: { GIVEN: 'yes' } },
    })
    await connected('child')
    const result = await call(tools.get('mcp__child__env'))
    expect(JSON.stringify(result)).toContain('GIVEN')
    expect(JSON.stringify(result)).not.toContain('canary')
  })

  test('that dies during a call fails the call clearly, and is restarted', async () => {
    const file = await script(
      withTools(`
        server.registerTool('die', { description: 'dies' }, async () => process.exit(1))
        server.registerTool('pid', { description: 'pid' }, async () => ({ content: [{ type: 'text', text: String(process.pid) }] }))`),
    )
    const { tools, connected } = start({ child: { command: process.execPath, args: [file] } })
    await connected('child')
    const before = await call(tools.get('mcp__child__pid'))
    expect(await call(tools.get('mcp__child__die'))).toMatchObject({
      success: false,
      error: expect.stringContaining("'child' broke during the call"),
    })
    const after = await call(tools.get('mcp__child__pid'))
    expect(after.success).toBe(true)
    expect(after.data).not.toBe(before.data)
  })

  test('whose command does not exist says so without a path, and offers no tool', async () => {
    const { mcp } = start({ gone: { command: '/nowhere/at/all' } })
    await vi.waitFor(() => expect(mcp.list()[0]?.error).not.toBeNull(), { timeout: 10_000 })
    expect(mcp.list()[0]?.error).toBe('its command was not found on the server')
    expect(mcp.tools()).toEqual([])
  })
})

describe('a server over streamable HTTP', () => {
  const startHttp = async (port = 0) => {
    const server = await startMcpHttpServer(port)
    cleanups.push(() => server.close())
    return server
  }

  test('structured answers, pictures and reported failures come through; headers are sent', async () => {
    const server = await startHttp()
    const { tools, connected } = start({
      odd: { url: server.url, headers: { authorization: 'Bearer abc' } },
    })
    await connected('odd')
    expect(await call(tools.get('mcp__odd__add'), { a: 2, b: 3 })).toMatchObject({
      success: true,
      data: { sum: 5 },
    })
    expect(await call(tools.get('mcp__odd__picture'))).toMatchObject({
      success: true,
      data: expect.stringContaining('a dot'),
      artifact: { files: [{ mime: 'image/png', data: 'data:image/png;base64,iVBORw0KGgo=' }] },
    })
    expect(await call(tools.get('mcp__odd__refuse'))).toMatchObject({
      success: false,
      error: 'no such thing here',
    })
    const huge = await call(tools.get('mcp__odd__huge'))
    expect(JSON.stringify(huge).length).toBeLessThan(1_100_000)
    expect(server.authorizations).not.toContain(undefined)
  })

  test('stopping a call ends it at once and tells the server', async () => {
    const server = await startHttp()
    const { tools, connected } = start({ odd: { url: server.url } })
    await connected('odd')
    const stop = new AbortController()
    const answer = call(tools.get('mcp__odd__wait'), {}, stop.signal)
    await vi.waitFor(() => expect(server.calls).toContain('wait'))
    stop.abort()
    expect(await answer).toMatchObject({ success: false, error: 'It was stopped.' })
    await vi.waitFor(() => expect(server.calls).toContain('wait was cancelled'))
  })

  test('a call to a server that forgot the session is sent again in a new one, once', async () => {
    const server = await startHttp()
    const { tools, connected } = start({ odd: { url: server.url } })
    await connected('odd')
    server.forget()
    expect(await call(tools.get('mcp__odd__add'), { a: 1, b: 1 })).toMatchObject({ success: true })
    expect(server.calls).toEqual(['add'])
  })

  test('while it is away its tools fail with a clear text; when it is back they work', async () => {
    const server = await startHttp()
    const { tools, mcp, connected } = start({ odd: { url: server.url } })
    await connected('odd')
    await server.close()
    expect(await call(tools.get('mcp__odd__add'), { a: 1, b: 1 })).toMatchObject({ success: false })
    expect(await call(tools.get('mcp__odd__add'), { a: 1, b: 1 })).toMatchObject({
      success: false,
      error: expect.stringContaining("The MCP server 'odd' is not available"),
    })
    expect(mcp.list()[0]).toMatchObject({ error: 'it refused the connection' })
    await startHttp(server.port)
    await connected('odd')
    expect(await call(tools.get('mcp__odd__add'), { a: 1, b: 1 })).toMatchObject({ success: true })
  })

  test('a tool that the server adds later is there without a restart', async () => {
    const server = await startHttp()
    const { tools, mcp, connected } = start({ odd: { url: server.url } })
    await connected('odd')
    server.grow()
    await vi.waitFor(() => expect(tools.get('mcp__odd__grown')).toBeDefined(), { timeout: 10_000 })
    expect(mcp.toolNamesOf(['odd']).has('mcp__odd__grown')).toBe(true)
    expect(mcp.toolNamesOf(['other']).size).toBe(0)
  })
})

test('what a connection was never meant to throw goes on to the executor, which keeps it from the model', async () => {
  const fault = new Error('connect ECONNREFUSED 10.0.0.7:5432')
  const connection: McpConnection = {
    name: 'odd',
    status: 'connected',
    error: null,
    tools: [],
    open: async () => {},
    call: () => Promise.reject(fault),
    close: async () => {},
  }
  const remote = { name: 'probe', inputSchema: { type: 'object' as const } }
  const compile = () => () => ({ valid: true as const, data: {}, errorMessage: undefined })
  const tool = defineMcpTool(connection, remote, compile)
  const faults: unknown[] = []
  const safety = {
    redact: (text: string) => text,
    onFault: (error: unknown) => faults.push(error),
  }
  const [answer] = await bench(tool === null ? [] : [tool], { safety }).execute([
    toolCall('a', 'mcp__odd__probe'),
  ])
  expect(answer?.success).toBe(false)
  expect(answer?.content).not.toContain('10.0.0.7')
  expect(faults).toEqual([fault])
})

describe('names of remote tools', () => {
  test('are in the letters and the length that providers accept, and stay different', () => {
    expect(mcpToolName('files', 'read_file')).toBe('mcp__files__read_file')
    const long = ['a', 'b'].map((end) => mcpToolName('files', `${'x'.repeat(100)}${end}`))
    const odd = ['é.é', 'ü.ü'].map((name) => mcpToolName('files', name))
    for (const name of [...long, ...odd]) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(new Set([...long, ...odd]).size).toBe(4)
  })
})
