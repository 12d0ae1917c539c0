// `GET /api/tools` over real HTTP, with every built-in tool.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createAddressRules } from '../../../server/net/addresses.ts'
import { createGuardedFetch } from '../../../server/net/guarded-fetch.ts'
import { createPageReader } from '../../../server/net/page-reader.ts'
import { type App, createApp } from '../../../server/plugins/app.ts'
import { ToolList } from '../../../server/protocol/catalog.ts'
import { envelope } from '../../../server/protocol/envelope.ts'
import { registerToolRoutes } from '../../../server/routes/tools.ts'
import { createBuiltinTools } from '../../../server/tools/builtin/index.ts'
import { createMemoryResultKeeper } from '../../../server/tools/long-results.ts'
import { createToolRegistry } from '../../../server/tools/registry.ts'

let app: App
let listed: z.infer<typeof ToolList>

beforeAll(async () => {
  const registry = createToolRegistry(
    createBuiltinTools({
      fetch: createGuardedFetch({
        rules: createAddressRules({ allowPrivate: [], allowPorts: [80, 443] }),
      }),
      pages: createPageReader(),
      results: createMemoryResultKeeper(),
      webSearch: { provider: 'duckduckgo', providers: [] },
      weather: { provider: 'open-meteo' },
    }),
    { risk: { get_weather: 'high' } },
  )
  app = createApp({ bodyLimit: 10_000 })
  registerToolRoutes(app, { registry })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const answer = await fetch(`${origin}/api/tools`)
  listed = envelope(ToolList).parse(await answer.json()).data
})
afterAll(() => app.close())

test('lists every tool once, in the form in which models are told of it', () => {
  const names = listed.tools.map((tool) => tool.function.name)
  expect(new Set(names).size).toBe(listed.total)
  expect(names).toEqual(
    expect.arrayContaining([
      'web_search',
      'fetch_page',
      'crawl_batch',
      'calculator',
      'result_read',
    ]),
  )
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
    for (const [name, property] of Object.entries(properties))
      expect(property.description, `${tool.function.name}.${name}`).toEqual(expect.any(String))
  }
})

test('tells category and risk, with the operator’s own level', () => {
  const find = (name: string) => listed.tools.find((tool) => tool.function.name === name)
  expect(find('web_search')).toMatchObject({ category: 'crawler', risk_level: 'low' })
  expect(find('get_weather')).toMatchObject({ category: 'basic', risk_level: 'high' })
})

test('aliases are understood but not listed', () => {
  expect(JSON.stringify(listed)).not.toContain('web_fetch')
})
