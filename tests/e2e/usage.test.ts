// The usage of an answer in the page: tokens, those from the provider's cache separately, and the cost.
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  say,
} from '../support/page/page.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const usage = {
  prompt_tokens: 40_000,
  completion_tokens: 1_500,
  total_tokens: 41_500,
  prompt_tokens_details: { cached_tokens: 30_000 },
}

describeInBrowser('usage', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    const price = { input: 2, output: 10, cached_input: 0.2, currency: 'USD' }
    server = await servers.start({
      config: {
        models: [{ id: 'scripted', api_url: upstream.url, price }],
        titles: 'first_message',
      },
      webRoot: visitor.webRoot(),
    })
  })
  afterAll(() => upstream.close())

  test('an answer shows its cached input and its cost in its menu, and below it if that is wanted', async () => {
    upstream.enqueue(turn.text('Hello there.', { usage }))
    const page = await visitor.open(server.url)
    await say(page, 'Hi')
    // 10,000 × 2 + 30,000 × 0.2 + 1,500 × 10, per million.
    const figures = page.getByText(/1,500 tokens · 40,000 in, 30,000 \(75%\) cached · \$0\.04/)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menu').and(page.locator(':has-text("1,500 tokens")')).waitFor()
    await page.keyboard.press('Escape')
    await page.evaluate(`localStorage.setItem('nanoclaw.display', '{"figures":"below"}')`)
    await page.reload()
    await figures.waitFor()
    await expectAccessible(page)
    await leave(page)
  })

  test('the bars of the usage page are as high as their figures say, and the most used model comes first', async () => {
    const tokens = (total: number) => ({
      prompt_tokens: total,
      completion_tokens: 0,
      total_tokens: total,
      cached_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
      prompt: total,
      completion: 0,
      total,
    })
    const day = (back: number) =>
      new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10)
    const stats = {
      ...tokens(190_000),
      period: 'weekly',
      cost: {},
      by_model: {
        alpha: { ...tokens(40_000), cost: {} },
        omega: { ...tokens(150_000), cost: {} },
      },
      daily: { [day(1)]: tokens(90_000), [day(0)]: tokens(100_000) },
    }
    const page = await visitor.open(server.url)
    await page.route(/\/api\/stats\/tokens/, (route) =>
      route.fulfill({ json: { code: 0, data: stats } }),
    )
    await page.goto(`${server.url}/stats`)
    await page.getByRole('rowheader').nth(0).getByText('omega').waitFor()
    const heightOf = async (figure: string): Promise<number> =>
      (await page.locator('figure').getByText(figure, { exact: true }).locator('..').boundingBox())
        ?.height ?? 0
    await expect
      .poll(async () => (await heightOf('90K')) / (await heightOf('100K')))
      .toBeCloseTo(0.9, 2)
    await expectAccessible(page)
    await leave(page)
  })

  test('the usage page shows the share of cached input, in Chinese and on a phone too', async () => {
    const page = await visitor.open(`${server.url}/stats`)
    await page.getByText('30,000 from the cache (75%)').first().waitFor()
    // The latest runs lead to the answer and to the inspector.
    const runs = page.getByRole('list', { name: 'Recent answers' })
    await runs.getByText(/41,500 tokens · \$0\.04/).waitFor()
    await runs.getByRole('link', { name: 'Hi' }).waitFor()
    await runs.getByRole('button', { name: 'Answer details' }).click()
    const inspector = page.getByRole('dialog', { name: 'Answer details' })
    await inspector.getByText('1 model call').waitFor()
    await page.keyboard.press('Escape')
    await inspector.waitFor({ state: 'detached' })
    await expectAccessible(page)
    await leave(page)
    const phone = await visitor.open(`${server.url}/stats`, {
      language: 'zh-CN',
      phone: true,
      theme: 'dark',
    })
    await phone.getByText('缓存命中 30,000（75%）').first().waitFor()
    await expectNoScrolling(phone)
    await expectAccessible(phone)
    await leave(phone)
  })
})
