// Web search against services on loopback that speak the real formats.
import { describe, expect, test } from 'vitest'
import {
  createWebSearchTool,
  searchProviders,
  type WebSearchSettings,
} from '../../../../server/tools/builtin/web/web-search.ts'
import type { ToolDefinition } from '../../../../server/tools/definition.ts'
import { runTool } from '../support.ts'
import { dataOf, html, useWeb } from './use-web.ts'

const web = useWeb()
const { fetch, pages } = web
describe('web_search', () => {
  const search = (settings: Partial<WebSearchSettings>, now?: () => number): ToolDefinition =>
    createWebSearchTool(
      searchProviders({ provider: 'duckduckgo', providers: [], ...settings }, fetch, pages),
      now,
    )
  const result = (title: string, href: string): string =>
    `<div class="result results_links web-result"><h2 class="result__title"><a class="result__a" href="${href}">${title}</a></h2>
     <a class="result__snippet" href="${href}">About <b>${title}</b></a></div>`

  test('reads the results of DuckDuckGo without advertisements', async () => {
    web.site.serve(
      '/html/',
      'text/html',
      html(
        `<div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=x">Ad</a></div>` +
          result('First', '//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3D1&rut=1') +
          result('Second', 'https://example.org/'),
      ),
    )
    const found = await dataOf(search({ duckduckgoUrl: web.site.origin }), { query: 'cats & dogs' })
    expect(found).toMatchObject({
      query: 'cats & dogs',
      provider: 'duckduckgo',
      total: 2,
      results: [
        { title: 'First', url: 'https://example.com/a?b=1', snippet: 'About First' },
        { title: 'Second', url: 'https://example.org/', snippet: 'About Second' },
      ],
    })
    expect(web.site.requests.at(-1)?.url.searchParams.get('q')).toBe('cats & dogs')
  })

  test('queries Brave with its key, and SearXNG for JSON', async () => {
    web.site.serve(
      '/brave',
      'application/json',
      JSON.stringify({
        web: {
          results: [{ title: 'B', url: 'https://b.test/', description: 'a <strong>b</strong>' }],
        },
      }),
    )
    const brave = search({ provider: 'brave', apiKey: 'k-1', braveUrl: `${web.site.origin}/brave` })
    expect(await dataOf(brave, { query: 'q', max_results: 3 })).toMatchObject({
      provider: 'brave',
      results: [{ title: 'B', url: 'https://b.test/', snippet: 'a b' }],
    })
    expect(web.site.requests.at(-1)?.headers['x-subscription-token']).toBe('k-1')
    expect(web.site.requests.at(-1)?.url.searchParams.get('count')).toBe('3')

    const hit = { title: 'S', url: 'https://s.test/', content: 'text' }
    web.site.serve('/search', 'application/json', JSON.stringify({ results: [hit, hit] }))
    const searxng = search({ provider: 'searxng', url: web.site.origin })
    expect(await dataOf(searxng, { query: 'q', max_results: 1 })).toMatchObject({
      total: 1,
      results: [{ title: 'S', url: 'https://s.test/', snippet: 'text' }],
    })
    expect(web.site.requests.at(-1)?.url.searchParams.get('format')).toBe('json')
  })

  test('uses the next service when one fails, and skips the failed one for a while', async () => {
    let clock = 0
    web.site.page('/refuses', (_request, response) => void response.writeHead(429).end())
    web.site.serve('/search', 'application/json', '{"results":[]}')
    const tool = search(
      {
        providers: ['duckduckgo', 'searxng'],
        duckduckgoUrl: `${web.site.origin}/refuses`,
        url: web.site.origin,
      },
      () => clock,
    )
    const asked = (): number =>
      web.site.requests.filter(({ url }) => url.pathname === '/refuses').length
    expect(await dataOf(tool, { query: 'a' })).toMatchObject({ provider: 'searxng', total: 0 })
    await dataOf(tool, { query: 'b' })
    expect(asked()).toBe(1)
    clock = 6_000
    await dataOf(tool, { query: 'c' })
    expect(asked()).toBe(2)
  })

  test('says that search is unavailable, and why, when every service fails', async () => {
    web.site.serve(
      '/blocked',
      'text/html',
      html('<form id="challenge-form">Are you a duck?</form>'),
    )
    const tool = search({ duckduckgoUrl: `${web.site.origin}/blocked` })
    expect(await runTool(tool, { query: 'a' })).toMatchObject({
      success: false,
      error: expect.stringMatching(/Search is unavailable.*duckduckgo: it is currently refusing/),
    })
  })

  test('never shows a key in a failure', async () => {
    const tool = search({
      provider: 'brave',
      apiKey: 'top-secret',
      braveUrl: 'http://127.0.0.1:9/',
    })
    const outcome = await runTool(tool, { query: 'a' })
    expect(outcome.success).toBe(false)
    expect(JSON.stringify(outcome)).not.toContain('top-secret')
  })
})
