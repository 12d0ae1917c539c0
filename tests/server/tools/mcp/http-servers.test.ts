// Tools of MCP servers over streamable HTTP.
import { describe, expect, onTestFinished, test } from 'vitest'
import { startMcpHttpServer } from '../../../fixtures/mcp-http-server.ts'
import { eventually } from '../../../support/eventually.ts'
import { call, SOMEBODY, start } from './use-servers.ts'

describe('a server over streamable HTTP', () => {
  const startHttp = async (port = 0) => {
    const server = await startMcpHttpServer(port)
    onTestFinished(() => server.close())
    return server
  }

  test('returns structured results, images and failures, and receives the configured headers', async () => {
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
      images: [{ mime: 'image/png' }],
      artifact: { files: [{ mime: 'image/png', for_model: true }] },
    })
    expect(await call(tools.get('mcp__odd__refuse'))).toMatchObject({
      success: false,
      error: 'no such thing here',
    })
    const huge = await call(tools.get('mcp__odd__huge'))
    expect(JSON.stringify(huge).length).toBeLessThan(1_100_000)
    expect(server.authorizations).not.toContain(undefined)
  })

  test('is notified when a call is stopped, and the call ends at once', async () => {
    const server = await startHttp()
    const { tools, connected } = start({ odd: { url: server.url } })
    await connected('odd')
    const stop = new AbortController()
    const answer = call(tools.get('mcp__odd__wait'), {}, stop.signal)
    await eventually(() => expect(server.calls).toContain('wait'))
    stop.abort()
    expect(await answer).toMatchObject({ success: false, error: 'The call was stopped.' })
    await eventually(() => expect(server.calls).toContain('wait was cancelled'))
  })

  test('that has lost the session gets the call again in a new session, once', async () => {
    const server = await startHttp()
    const { tools, connected } = start({ odd: { url: server.url } })
    await connected('odd')
    server.forget()
    expect(await call(tools.get('mcp__odd__add'), { a: 1, b: 1 })).toMatchObject({ success: true })
    expect(server.calls).toEqual(['add'])
  })

  test('has tools that fail with a clear message while it is down and work when it is back', async () => {
    const server = await startHttp()
    const { tools, mcp, connected } = start({ odd: { url: server.url } })
    await connected('odd')
    await server.close()
    expect(await call(tools.get('mcp__odd__add'), { a: 1, b: 1 })).toMatchObject({ success: false })
    expect(await call(tools.get('mcp__odd__add'), { a: 1, b: 1 })).toMatchObject({
      success: false,
      error: expect.stringContaining("The MCP server 'odd' is not available"),
    })
    expect(mcp.list(SOMEBODY)[0]).toMatchObject({ error: 'it refused the connection' })
    await startHttp(server.port)
    await connected('odd')
    expect(await call(tools.get('mcp__odd__add'), { a: 1, b: 1 })).toMatchObject({ success: true })
  })

  test('can add a tool without a restart', async () => {
    const server = await startHttp()
    const { tools, mcp, connected } = start({ odd: { url: server.url } })
    await connected('odd')
    server.grow()
    await eventually(() => expect(tools.get('mcp__odd__grown')).toBeDefined())
    expect(mcp.toolNamesOf(SOMEBODY, ['odd']).has('mcp__odd__grown')).toBe(true)
    expect(mcp.toolNamesOf(SOMEBODY, ['other']).size).toBe(0)
  })
})
