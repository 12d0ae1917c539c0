// Administrators add, try, switch and delete MCP servers over real HTTP; on both databases.
import { expect, onTestFinished, test } from 'vitest'
import { startModernMcpServer } from '../../fixtures/mcp-modern-server.ts'
import { eventually } from '../../support/eventually.ts'
import { describeOnEachServer } from '../../support/server/server.ts'
import { useTwoAccounts } from '../../support/server/two-accounts.ts'

describeOnEachServer('MCP servers of administrators', (start) => {
  const accounts = useTwoAccounts(start, {
    mcp_servers: { notes: { url: 'http://127.0.0.1:9/mcp', users: ['bob'] } },
  })
  const asAdmin = (method: string, path: string, body?: unknown) =>
    accounts.call(method, `/api/admin${path}`, body)
  const asBob = (method: string, path: string, body?: unknown) =>
    accounts.call(method, path, body, accounts.bob)

  test('an MCP server added by an administrator is available to all at once, and its headers are sealed and sent only to it', async () => {
    const remote = await startModernMcpServer()
    onTestFinished(() => remote.close())
    const listed = async (): Promise<{ name: string; state: string }[]> =>
      (await asAdmin('GET', '/mcp')).json.data.items
    const namesOfBob = async () =>
      (await asBob('GET', '/api/mcp')).json.data.servers.map(({ name }: { name: string }) => name)
    const connected = (name: string) =>
      eventually(async () =>
        expect(await listed()).toContainEqual(
          expect.objectContaining({ name, state: 'connected' }),
        ),
      )
    const secret = { 'X-Key': 'canary-of-header' }
    const given = { name: 'added', url: remote.url, headers: secret, users: ['bob'] }
    expect((await asBob('POST', '/api/admin/mcp', given)).status).toBe(403)
    expect((await asBob('POST', '/api/admin/mcp/test', given)).status).toBe(403)

    const tried = (await asAdmin('POST', '/mcp/test', given)).json.data
    expect(tried).toMatchObject({ state: 'connected', era: 'modern', error: null })
    expect(tried.tools).toContainEqual({
      name: 'mcp__added__count',
      description: expect.stringContaining('Counts'),
      risk: 'medium',
    })
    const trusted = await asAdmin('POST', '/mcp/test', { ...given, trust_hints: true })
    expect(trusted.json.data.tools[0]).toMatchObject({ name: 'mcp__added__count', risk: 'low' })
    expect(await namesOfBob()).toEqual(['notes'])

    expect((await asAdmin('POST', '/mcp', given)).json.data.items).toMatchObject([
      { name: 'notes', source: 'config', url: null },
      { name: 'added', source: 'store', url: remote.url, headers: ['X-Key'], users: ['bob'] },
    ])
    expect((await asAdmin('POST', '/mcp', given)).status).toBe(409)
    await connected('added')
    expect(remote.requests.at(-1)?.headers).toMatchObject({ 'x-key': 'canary-of-header' })
    const offered = await asBob('GET', '/api/mcp')
    expect(offered.json.data.servers[1].tools.map(({ name }: { name: string }) => name)).toContain(
      'mcp__added__count',
    )
    expect(JSON.stringify([await listed(), offered.json])).not.toContain('canary')

    // Stored headers go to no other address, not even to try it.
    const gone = await startModernMcpServer()
    await gone.close()
    const elsewhere = { url: gone.url }
    for (const [method, path] of [
      ['PATCH', '/mcp/added'],
      ['POST', '/mcp/test'],
    ] as const) {
      const refused = await asAdmin(method, path, { name: 'added', ...elsewhere })
      expect(refused.json).toMatchObject({ reason: 'mcp_headers_missing' })
    }
    const dead = await asAdmin('POST', '/mcp/test', { name: 'added', ...elsewhere, headers: null })
    expect(dead.json.data).toMatchObject({
      state: 'failed',
      tools: [],
      reason: 'mcp_connection_refused',
    })
    const nowhere = { name: 'new', url: `${accounts.server.url}/api/nothing` }
    expect((await asAdmin('POST', '/mcp/test', nowhere)).json.data.reason).toBe('mcp_wrong_address')
    expect((await asAdmin('POST', '/mcp/test', { name: 'new' })).status).toBe(400)
    for (const wrong of [
      { url: 'file:///etc/passwd' },
      { url: 'http://ann:secret@127.0.0.1/mcp' },
      { headers: { 'X-Key': 'two\nlines' } },
      { users: 'bob' },
    ])
      expect((await asAdmin('PATCH', '/mcp/added', wrong)).status).toBe(400)

    // The secret of a client stays with its id, and is never returned.
    const client = { client_id: 'nanoclaw', client_secret: 'canary-of-client' }
    await asAdmin('PATCH', '/mcp/added', { oauth: client })
    const clientOf = async (oauth: object) =>
      (await asAdmin('PATCH', '/mcp/added', { oauth })).json.data.items[1].oauth
    expect(await clientOf({ client_id: 'nanoclaw', scope: 'read' })).toEqual({
      client_id: 'nanoclaw',
      has_secret: true,
      scope: 'read',
    })
    expect(JSON.stringify(await listed())).not.toContain('canary')
    expect(await clientOf({ client_id: 'other' })).toMatchObject({ has_secret: false })

    await asAdmin('PATCH', '/mcp/added', { enabled: false })
    expect(await namesOfBob()).toEqual(['notes'])
    await asAdmin('PATCH', '/mcp/added', { enabled: true, trust_hints: true })
    await connected('added')
    expect(remote.requests.at(-1)?.headers).toMatchObject({ 'x-key': 'canary-of-header' })
    expect((await asAdmin('DELETE', '/mcp/added')).status).toBe(200)
    expect((await asAdmin('DELETE', '/mcp/added')).status).toBe(404)
    expect(await namesOfBob()).toEqual(['notes'])
    const audited = async (action: string): Promise<number> =>
      (await asAdmin('GET', `/audit?action=${action}`)).json.data.items.length
    expect(await audited('mcp_server_added')).toBe(1)
    expect(await audited('mcp_server_changed')).toBe(5)
    expect(await audited('mcp_server_deleted')).toBe(1)
  })

  test('an MCP server of config.yml can only be switched on and off, and tested', async () => {
    const state = async () => (await asAdmin('GET', '/mcp')).json.data.items[0].state
    for (const change of [{ url: 'http://127.0.0.1:9/other' }, { enabled: false, headers: null }])
      expect((await asAdmin('PATCH', '/mcp/notes', change)).json).toMatchObject({
        reason: 'mcp_server_configured',
      })
    expect((await asAdmin('DELETE', '/mcp/notes')).status).toBe(409)
    expect((await asAdmin('POST', '/mcp/test', { name: 'notes' })).json.data.state).toBe('failed')
    expect(await state()).not.toBe('off')
    await asAdmin('PATCH', '/mcp/notes', { enabled: false })
    expect(await state()).toBe('off')
    expect((await asBob('GET', '/api/mcp')).json.data.servers).toEqual([])
    await asAdmin('PATCH', '/mcp/notes', { enabled: true })
    expect(await state()).not.toBe('off')
    expect((await asBob('GET', '/api/mcp')).json.data.servers).toMatchObject([{ name: 'notes' }])
  })

  test('a tool that an administrator switches off is neither listed nor called, for servers of both sources, until it is switched on', async () => {
    const remote = await startModernMcpServer()
    onTestFinished(() => remote.close())
    await asAdmin('POST', '/mcp', { name: 'tracker', url: remote.url })
    const server = async () =>
      (await asAdmin('GET', '/mcp')).json.data.items.find(
        ({ name }: { name: string }) => name === 'tracker',
      )
    await eventually(async () => expect(await server()).toMatchObject({ state: 'connected' }))
    const before = await server()
    const tool = before.tools.find(({ name }: { name: string }) => name === 'mcp__tracker__count')
    expect(tool).toMatchObject({ enabled: true, tokens: expect.any(Number) })
    const namesOfBob = async (): Promise<string[]> => [
      ...(await asBob('GET', '/api/tools')).json.data.tools.map(
        (one: { function: { name: string } }) => one.function.name,
      ),
      ...(await asBob('GET', '/api/mcp')).json.data.servers.flatMap(
        (one: { tools: { name: string }[] }) => one.tools.map(({ name }) => name),
      ),
    ]
    expect((await namesOfBob()).filter((name) => name === tool.name)).toHaveLength(2)

    const change = { tools: { [tool.name]: false } }
    expect((await asBob('PATCH', '/api/admin/mcp/tracker', change)).status).toBe(403)
    expect((await asAdmin('PATCH', '/mcp/tracker', change)).status).toBe(200)
    expect(await namesOfBob()).not.toContain(tool.name)
    const off = await server()
    expect(off.tool_tokens).toBe(before.tool_tokens - tool.tokens)
    expect(off.tools).toHaveLength(before.tools.length)
    expect(off.tools).toContainEqual({ ...tool, enabled: false })
    // Other changes keep it.
    await asAdmin('PATCH', '/mcp/tracker', { enabled: false })
    await asAdmin('PATCH', '/mcp/tracker', { enabled: true })
    await eventually(async () => expect(await server()).toMatchObject({ state: 'connected' }))
    expect(await namesOfBob()).not.toContain(tool.name)

    await asAdmin('PATCH', '/mcp/tracker', { tools: { [tool.name]: true } })
    expect(await namesOfBob()).toContain(tool.name)
    expect((await asAdmin('PATCH', '/mcp/notes', { tools: { mcp__notes__x: false } })).status).toBe(
      200,
    )
    expect((await asAdmin('PATCH', '/mcp/notes', { tools: { '': false } })).status).toBe(400)
    await asAdmin('DELETE', '/mcp/tracker')
  })
})
