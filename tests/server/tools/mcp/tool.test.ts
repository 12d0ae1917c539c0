// MCP tools: unexpected errors of a connection, and the names under which the model sees remote tools.
import { describe, expect, test } from 'vitest'
import type { McpConnection } from '../../../../server/tools/mcp/connection.ts'
import { safeSchema } from '../../../../server/tools/mcp/tool/safe-schema.ts'
import { defineMcpTool, mcpToolName } from '../../../../server/tools/mcp/tool.ts'
import { bench, call as toolCall } from '../support.ts'

const prepareImage = () => Promise.resolve(null)

test('an unexpected error of a connection reaches the executor, which hides it from the model', async () => {
  const fault = new Error('connect ECONNREFUSED 10.0.0.7:5432')
  const connection: McpConnection = {
    server: 'odd',
    host: null,
    status: 'connected',
    era: 'modern',
    error: null,
    problems: [],
    output: '',
    tools: [],
    open: async () => {},
    freshen: () => {},
    use: () => Promise.reject(new Error('never used')),
    call: () => Promise.reject(fault),
    close: async () => {},
  }
  const remote = { name: 'probe', inputSchema: { type: 'object' as const } }
  const compile = () => () => ({ valid: true as const, data: {}, errorMessage: undefined })
  const tool = defineMcpTool(connection, remote, { compile, prepareImage })
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

describe('the risk of a remote tool', () => {
  const compile = () => () => ({ valid: true as const, data: {}, errorMessage: undefined })
  const connection: McpConnection = {
    server: 'odd',
    host: null,
    status: 'connected',
    era: 'modern',
    error: null,
    problems: [],
    output: '',
    tools: [],
    open: async () => {},
    freshen: () => {},
    use: () => Promise.reject(new Error('never used')),
    call: async () => ({ ok: false, error: 'never called', reached: false }),
    close: async () => {},
  }
  const define = (remote: object, trusted = false) =>
    defineMcpTool(
      connection,
      { name: 'probe', inputSchema: { type: 'object' }, ...remote },
      { compile, prepareImage },
      trusted,
    )

  test.each([
    [{}, 'medium', 'medium'],
    [{ readOnlyHint: true }, 'medium', 'low'],
    [{ readOnlyHint: true, destructiveHint: true }, 'medium', 'low'],
    [{ destructiveHint: true }, 'high', 'high'],
    [{ idempotentHint: true }, 'medium', 'medium'],
  ])(
    'with the hints %o is %s, and %s for a server whose hints are trusted',
    (annotations, plain, trusted) => {
      expect(define({ annotations })?.riskLevel).toBe(plain)
      expect(define({ annotations })?.repeatable).toBe(false)
      expect(define({ annotations }, true)?.riskLevel).toBe(trusted)
    },
  )

  test.each([
    ['an address', ' https://a.example/x#y', 'https://a.example/x'],
    ['one that is too long', `https://a.example/${'x'.repeat(9_000)}`, undefined],
    [
      'one that is too long after a control character',
      `\u0001ht\ntp://a/${'x'.repeat(9_000)}`,
      undefined,
    ],
    ['one that this server cannot read', 'https://a b.example/', undefined],
  ])('depends on addresses in its arguments: %s', (_what, value, address = value) => {
    const tool = defineMcpTool(
      connection,
      { name: 'probe', inputSchema: { type: 'object' } },
      { compile: () => (data) => ({ valid: true, data, errorMessage: undefined }), prepareImage },
    )
    const parsed = tool?.parse(
      JSON.stringify({ deep: [{ value }], words: 'see https://b.example/' }),
    )
    expect(parsed).toMatchObject({ ok: true, input: { addresses: [address] } })
    const named = tool?.parse(JSON.stringify({ deep: [{ [value]: 1 }] }))
    expect(named).toMatchObject({ ok: true, input: { addresses: [address] } })
  })

  test('is approved for one description and schema, and a change of either needs approval again', () => {
    const key = (remote: object) => define(remote)?.grantKey
    const allowed = key({ description: 'Reads' })
    expect(key({ description: 'Reads' })).toBe(allowed)
    expect(key({ description: 'Reads everything' })).not.toBe(allowed)
    expect(
      key({ description: 'Reads', inputSchema: { type: 'object', required: ['to'] } }),
    ).not.toBe(allowed)
  })
})

describe('a schema of a server', () => {
  const object = (properties: object, more: object = {}) => ({
    type: 'object' as const,
    properties,
    ...more,
  })

  test('is checked without its regular expressions, which could run forever', () => {
    const risky = { type: 'string', pattern: '^(a+)+$', maxLength: 9 }
    expect(
      safeSchema(
        object(
          { pattern: risky, list: { type: 'array', items: { $ref: '#/$defs/one' } } },
          {
            required: ['pattern'],
            patternProperties: { '^(x+)+$': { type: 'number' } },
            additionalProperties: false,
            $defs: { one: { anyOf: [risky, { type: 'null' }] } },
          },
        ),
      ),
    ).toEqual(
      object(
        {
          pattern: { type: 'string', maxLength: 9 },
          list: { type: 'array', items: { $ref: '#/$defs/one' } },
        },
        {
          required: ['pattern'],
          $defs: { one: { anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] } },
        },
      ),
    )
    // Without its pattern it would accept what it must refuse.
    expect(safeSchema(object({ a: { not: { pattern: 'x' } } }))).toBeNull()
  })

  test('is checked only by the server if it multiplies or refers to itself or another document', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `level${at}`,
        { allOf: [{ $ref: `#/$defs/level${at + 1}` }, { $ref: `#/$defs/level${at + 1}` }] },
      ]),
    )
    const $defs = { ...doubling, level40: { type: 'string' } }
    expect(safeSchema(object({ a: { $ref: '#/$defs/level0' } }, { $defs }))).toBeNull()
    expect(safeSchema(object({ a: { $ref: '#/$defs/level35' } }, { $defs }))).not.toBeNull()
    const tree = { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } }
    expect(safeSchema(object({ a: { $ref: '#/$defs/node' } }, { $defs: tree }))).toBeNull()
    for (const $ref of ['#', 'https://example.org/schema', '#/missing', 7])
      expect(safeSchema(object({ a: { $ref } }))).toBeNull()
    let deep: object = { type: 'string' }
    for (let level = 0; level < 20_000; level += 1) deep = { items: deep }
    expect(safeSchema(object({ a: deep }))).toBeNull()
  })
})
