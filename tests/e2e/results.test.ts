// Tool results in the page: a view for each kind of result, the raw data behind it, and the sources of an answer.
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  say,
} from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'
import { startWebSite, type WebSite } from '../support/web-site.ts'

const hit = (url: string, title: string, snippet: string): string =>
  `<div class="result"><a class="result__a" href="${url}">${title}</a><a class="result__snippet">${snippet}</a></div>`

describeInBrowser('tool results', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let site: WebSite
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    site = await startWebSite()
    site.serve(
      '/html/',
      'text/html',
      hit('https://www.tea.example/oolong', 'Oolong tea', 'Oolong is partly oxidised.') +
        hit('https://leaf.example/green', 'Green &lt;b&gt;tea&lt;/b&gt;', 'Green tea is not.') +
        hit('https://cup.example/', 'Cups', 'Cups hold tea.'),
    )
    site.serve(
      '/geo',
      'application/json',
      '{"results":[{"name":"Berlin","country":"Germany","latitude":52.5,"longitude":13.4}]}',
    )
    site.serve(
      '/forecast',
      'application/json',
      JSON.stringify({
        current: {
          time: '2026-01-01T00:00',
          temperature_2m: 3,
          apparent_temperature: 1,
          weather_code: 2,
          wind_speed_10m: 12,
        },
        daily: {
          time: ['2026-01-01', '2026-01-02'],
          weather_code: [61, 0],
          temperature_2m_max: [4, 6],
          temperature_2m_min: [-1, 0],
          precipitation_probability_max: [80, 5],
        },
      }),
    )
    site.serve('/page', 'text/html', '<title>How tea is made</title><p>Leaves are withered.</p>')
    server = await servers.start({
      config: {
        ...scripted(upstream),
        network: { allow_private: ['127.0.0.0/8'] },
        web_search: { duckduckgo_url: site.origin },
        weather: { geocoding_url: `${site.origin}/geo`, forecast_url: `${site.origin}/forecast` },
        tools: { exec: { enabled: true } },
      },
      webRoot: visitor.webRoot(),
    })
  })
  afterAll(async () => {
    await upstream.close()
    await site.close()
  })

  test('search hits and pages are shown as cards; a citation has a preview, and one list names all sources', async () => {
    upstream.enqueue(
      turn.toolCalls([
        { name: 'web_search', arguments: { query: 'tea' } },
        { name: 'fetch_page', arguments: { url: `${site.origin}/page` } },
      ]),
      turn.text(`Oolong is oxidised[1]. Leaves wither [1](${site.origin}/page). Not here: [9].`),
    )
    const page = await visitor.open(server.url)
    await say(page, 'Tell me about tea.')
    const answer = page.getByRole('article', { name: 'Answer' })
    const chip = answer.getByRole('link', { name: 'Source 1: Oolong tea' })
    await chip.waitFor()
    await answer.getByRole('link', { name: 'Source 4: How tea is made' }).waitFor()
    await answer.getByText('Not here: [9].').waitFor()
    expect([await chip.getAttribute('href'), await chip.getAttribute('rel')]).toEqual([
      'https://www.tea.example/oolong',
      'noopener noreferrer nofollow',
    ])
    const preview = page.getByRole('tooltip').filter({ hasText: 'partly oxidised' })
    await chip.hover()
    await preview.getByText('tea.example', { exact: true }).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await preview.waitFor({ state: 'detached' })
    await page.mouse.move(2, 2)
    await chip.focus()
    await preview.waitFor()

    const sources = answer.getByRole('region', { name: 'Sources' })
    await sources.getByRole('button', { name: '4 sources' }).click()
    await sources
      .getByRole('list', { name: 'Cited' })
      .getByRole('link', { name: 'How tea is made' })
      .waitFor()
    const found = sources.getByRole('list', { name: 'Also found' })
    // A title from an external source is rendered as text, even if it contains markup.
    await found.getByRole('link', { name: 'Green <b>tea</b>' }).waitFor()
    await expect.poll(() => found.getByRole('link').count()).toBe(2)
    await expectAccessible(page)
    await expectNoScrolling(page)
    await leave(page)
  })

  test('on a phone, the first touch of a citation shows its preview', async () => {
    upstream.enqueue(
      turn.toolCalls([{ name: 'web_search', arguments: { query: 'tea' } }]),
      turn.text('Cups hold tea [3].'),
    )
    const page = await visitor.open(server.url, { phone: true })
    await say(page, 'And cups?')
    await page.getByRole('link', { name: 'Source 3: Cups' }).tap()
    await page.getByRole('tooltip').getByText('Cups hold tea.').waitFor()
    await expectNoScrolling(page)
    await leave(page)
  })

  test('every kind of result has its own view and shows its raw data with one click or key, in English on a wide screen and in Chinese on a dark phone', async () => {
    const project = await server.call('POST', '/api/projects', { body: { name: 'Shop' } })
    const id = project.json.data.id
    for (const [path, content] of [
      ['src/tea.ts', Array.from({ length: 60 }, (_, n) => `const tea${n} = ${n}\n`).join('')],
      ['src/cup.ts', 'export const cup = 1\n'],
      ['sales.csv', 'name,price\nOolong,9.5\nGreen,10\nBlack,2\n'],
    ])
      await server.call('PUT', `/api/projects/${id}/files/${path}`, { body: { content } })
    const created = await server.call('POST', '/api/conversations', {
      body: { title: 'All views', project_id: id, approval: 'auto' },
    })
    upstream.enqueue(
      turn.toolCalls([
        { name: 'web_search', arguments: { query: 'tea' } },
        { name: 'file_read', arguments: { path: 'src/tea.ts' } },
        { name: 'file_glob', arguments: { pattern: '*.ts' } },
        { name: 'file_read', arguments: { path: 'sales.csv' } },
        { name: 'get_weather', arguments: { city: 'Berlin' } },
        { name: 'calculator', arguments: { expression: '6 * 7' } },
        { name: 'get_current_time', arguments: { timezone: 'Asia/Tokyo' } },
        {
          name: 'exec',
          arguments: { command: "printf '\\033[31mred\\033[0m\\n'; echo broken >&2; exit 3" },
        },
      ]),
      turn.text('Done.'),
    )
    await server.call('POST', `/api/conversations/${created.json.data.id}/messages`, {
      body: { text: 'Use everything.', stream: false },
    })
    const address = `${server.url}/c/${created.json.data.id}`
    const page = await visitor.open(address)
    const unfold = async (name: RegExp, place = 0): Promise<void> => {
      const row = page.getByRole('button', { name, expanded: false }).nth(place)
      await row.focus()
      await page.keyboard.press('Enter')
    }
    // All but the command, which failed.
    await unfold(/^7 steps/)
    await unfold(/^Search the web/)
    const hits = page.getByRole('list', { name: 'Result' })
    await hits.getByRole('link', { name: 'Oolong tea' }).waitFor()
    await hits.getByText('tea.example', { exact: true }).waitFor()

    await unfold(/^Read file.*tea\.ts/)
    await page.getByText('lines 1–60 of 60').waitFor()
    await page.getByText('const tea23 = 23').waitFor()
    expect(await page.getByText('const tea30 = 30').count()).toBe(0)
    await page.getByRole('button', { name: 'Show 36 more lines' }).click()
    await page.getByText('const tea59 = 59').waitFor()

    await unfold(/^Find files/)
    await page
      .getByRole('listitem')
      .filter({ hasText: 'src' })
      .getByRole('link', { name: 'cup.ts' })
      .waitFor()

    await unfold(/^Read file.*sales\.csv/)
    const prices = () => page.getByRole('cell').filter({ hasText: /^\d/ }).allTextContents()
    await page.getByRole('columnheader', { name: 'price' }).getByRole('button').click()
    await page
      .getByRole('columnheader', { name: 'price' })
      .and(page.locator('[aria-sort=ascending]'))
      .waitFor()
    expect(await prices()).toEqual(['2', '9.5', '10'])
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).click()
    expect((await download).suggestedFilename()).toBe('sales.csv')

    await unfold(/^Get weather/)
    await page.getByText('3°C').first().waitFor()
    await page.getByText('Partly cloudy').first().waitFor()
    await unfold(/^Calculate/)
    await page.getByText('6 * 7 =').waitFor()
    await unfold(/^Get time/)
    await page.getByRole('term').getByText('Timezone').waitFor()
    await page.getByRole('definition').getByText('Asia/Tokyo').waitFor()

    await unfold(/^Run command/)
    await page.getByText('exit code 3').last().waitFor()
    await page.getByRole('log', { name: 'Error output' }).getByText('broken').waitFor()
    await page
      .getByRole('log', { name: 'Output', exact: true })
      .locator('.ansi-1')
      .getByText('red')
      .waitFor()
    await page.getByRole('button', { name: 'Raw data' }).last().click()
    await page.getByText('"exit_code": 3').waitFor()
    await expectAccessible(page)
    await expectNoScrolling(page)
    await leave(page)

    const phone = await visitor.open(address, { phone: true, language: 'zh-CN', theme: 'dark' })
    for (const name of [/^7 个步骤/, /^读取文件.*sales/, /^搜索网页/, /^执行命令/, /^查询天气/]) {
      await phone.getByRole('button', { name, expanded: false }).click()
    }
    await phone.getByRole('button', { name: '下载 CSV' }).waitFor()
    await phone.getByText('体感温度').waitFor()
    await expectAccessible(phone)
    await expectNoScrolling(phone)
    await leave(phone)
  })
})
