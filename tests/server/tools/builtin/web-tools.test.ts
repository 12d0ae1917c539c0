// The tools that go out to the web, against sites on loopback that speak the real services' formats.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAddressRules } from '../../../../server/net/addresses.ts'
import { createGuardedFetch } from '../../../../server/net/guarded-fetch.ts'
import { createPageReader } from '../../../../server/net/page-reader.ts'
import { createPageTools } from '../../../../server/tools/builtin/fetch-page.ts'
import {
  createWeatherTool,
  type WeatherSettings,
} from '../../../../server/tools/builtin/weather.ts'
import {
  createWebSearchTool,
  searchProviders,
  type WebSearchSettings,
} from '../../../../server/tools/builtin/web-search.ts'
import type { ToolDefinition } from '../../../../server/tools/definition.ts'
import { startWebSite, type WebSite } from '../../../support/web-site.ts'
import { runTool } from '../support.ts'

let site: WebSite
const pages = createPageReader()
const fetch = createGuardedFetch({
  rules: createAddressRules({ allowPrivate: ['site.test'], allowPorts: [80, 443] }),
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
})
const [fetchPage, crawlBatch] = createPageTools({ fetch, pages }) as [
  ToolDefinition,
  ToolDefinition,
]
const at = (path: string): string => `http://site.test:${site.port}${path}`
const html = (body: string, head = ''): string =>
  `<!doctype html><html lang="en"><head><title>A page</title>${head}</head><body>${body}</body></html>`

beforeAll(async () => {
  site = await startWebSite()
})
afterAll(async () => {
  await Promise.all([pages.close(), fetch.close()])
  await site.close()
})

/** Data of a success, else the error as a throw. */
async function data(tool: ToolDefinition, args: unknown): Promise<Record<string, unknown>> {
  const result = await runTool(tool, args)
  if (!result.success) throw new Error(result.error)
  return result.data as Record<string, unknown>
}

describe('fetch_page', () => {
  test('reads the main content of a page as Markdown, without what stands around it', async () => {
    const prose = 'The quick brown fox jumps over the lazy dog, again and again. '.repeat(20)
    site.serve(
      '/article',
      'text/html',
      html(`<nav>Menu <a href="/x">x</a></nav><article><h1>Foxes</h1><p>${prose}</p>
        <p>See <a href="more">more</a>.</p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
        <script>alert(1)</script></article><footer>Imprint</footer>`),
    )
    const page = await data(fetchPage, { url: at('/article') })
    expect(page).toMatchObject({ url: at('/article'), title: 'A page' })
    expect(page.text).toContain('The quick brown fox')
    expect(page.text).toContain(`[more](${at('/more')})`)
    expect(page.text).toContain('| 1 | 2 |')
    expect(page.text).not.toMatch(/Menu|Imprint|alert/)
  })

  test('reads a short page whole', async () => {
    site.serve(
      '/short',
      'text/html',
      html('<h1>Hi</h1><ul><li>one</li><li>two &amp; three</li></ul>'),
    )
    const page = await data(fetchPage, { url: at('/short') })
    expect(page.text).toBe('# Hi\n\n- one\n\n- two & three')
  })

  test('lists links, absolute and each once', async () => {
    site.serve(
      '/links',
      'text/html',
      html(`<a href="/a">A</a><a href="/a">again</a><a href="b?x=1">B</a><a href="#c">C</a>
        <a href="javascript:alert(1)">D</a><a href="mailto:x@y">E</a><a href="https://other.test/">F</a>`),
    )
    const page = await data(fetchPage, { url: at('/links'), extract_type: 'links' })
    expect(page.links).toEqual([
      { text: 'A', href: at('/a') },
      { text: 'B', href: at('/b?x=1') },
      { text: 'F', href: 'https://other.test/' },
    ])
  })

  test('answers the structure of a page', async () => {
    const head =
      '<meta name="description" content="About  things"><meta name="author" content="Ann"><meta property="article:published_time" content="2026-01-02">'
    site.serve('/structured', 'text/html', html('<h1>One</h1><h2>Two</h2><a href="/a">A</a>', head))
    const page = await data(fetchPage, { url: at('/structured'), extract_type: 'structured' })
    expect(page).toMatchObject({
      title: 'A page',
      description: 'About things',
      author: 'Ann',
      published: '2026-01-02',
      language: 'en',
      headings: [
        { level: 1, text: 'One' },
        { level: 2, text: 'Two' },
      ],
      links: [{ text: 'A', href: at('/a') }],
    })
  })

  test('reads plain text and JSON as they are', async () => {
    site.serve('/plain', 'text/plain; charset=utf-8', 'just text\nhttp://site.test/x.')
    expect(await data(fetchPage, { url: at('/plain') })).toMatchObject({
      text: 'just text\nhttp://site.test/x.',
    })
    site.serve('/json', 'application/json', '{"a":[1]}')
    expect(await data(fetchPage, { url: at('/json') })).toMatchObject({ text: '{"a":[1]}' })
    expect(await data(fetchPage, { url: at('/json'), extract_type: 'structured' })).toMatchObject({
      json: { a: [1] },
    })
  })

  test('reads PDF', async () => {
    site.serve('/paper.pdf', 'application/pdf', pdf('Hello from a PDF'))
    const page = await data(fetchPage, { url: at('/paper.pdf') })
    expect(page).toMatchObject({ title: 'paper.pdf', pages: 1 })
    expect(page.text).toContain('Hello from a PDF')
    site.serve('/broken.pdf', 'application/pdf', '%PDF-1.4 nothing')
    expect(await runTool(fetchPage, { url: at('/broken.pdf') })).toMatchObject({
      success: false,
      error: expect.stringContaining('damaged'),
    })
  })

  test('knows the character set from the header, the page or a byte order mark', async () => {
    const chinese = Buffer.from([0xc4, 0xe3, 0xba, 0xc3]) // 你好 in GBK
    site.serve('/gbk', 'text/plain; charset=GBK', chinese)
    expect(await data(fetchPage, { url: at('/gbk') })).toMatchObject({ text: '你好' })
    const meta = Buffer.concat([Buffer.from('<html><meta charset="gb2312"><p>'), chinese])
    site.serve('/meta', 'text/html', meta)
    expect(await data(fetchPage, { url: at('/meta') })).toMatchObject({ text: '你好' })
    site.serve('/bom', 'text/plain', Buffer.from('\ufeffhéllo', 'utf16le'))
    expect(await data(fetchPage, { url: at('/bom') })).toMatchObject({ text: 'héllo' })
  })

  test('a page cut at 5 MB says so', async () => {
    site.serve('/long', 'text/plain', 'x'.repeat(5_500_000))
    const page = await data(fetchPage, { url: at('/long') })
    expect(String(page.text)).toHaveLength(5_000_000)
    expect(page).toMatchObject({ truncated: true, note: expect.stringContaining('5 MB') })
  })

  test('20,000 nested elements are read without harm', async () => {
    site.serve('/deep', 'text/html', html(`${'<div>'.repeat(20_000)}deep down`))
    expect(await data(fetchPage, { url: at('/deep') })).toMatchObject({ text: 'deep down' })
  })

  test('a page that takes too long is read in the plainest way, and holds up no other', async () => {
    const impatient = createPageReader({ firstAttemptTimeoutMs: 300 })
    const [tool] = createPageTools({ fetch, pages: impatient }) as [ToolDefinition]
    site.serve('/endless', 'text/html', html('<'.repeat(1_500_000)))
    site.serve('/quick', 'text/html', html('<p>quick</p>'))
    const done: string[] = []
    const read = async (path: string): Promise<void> => {
      expect((await data(tool, { url: at(path) })).title).toBe('A page')
      done.push(path)
    }
    await Promise.all([read('/endless'), read('/quick')])
    expect(done[0]).toBe('/quick')
    await impatient.close()
  })

  test.each([
    ['image/png', 'content type image/png'],
    ['application/zip', 'content type application/zip'],
    ['application/octet-stream', 'binary file'],
  ])('%s is refused', async (type, why) => {
    site.serve('/file', type, Buffer.from([0x50, 0, 1, 2]))
    expect(await runTool(fetchPage, { url: at('/file') })).toMatchObject({
      success: false,
      error: expect.stringContaining(why),
    })
  })

  test('missing pages and private addresses are failures that name the page', async () => {
    expect(await runTool(fetchPage, { url: at('/nowhere') })).toMatchObject({
      error: `${at('/nowhere')}: The page responded with HTTP status 404.`,
    })
    const before = site.requests.length
    for (const url of [site.origin, `http://localhost:${site.port}`, `127.0.0.1:${site.port}/`])
      expect((await runTool(fetchPage, { url })).success).toBe(false)
    expect(site.requests.length).toBe(before)
  })
})

describe('crawl_batch', () => {
  test('reads several pages in the order asked; one that fails does not fail the others', async () => {
    site.serve('/one', 'text/plain', 'first')
    site.serve('/two', 'text/plain', 'second')
    const urls = ['/one', '/nowhere', '/two'].map(at)
    expect(await data(crawlBatch, { urls })).toMatchObject({
      total: 3,
      results: [
        { url: at('/one'), success: true, text: 'first' },
        { url: at('/nowhere'), success: false, error: expect.stringContaining('404') },
        { url: at('/two'), success: true, text: 'second' },
      ],
    })
  })

  test('more than ten pages are refused', async () => {
    const result = await runTool(crawlBatch, { urls: Array(11).fill(at('/one')) })
    expect(result).toMatchObject({ error: expect.stringContaining('At most 10 pages') })
  })
})

describe('web_search', () => {
  const search = (settings: Partial<WebSearchSettings>, now?: () => number): ToolDefinition =>
    createWebSearchTool(
      searchProviders({ provider: 'duckduckgo', providers: [], ...settings }, fetch, pages),
      now,
    )
  const result = (title: string, href: string): string =>
    `<div class="result results_links web-result"><h2 class="result__title"><a class="result__a" href="${href}">${title}</a></h2>
     <a class="result__snippet" href="${href}">About <b>${title}</b></a></div>`

  test('reads DuckDuckGo’s page, without advertisements', async () => {
    site.serve(
      '/html/',
      'text/html',
      html(
        `<div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=x">Ad</a></div>` +
          result('First', '//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3D1&rut=1') +
          result('Second', 'https://example.org/'),
      ),
    )
    const found = await data(search({ duckduckgoUrl: site.origin }), { query: 'cats & dogs' })
    expect(found).toMatchObject({
      query: 'cats & dogs',
      provider: 'duckduckgo',
      total: 2,
      results: [
        { title: 'First', url: 'https://example.com/a?b=1', snippet: 'About First' },
        { title: 'Second', url: 'https://example.org/', snippet: 'About Second' },
      ],
    })
    expect(site.requests.at(-1)?.url.searchParams.get('q')).toBe('cats & dogs')
  })

  test('asks Brave with its key, and SearXNG for JSON', async () => {
    site.serve(
      '/brave',
      'application/json',
      JSON.stringify({
        web: {
          results: [{ title: 'B', url: 'https://b.test/', description: 'a <strong>b</strong>' }],
        },
      }),
    )
    const brave = search({ provider: 'brave', apiKey: 'k-1', braveUrl: `${site.origin}/brave` })
    expect(await data(brave, { query: 'q', max_results: 3 })).toMatchObject({
      provider: 'brave',
      results: [{ title: 'B', url: 'https://b.test/', snippet: 'a b' }],
    })
    expect(site.requests.at(-1)?.headers['x-subscription-token']).toBe('k-1')
    expect(site.requests.at(-1)?.url.searchParams.get('count')).toBe('3')

    const hit = { title: 'S', url: 'https://s.test/', content: 'text' }
    site.serve('/search', 'application/json', JSON.stringify({ results: [hit, hit] }))
    const searxng = search({ provider: 'searxng', url: site.origin })
    expect(await data(searxng, { query: 'q', max_results: 1 })).toMatchObject({
      total: 1,
      results: [{ title: 'S', url: 'https://s.test/', snippet: 'text' }],
    })
    expect(site.requests.at(-1)?.url.searchParams.get('format')).toBe('json')
  })

  test('tries the next service when one fails, and leaves that one alone for a while', async () => {
    let clock = 0
    site.page('/refuses', (_request, response) => void response.writeHead(429).end())
    site.serve('/search', 'application/json', '{"results":[]}')
    const tool = search(
      {
        providers: ['duckduckgo', 'searxng'],
        duckduckgoUrl: `${site.origin}/refuses`,
        url: site.origin,
      },
      () => clock,
    )
    const asked = (): number =>
      site.requests.filter(({ url }) => url.pathname === '/refuses').length
    expect(await data(tool, { query: 'a' })).toMatchObject({ provider: 'searxng', total: 0 })
    await data(tool, { query: 'b' })
    expect(asked()).toBe(1)
    clock = 6_000
    await data(tool, { query: 'c' })
    expect(asked()).toBe(2)
  })

  test('says that search is unavailable, and why, when every service fails', async () => {
    site.serve('/blocked', 'text/html', html('<form id="challenge-form">Are you a duck?</form>'))
    const tool = search({ duckduckgoUrl: `${site.origin}/blocked` })
    expect(await runTool(tool, { query: 'a' })).toMatchObject({
      success: false,
      error: expect.stringMatching(/Search is unavailable.*duckduckgo: it refuses/),
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

describe('get_weather', () => {
  const weather = (settings: Partial<WeatherSettings>): ToolDefinition =>
    createWeatherTool({ provider: 'open-meteo', ...settings }, fetch)
  const openMeteo = () =>
    weather({ geocodingUrl: site.origin, forecastUrl: `${site.origin}/v1/forecast` })

  test('Open-Meteo: finds the city and tells the weather now and ahead', async () => {
    site.page('/v1/search', (_request, response, url) => {
      const results =
        url.searchParams.get('name') === '北京'
          ? [
              {
                name: '北京市',
                latitude: 39.9,
                longitude: 116.4,
                country: '中国',
                timezone: 'Asia/Shanghai',
              },
            ]
          : undefined
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }))
    })
    site.serve(
      '/v1/forecast',
      'application/json',
      JSON.stringify({
        timezone: 'Asia/Shanghai',
        current: {
          time: '2026-03-01T10:00',
          temperature_2m: 7.5,
          relative_humidity_2m: 40,
          apparent_temperature: 5,
          precipitation: 0,
          weather_code: 61,
          wind_speed_10m: 12,
          wind_direction_10m: 90,
        },
        daily: {
          time: ['2026-03-01'],
          weather_code: [3],
          temperature_2m_max: [9],
          temperature_2m_min: [1],
          precipitation_probability_max: [null],
        },
      }),
    )
    const now = await data(openMeteo(), { city: '北京' })
    expect(now).toMatchObject({
      city: '北京市',
      temperature: 7.5,
      condition: 'slight rain',
      units: { temperature: '°C' },
      forecast: [
        { date: '2026-03-01', condition: 'overcast', max: 9, min: 1, rain_probability: null },
      ],
    })
    await data(openMeteo(), { city: '北京', units: 'imperial' })
    expect(site.requests.at(-1)?.url.searchParams.get('temperature_unit')).toBe('fahrenheit')
    expect(await runTool(openMeteo(), { city: 'Nowhere' })).toMatchObject({
      error: expect.stringContaining('No city named "Nowhere"'),
    })
  })

  test('OpenWeatherMap: asks with its key, which no failure shows', async () => {
    const url = `${site.origin}/data/2.5/weather`
    const tool = weather({
      provider: 'openweathermap',
      apiKey: 'top-secret',
      openweathermapUrl: url,
    })
    site.serve(
      '/data/2.5/weather',
      'application/json',
      JSON.stringify({
        name: 'Berlin',
        dt: 1772359200,
        sys: { country: 'DE' },
        main: { temp: 3, feels_like: 1, humidity: 80 },
        weather: [{ description: 'light snow' }],
        wind: { speed: 4, deg: 10 },
      }),
    )
    expect(await data(tool, { city: 'Berlin' })).toMatchObject({
      city: 'Berlin',
      condition: 'light snow',
    })
    expect(site.requests.at(-1)?.url.searchParams.get('appid')).toBe('top-secret')
    site.page('/data/2.5/weather', (_request, response) => void response.writeHead(401).end())
    const refused = await runTool(tool, { city: 'Berlin' })
    expect(refused).toMatchObject({
      error: expect.stringContaining('refused the configured API key'),
    })
    expect(JSON.stringify(refused)).not.toContain('top-secret')
    expect(
      await runTool(weather({ provider: 'openweathermap' }), { city: 'Berlin' }),
    ).toMatchObject({ error: expect.stringContaining('api_key') })
  })

  test('a service that is down or answers nonsense is a failure', async () => {
    site.serve('/nonsense', 'text/html', '<html>')
    for (const geocodingUrl of [`${site.origin}/nonsense`, 'http://127.0.0.1:9/'])
      expect(await runTool(weather({ geocodingUrl }), { city: 'X' })).toMatchObject({
        error: expect.stringContaining('unavailable'),
      })
  })
})

/** The smallest PDF that shows one line of text. */
function pdf(line: string): Buffer {
  const stream = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
    `<</Length ${stream.length}>>\nstream\n${stream}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const start = text.length
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`
  text += `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF`
  return Buffer.from(text, 'latin1')
}
