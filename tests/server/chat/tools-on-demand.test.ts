// Many tools of MCP servers: the model finds them with `tool_search`, and requests never list more than providers accept.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeSentTools, listTools } from '../../../server/runs/tools-on-demand.ts'
import type { ToolDefinition } from '../../../server/tools/definition.ts'
import { startScriptedMcpServer } from '../../fixtures/mcp-scripted-server.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { useServers } from '../../support/server/server.ts'
import { toolContext } from '../tools/support.ts'

const upstream = await useUpstream()
const servers = useServers()

const SUBJECTS = [
  'issue',
  'page',
  'branch',
  'comment',
  'label',
  'user',
  'file',
  'release',
  'team',
  'board',
]
const VERBS = ['create', 'list', 'update', 'delete', 'search']
const MANY = VERBS.flatMap((verb) =>
  SUBJECTS.map((subject) => ({
    name: `${verb}_${subject}`,
    description: `Can ${verb} one ${subject} of the tracker`,
    inputSchema: { type: 'object', properties: { title: { type: 'string' } } },
  })),
)

describe('fifty tools of a server', () => {
  test('that were found stay listed after a restart in the middle of the answer', async () => {
    const mcp = await startScriptedMcpServer({ tools: MANY })
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-found-tools-'))
    const start = async () => {
      const server = await servers.start({
        folder,
        config: {
          db_sqlite_file: join(folder, 'nanoclaw.db'),
          models: [{ id: 'scripted', api_url: upstream.url }],
          titles: 'off',
          approval: { default: 'auto' },
          mcp_servers: { tracker: { url: mcp.url } },
        },
      })
      await expect
        .poll(async () => (await server.call('GET', '/api/mcp')).json.data.servers[0].state)
        .toBe('connected')
      return server
    }
    const namesOf = ({ body }: { body: Readonly<Record<string, unknown>> }) =>
      (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)
    const before = await start()
    const { json } = await before.call('POST', '/api/conversations', { body: {} })
    upstream.enqueue(
      turn.toolCalls([{ name: 'tool_search', arguments: { query: 'create issue', limit: 2 } }]),
      turn.toolCalls([{ name: 'mcp__tracker__create_issue', arguments: { title: 'Broken' } }]),
      turn.beforeHeaders('stall'),
    )
    await openEvents(`${before.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'File it', on_disconnect: 'continue' },
    })
    await upstream.nextRequest()
    const found = namesOf(await upstream.nextRequest())
    await upstream.nextRequest()
    upstream.enqueue(turn.text('Created.'))
    await before.close()
    await start()
    expect(found).toContain('mcp__tracker__create_issue')
    expect(namesOf(await upstream.nextRequest())).toEqual(found)
  })

  test('are found with tool_search, called, and listed again in the next turn', async () => {
    const mcp = await startScriptedMcpServer({ tools: MANY })
    const { url, call } = await servers.start({
      config: {
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        approval: { default: 'auto' },
        mcp_servers: { tracker: { url: mcp.url } },
      },
    })
    await expect
      .poll(async () => (await call('GET', '/api/mcp')).json.data.servers[0].state)
      .toBe('connected')
    const { json } = await call('POST', '/api/conversations', { body: {} })
    const ask = async (text: string) => {
      const before = upstream.requests.length
      const stream = await openEvents(`${url}/api/conversations/${json.data.id}/messages`, {
        body: { text },
      })
      await stream.all()
      return upstream.requests.slice(before).map(({ body }) => {
        const tools = body.tools as { function: { name: string } }[] // the form of this API
        return tools.map((tool) => tool.function.name)
      })
    }

    upstream.enqueue(
      turn.toolCalls([{ name: 'tool_search', arguments: { query: 'create issue', limit: 2 } }]),
      turn.toolCalls([{ name: 'mcp__tracker__create_issue', arguments: { title: 'Broken' } }]),
      turn.text('Created.'),
    )
    const [first = [], second = [], third = []] = await ask('File it')
    expect(first).toContain('tool_search')
    expect(first.filter((name) => name.startsWith('mcp__'))).toEqual([])
    // The list only grows at its end.
    expect(second.slice(0, first.length)).toEqual(first)
    expect(second.slice(first.length)[0]).toBe('mcp__tracker__create_issue')
    expect(second).toHaveLength(first.length + 2)
    expect(third).toEqual(second)
    expect(mcp.calls).toEqual([{ name: 'create_issue', input: { title: 'Broken' } }])

    upstream.enqueue(turn.text('Again.'))
    expect(await ask('And now?')).toEqual([second])
  })
})

const fake = (name: string, category = 'mcp'): ToolDefinition => ({
  name,
  aliases: [],
  description: `Does ${name}`,
  category,
  riskLevel: 'low',
  cacheable: false,
  repeatable: true,
  untrusted: false,
  changesProject: false,
  namesAddresses: false,
  timeoutMs: 1,
  parameters: { type: 'object' },
  parse: () => ({ ok: false, error: 'never called' }),
})
const list = (tools: ToolDefinition[], more: Partial<Parameters<typeof listTools>[0]> = {}) =>
  listTools({ tools, clientTools: [], maxMcpTools: 40, found: [], onFound: () => {}, ...more })
const many = (count: number) => Array.from({ length: count }, (_, at) => fake(`mcp__s__t${at}`))

test('few tools are all listed, in their order, without tool_search', () => {
  const tools = [fake('calculator', 'basic'), ...many(40)]
  const { schemas, search } = list(tools)
  expect(search).toBeNull()
  expect(schemas.map((schema) => schema.function.name)).toEqual(tools.map(({ name }) => name))
  expect(list(many(41)).search).not.toBeNull()
})

test('what is sent of them can be described: all below the limits, else the tool that finds them', () => {
  const sent = (tools: ToolDefinition[]) => describeSentTools({ tools, maxMcpTools: 40 })
  const own = fake('calculator', 'basic')
  const few = sent([own, ...many(40)])
  expect(few).toMatchObject({ tools: 41, mcp: { tools: 40, max_tools: 40, on_demand: false } })
  expect(few.mcp.tokens).toBeLessThan(few.tokens)
  const all = sent([own, ...many(41)])
  expect(all).toMatchObject({ tools: 2, mcp: { tools: 41, on_demand: true } })
  expect(all.mcp.tokens).toBeGreaterThan(few.mcp.tokens)
  // The limit of providers counts, too.
  const others = Array.from({ length: 120 }, (_, at) => fake(`own_${at}`, 'basic'))
  expect(sent([...others, ...many(9)])).toMatchObject({ mcp: { max_tools: 8, on_demand: true } })
})

test('few tools with long descriptions are found on demand, too', () => {
  const long = many(20).map((tool) => ({ ...tool, description: 'word '.repeat(2_000) }))
  expect(list(long).search).not.toBeNull()
})

test('no request lists more than 128 tools, however many are found', async () => {
  const { schemas, search } = list(
    [...many(300), ...many(100).map(({ name }) => fake(`own_${name}`, 'basic'))],
    {
      maxMcpTools: 128,
    },
  )
  for (let at = 0; at < 15; at += 1) {
    const parsed = search?.parse(JSON.stringify({ query: `s t${at} does`, limit: 20 }))
    if (parsed?.ok !== true) throw new Error('the search takes a query')
    await parsed.input.run(toolContext())
  }
  expect(schemas).toHaveLength(128)
})

test.each([
  ['create issue', 'mcp__tracker__create_issue'],
  ['mcp__tracker__list_board', 'mcp__tracker__list_board'],
  ['deleting branches', 'mcp__tracker__delete_branch'],
  ['updateLabel', 'mcp__tracker__update_label'],
])('a search for "%s" finds %s first', async (query, name) => {
  const { search } = list(MANY.map((tool) => fake(`mcp__tracker__${tool.name}`)))
  const parsed = search?.parse(JSON.stringify({ query }))
  if (parsed?.ok !== true) throw new Error('the search takes a query')
  const result = await parsed.input.run(toolContext())
  expect(JSON.stringify(result)).toMatch(new RegExp(`^[^}]*?"name":"${name}"`))
})
