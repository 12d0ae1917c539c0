// MCP tools: unexpected errors of a connection, and the names under which the model sees remote tools.
import { describe, expect, test } from 'vitest'
import type { McpConnection } from '../../../../server/tools/mcp/connection.ts'
import { defineMcpTool, mcpToolName } from '../../../../server/tools/mcp/tool.ts'
import { bench, call as toolCall } from '../support.ts'

test('an unexpected error of a connection reaches the executor, which hides it from the model', async () => {
  const fault = new Error('connect ECONNREFUSED 10.0.0.7:5432')
  const connection: McpConnection = {
    server: 'odd',
    host: null,
    status: 'connected',
    era: 'modern',
    error: null,
    tools: [],
    open: async () => {},
    freshen: () => {},
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
  test('use the characters and the length that providers accept, and stay distinct', () => {
    expect(mcpToolName('files', 'read_file')).toBe('mcp__files__read_file')
    const long = ['a', 'b'].map((end) => mcpToolName('files', `${'x'.repeat(100)}${end}`))
    const odd = ['é.é', 'ü.ü'].map((name) => mcpToolName('files', name))
    for (const name of [...long, ...odd]) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(new Set([...long, ...odd]).size).toBe(4)
  })
})
