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

  const listed = async (): Promise<{ name: string; state: string }[]> =>
    (await asAdmin('GET', '/mcp')).json.data.items
  const serversOfBob = async () =>
    (await asBob('GET', '/api/mcp')).json.data.servers.map(({ name }: { name: string }) => name)
  const connected = (name: string) =>
    eventually(async () =>
      expect(await listed()).toContainEqual(expect.objectContaining({ name, state: 'connected' })),
    )
  const secret = { 'X-Key': 'canary-of-header' }

  /** A server, and what an administrator says of it. */
  async function remoteServer() {
    const remote = await startModernMcpServer()
    onTestFinished(() => remote.close())
    return { remote, given: { name: 'added', url: remote.url, headers: secret, users: ['bob'] } }
  }
  /** Adds a server for the test. */
  async function addedServer() {
    const { remote, given } = await remoteServer()
    const added = await asAdmin('POST', '/mcp', given)
    onTestFinished(async () => void (await asAdmin('DELETE', '/mcp/added')))
    await connected('added')
    return { remote, given, added }
  }

  test('an MCP server that is tried says what its tools would be, and nobody has it', async () => {
    const { given } = await remoteServer()
    const tried = (await asAdmin('POST', '/mcp/test', given)).json.data
    expect(tried).toMatchObject({ state: 'connected', era: 'modern', error: null })
    expect(tried.tools).toContainEqual({
      name: 'mcp__added__count',
      description: expect.stringContaining('Counts'),
      risk: 'medium',
    })
    const trusted = await asAdmin('POST', '/mcp/test', { ...given, trust_hints: true })
    expect(trusted.json.data.tools[0]).toMatchObject({ name: 'mcp__added__count', risk: 'low' })
    expect(await serversOfBob()).toEqual(['notes'])
    expect((await asBob('POST', '/api/admin/mcp/test', given)).status).toBe(403)
  })

  test('an MCP server that an administrator adds is available to its users at once, under a name that no other has', async () => {
    const { remote, given, added } = await addedServer()
    expect(added.json.data.items).toMatchObject([
      { name: 'notes', source: 'config', url: null },
      { name: 'added', source: 'store', url: remote.url, headers: ['X-Key'], users: ['bob'] },
    ])
    const offered = await asBob('GET', '/api/mcp')
    expect(offered.json.data.servers[1].tools.map(({ name }: { name: string }) => name)).toContain(
      'mcp__added__count',
    )
    expect((await asAdmin('POST', '/mcp', given)).status).toBe(409)
    expect((await asBob('POST', '/api/admin/mcp', given)).status).toBe(403)
  })

  test('headers of an MCP server are sent to it, shown to nobody, and sent to no other address, not even to try it', async () => {
    const { remote } = await addedServer()
    expect(remote.requests.at(-1)?.headers).toMatchObject({ 'x-key': 'canary-of-header' })
    const offered = await asBob('GET', '/api/mcp')
    expect(JSON.stringify([await listed(), offered.json])).not.toContain('canary')
    const gone = await startModernMcpServer()
    await gone.close()
    const elsewhere = { name: 'added', url: gone.url }
    for (const [method, path] of [
      ['PATCH', '/mcp/added'],
      ['POST', '/mcp/test'],
    ] as const) {
      const refused = await asAdmin(method, path, elsewhere)
      expect(refused.json).toMatchObject({ reason: 'mcp_headers_missing' })
    }
    const dead = await asAdmin('POST', '/mcp/test', { ...elsewhere, headers: null })
    expect(dead.json.data).toMatchObject({
      state: 'failed',
      tools: [],
      reason: 'mcp_connection_refused',
    })
  })

  test('settings that no MCP server can have are refused, and a trial says what is wrong with an address', async () => {
    await addedServer()
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
  })

  test('the secret of an OAuth client stays with its id, and is never returned', async () => {
    await addedServer()
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
  })

  test('an MCP server that is switched off or deleted is gone for its users, and each change leaves one entry', async () => {
    const audited = async (action: string): Promise<number> =>
      (await asAdmin('GET', `/audit?action=${action}`)).json.data.items.length
    const counts = async () => ({
      added: await audited('mcp_server_added'),
      changed: await audited('mcp_server_changed'),
      deleted: await audited('mcp_server_deleted'),
    })
    const before = await counts()
    const { remote } = await addedServer()
    await asAdmin('PATCH', '/mcp/added', { enabled: false })
    expect(await serversOfBob()).toEqual(['notes'])
    await asAdmin('PATCH', '/mcp/added', { enabled: true, trust_hints: true })
    await connected('added')
    expect(remote.requests.at(-1)?.headers).toMatchObject({ 'x-key': 'canary-of-header' })
    expect((await asAdmin('DELETE', '/mcp/added')).status).toBe(200)
    expect((await asAdmin('DELETE', '/mcp/added')).status).toBe(404)
    expect(await serversOfBob()).toEqual(['notes'])
    const { added, changed, deleted } = before
    expect(await counts()).toEqual({ added: added + 1, changed: changed + 2, deleted: deleted + 1 })
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
