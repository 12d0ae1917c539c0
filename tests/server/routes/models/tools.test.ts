// `GET /api/tools` over real HTTP, with every built-in tool.
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { envelope } from '../../../../server/protocol/envelope.ts'
import { ToolList } from '../../../../server/protocol/models/catalog.ts'
import {
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../../support/server/server.ts'

const { start } = useServers()
let server: TestServer
let listed: z.infer<typeof ToolList>

beforeAll(async () => {
  server = await start({ config: { tools: { risk: { get_weather: 'high' } } } })
  await server.server.toolsReady
  listed = envelope(ToolList).parse((await server.call('GET', '/api/tools')).json).data
})

test('the list contains every tool once, in the form that models receive', () => {
  const names = listed.tools.map((tool) => tool.function.name)
  expect(new Set(names).size).toBe(listed.total)
  expect(names).toEqual(
    expect.arrayContaining([
      'web_search',
      'fetch_page',
      'crawl_batch',
      'calculator',
      'result_read',
      'save_memory',
      'search_knowledge',
      'execute_python',
    ]),
  )
  const silent: string[] = []
  for (const tool of listed.tools) {
    expect(tool.type).toBe('function')
    expect(tool.function.description.length).toBeGreaterThan(40)
    const { type, properties } = z
      .looseObject({
        type: z.literal('object'),
        properties: z.record(z.string(), z.looseObject({})),
      })
      .parse(tool.function.parameters)
    expect(type).toBe('object')
    // What several parameters share is described once, in the description of the tool.
    for (const [name, property] of Object.entries(properties))
      if (property.description === undefined && !tool.function.description.includes(name))
        silent.push(`${tool.function.name}.${name}`)
  }
  expect(silent).toEqual([])
})

test('the list shows category and risk, with the level that the operator configured', () => {
  const find = (name: string) => listed.tools.find((tool) => tool.function.name === name)
  expect(find('web_search')).toMatchObject({ category: 'crawler', risk_level: 'low' })
  expect(find('get_weather')).toMatchObject({ category: 'basic', risk_level: 'high' })
})

test('the list shows what a new conversation sends of the tools, without those that the user switched off', async () => {
  const { tools, tokens, mcp } = listed.sent
  expect(tools).toBe(listed.total)
  expect(tokens).toBeGreaterThan(1_000)
  expect(mcp).toEqual({
    tools: 0,
    tokens: 0,
    max_tools: 40,
    max_tokens: 20_000,
    on_demand: false,
  })
  const off = { disabled_tools: ['web_search', 'calculator'] }
  await server.call('PATCH', '/api/preferences', { body: off })
  const { json } = await server.call('GET', '/api/tools')
  expect(json.data).toMatchObject({ total: listed.total, sent: { tools: tools - 2 } })
  expect(json.data.sent.tokens).toBeLessThan(tokens)
})

test('aliases are understood but not listed', () => {
  expect(JSON.stringify(listed)).not.toContain('web_fetch')
})

test('in multi mode the list is public, even for a request with an invalid token', async () => {
  const server = await start({ config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET } })
  for (const token of [undefined, 'not a token', await register(server, 'ann')]) {
    const { status, json } = await server.call(
      'GET',
      '/api/tools',
      token === undefined ? {} : { token },
    )
    expect([status, json.data.total]).toEqual([200, json.data.tools.length])
    expect(json.data.total).toBeGreaterThan(10)
  }
})
