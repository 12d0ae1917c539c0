// Tools of MCP servers that run as child processes, one of them a real server from npm.
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { call, SOMEBODY, start, temporaryFolder } from './use-servers.ts'

const filesystemServer = resolve(
  import.meta.dirname,
  '../../../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
)

describe('the filesystem MCP server from npm, over stdio', () => {
  test('offers its tools with schema and risk, and they work on real files', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'note.txt'), '你好')
    const { tools, connected } = start({
      files: { command: process.execPath, args: [filesystemServer, folder] },
    })
    await connected('files')

    const read = tools.get('mcp__files__read_text_file')
    expect(read).toMatchObject({
      category: 'mcp',
      riskLevel: 'medium',
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
    expect(write?.riskLevel, 'it says that it may destroy something').toBe('high')
    const made = await call(write, { path: join(folder, 'made.txt'), content: 'made' })
    expect(made.success).toBe(true)
    expect(await readFile(join(folder, 'made.txt'), 'utf8')).toBe('made')
  })

  test('never receives arguments that violate its schema; null for an optional one means that it is left out', async () => {
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
    expect(read?.parse('{"path": null}')).toMatchObject({ ok: false })
    expect(read?.parse('{"path": "a", "head": null}')).toMatchObject({
      ok: true,
      input: { value: { path: 'a' } },
    })
  })

  test('refuses a path with a failed result that says why', async () => {
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

  test('gets only the environment variables that its settings name', async () => {
    process.env.MCP_TEST_SECRET = 'canary'
    onTestFinished(() => void delete process.env.MCP_TEST_SECRET)
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
      error: expect.stringContaining("'child' was lost during the call"),
    })
    const after = await call(tools.get('mcp__child__pid'))
    expect(after.success).toBe(true)
    expect(after.data).not.toBe(before.data)
  })

  test('whose command does not exist says so without a path, and offers no tool', async () => {
    const { mcp } = start({ gone: { command: '/nowhere/at/all' } })
    await eventually(() => expect(mcp.list(SOMEBODY)[0]?.error).not.toBeNull())
    expect(mcp.list(SOMEBODY)[0]).toMatchObject({
      error: 'its command “all” was not found on the server',
      reason: 'mcp_command_not_found',
    })
    expect(mcp.tools(SOMEBODY)).toEqual([])
  })

  test('of the newest revision is discovered by a short-lived process once, and works', async () => {
    const folder = await temporaryFolder()
    const started = join(folder, 'started')
    const server = resolve(
      import.meta.dirname,
      '../../../../node_modules/@modelcontextprotocol/server/dist',
    )
    const file = await script(`
      import { appendFileSync } from 'node:fs'
      import { McpServer } from '${server}/index.mjs'
      import { serveStdio } from '${server}/stdio.mjs'
      appendFileSync('${started}', 'x')
      serveStdio(() => {
        const server = new McpServer({ name: 'child', version: '1' })
        server.registerTool('die', { description: 'dies' }, async () => process.exit(1))
        server.registerTool('hello', { description: 'greets' }, async () => ({ content: [{ type: 'text', text: 'hello' }] }))
        return server
      })`)
    const { tools, mcp, connected } = start({ child: { command: process.execPath, args: [file] } })
    await connected('child')
    expect(mcp.list(SOMEBODY)[0]?.era).toBe('modern')
    expect(await call(tools.get('mcp__child__hello'))).toMatchObject({ data: 'hello' })
    expect(await readFile(started, 'utf8'), 'one start finds out the revision').toBe('x')
    await call(tools.get('mcp__child__die'))
    expect(await call(tools.get('mcp__child__hello'))).toMatchObject({ data: 'hello' })
    expect(await readFile(started, 'utf8'), 'the revision is remembered').toBe('xx')
  })
})
