// The usage of an answer in the page: tokens, those from the provider's cache separately, and the cost.
import { afterAll, beforeAll, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoSideways,
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

  test('an answer shows its cached input and its cost, also after a reload', async () => {
    upstream.enqueue(turn.text('Hello there.', { usage }))
    const page = await visitor.open(server.url)
    await say(page, 'Hi')
    // 10,000 × 2 + 30,000 × 0.2 + 1,500 × 10, per million.
    const figures = page.getByText(/1,500 tokens · 40K in, 30K \(75%\) cached · \$0\.04/)
    await figures.waitFor()
    await page.reload()
    await figures.waitFor()
    await expectAccessible(page)
    await leave(page)
  })

  test('the usage page shows the share of cached input, in Chinese and on a phone too', async () => {
    const page = await visitor.open(`${server.url}/stats`)
    await page.getByText('30K from the cache (75%)').first().waitFor()
    // The latest runs lead to the answer and to the inspector.
    const runs = page.getByRole('list', { name: 'Recent runs' })
    await runs.getByText(/41\.5K tokens · \$0\.04/).waitFor()
    await runs.getByRole('link', { name: 'Hi' }).waitFor()
    await runs.getByRole('button', { name: 'Inspect run' }).click()
    const inspector = page.getByRole('dialog', { name: 'Run inspector' })
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
    await phone.getByText('缓存命中 3万（75%）').first().waitFor()
    await expectNoSideways(phone)
    await expectAccessible(phone)
    await leave(phone)
  })
})
