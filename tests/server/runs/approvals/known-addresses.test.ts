// Addresses that a conversation knows: read in short turns, and never those that a call says itself.
import { expect, test } from 'vitest'
import type { ConversationId } from '../../../../server/protocol/ids.ts'
import { createKnownAddresses } from '../../../../server/runs/approvals/taint.ts'
import { createToolSet } from '../../../../server/tools/registry.ts'
import { longestTurn } from '../../../support/event-loop.ts'
import { call, countingTool } from '../../tools/support.ts'

/** CPU time in milliseconds, as for the largest requests. */
const LIMIT_MS = 100

const knownFrom = (texts: readonly string[]) =>
  createKnownAddresses({
    store: { addressTexts: { list: async () => ({ items: [], next: null }) } },
    conversationId: 'c' as ConversationId,
    texts,
    tools: createToolSet([
      { ...countingTool({ name: 'mcp__odd__echo' }).tool, category: 'mcp' },
      countingTool({ name: 'result_read' }).tool,
    ]),
    retry: (read) => read(),
  })

test.each([
  ['host names with much punctuation', 'a.bc/1!!!!!!!!!!!! '.repeat(5_000)],
  ['labels of a host name', 'a.'.repeat(1_000_000)],
  ['words', 'hello wonderful world '.repeat(100_000)],
])('a long text of %s is searched in short turns, to its end', async (_what, text) => {
  const last = 'https://last.example/page'
  const known = knownFrom([`${text} ${last}`])
  const longest = await longestTurn(async () => {
    expect(await known.unknown([last, 'https://other.example/'])).toEqual([
      'https://other.example/',
    ])
  })
  expect(longest).toBeLessThanOrEqual(LIMIT_MS)
})

test('an address is found wherever it stands in a long text', async () => {
  const address = 'https://site.example/a/long/path'
  for (const before of [65_500, 65_520, 65_535, 65_536, 131_060, 131_072]) {
    const known = knownFrom([`${'x '.repeat(before).slice(0, before)} ${address} more`])
    expect(await known.unknown([address])).toEqual([])
    const bare = knownFrom([
      `${'x '.repeat(before).slice(0, before)} site.example/a/long/path more`,
    ])
    expect(await bare.unknown([address])).toEqual([])
  }
})

test('what an MCP tool makes of its arguments stays new, also in the rest of a long result', async () => {
  const [leak, other] = ['https://secret.a.example/?d=1', 'https://other.example/']
  const known = knownFrom([])
  const record = (name: string, given: object, data: object) =>
    known.record({
      call: call('a', name, given),
      content: JSON.stringify({ success: true, data, execution_time: 0 }),
    })
  const given = { text: 'https%3A%2F%2F%73ecret.a.example%2F%3Fd%3D1' }
  record('mcp__odd__echo', given, { handle: 'r1', truncated: true, content: leak })
  record('result_read', { handle: 'r1' }, { handle: 'r1', content: `${leak} ${other}` })
  record('result_read', { handle: 'r1 r2' }, { content: 'https://third.example/' })
  expect(await known.unknown([leak, other, 'https://third.example/'])).toEqual([
    leak,
    'https://third.example/',
  ])
})
