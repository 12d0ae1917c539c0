// The example MCP server works as docs/agents.md describes: it is offered to the agent, needs approval, and can be switched off.
import { resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { openEvents } from '../support/server/events.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const upstream = await useUpstream()

const { start } = useServers()
let server: TestServer
beforeAll(async () => {
  server = await start({
    config: {
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
      titles: 'first_message',
      mcp_servers: {
        shopping: {
          command: process.execPath,
          args: [resolve(import.meta.dirname, '../../examples/mcp-server.mjs')],
          trust_hints: true,
        },
      },
    },
  })
  await server.server.toolsReady
})

const converse = async (settings: object = {}) => {
  const { json } = await server.call('POST', '/api/conversations', { body: settings })
  const url = `${server.url}/api/conversations/${json.data.id}/messages`
  return openEvents(url, { body: { text: 'We need tea' } })
}

test('the server and its tools are listed with status and risk level', async () => {
  const { json } = await server.call('GET', '/api/mcp')
  expect(json.data.servers).toMatchObject([
    { name: 'shopping', transport: 'stdio', state: 'connected', error: null },
  ])
  const tools = await server.call('GET', '/api/tools')
  const risks = tools.json.data.tools
    .filter(({ category }: { category: string }) => category === 'mcp')
    .map((tool: { function: { name: string }; risk_level: string }) => [
      tool.function.name,
      tool.risk_level,
    ])
  expect(risks).toEqual([
    ['mcp__shopping__add', 'medium'],
    ['mcp__shopping__show', 'low'],
  ])
})

test('a tool that changes something runs after it is approved', async () => {
  upstream.enqueue(
    turn.toolCalls([{ name: 'mcp__shopping__add', arguments: { item: 'tea' } }]),
    turn.toolCalls([{ name: 'mcp__shopping__show', arguments: {} }]),
    turn.text('Tea is on the list.'),
  )
  const stream = await converse()
  const approvalRequest = await stream.next(({ event }) => event === 'approval_required')
  expect(approvalRequest.data).toMatchObject({ name: 'mcp__shopping__add', risk_level: 'medium' })
  await server.call('POST', `/api/runs/${approvalRequest.data.run_id}/approvals`, {
    body: { id_ref: approvalRequest.data.id_ref, decision: 'approve' },
  })
  const results = (await stream.all()).filter(({ data }) => data.type === 'tool_result')
  expect(results.map(({ data }) => JSON.parse(data.content).data)).toEqual(['Added: tea', 'tea'])
  expect(results[0]?.data.artifact).toMatchObject({ untrusted: true })
  upstream.expectDone()
})

test('a conversation that disabled the server is not offered its tools', async () => {
  upstream.enqueue(turn.text('I have no list.'))
  const asked = upstream.nextRequest()
  await (await converse({ disabled_mcp_servers: ['shopping'] })).all()
  const offered = JSON.stringify((await asked).body.tools)
  expect(offered).toContain('calculator')
  expect(offered).not.toContain('mcp__shopping')
})
