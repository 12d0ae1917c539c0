// The order in which calls of one iteration reach their MCP servers.
import { expect, test } from 'vitest'
import { startScriptedMcpServer } from '../../../fixtures/mcp-scripted-server.ts'
import { bench, call, gate } from '../support.ts'
import { SOMEBODY, start } from './use-servers.ts'

async function benchWith(call: (name: unknown) => Promise<unknown>) {
  const tools = ['look', 'peek', 'write'].map((name) => ({
    name,
    annotations: { readOnlyHint: name !== 'write' },
    inputSchema: { type: 'object' },
  }))
  const servers = await Promise.all([
    startScriptedMcpServer({ tools, call }),
    startScriptedMcpServer({ tools }),
  ])
  const { mcp, connected } = start({
    one: { url: servers[0].url },
    two: { url: servers[1].url },
  })
  await Promise.all([connected('one'), connected('two')])
  return { run: bench(mcp.tools(SOMEBODY)), calls: servers[0].calls, others: servers[1].calls }
}

test('calls of one server run one after another, in the order of the calls', async () => {
  const seen: string[] = []
  const { run } = await benchWith(async (name) => {
    seen.push(`${name} begins`)
    await new Promise((resolve) => setImmediate(resolve))
    seen.push(`${name} ends`)
    return { content: [] }
  })
  await run.execute([
    call('a', 'mcp__one__write'),
    call('b', 'mcp__one__look'),
    call('c', 'mcp__one__write'),
  ])
  expect(seen).toEqual([
    'write begins',
    'write ends',
    'look begins',
    'look ends',
    'write begins',
    'write ends',
  ])
})

test('calls that only read run beside each other, and calls of another server beside all', async () => {
  const both = gate()
  const other = gate()
  const seen: unknown[] = []
  const { run, others } = await benchWith(async (name) => {
    seen.push(name)
    // Each of them ends only once the other one has begun.
    if (seen.length === 2) both.open()
    if (name === 'write') other.open()
    else await both.opened
    return { content: [] }
  })
  const answers = await run.execute([
    call('a', 'mcp__one__look'),
    call('b', 'mcp__one__peek'),
    call('c', 'mcp__two__write'),
    call('d', 'mcp__one__write'),
  ])
  expect(answers.map(({ success }) => success)).toEqual([true, true, true, true])
  expect(seen).toEqual(['look', 'peek', 'write'])
  expect(others).toHaveLength(1)
})
