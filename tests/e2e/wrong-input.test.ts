// What the page says about wrong input: at the field if the browser can tell, otherwise in the user's language.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeInBrowser, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

/** What the browser says about the focused field. */
const complaint = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement.validationMessage ?? ""')

describeInBrowser('wrong input', (visitor) => {
  const host = usePageServer(visitor)

  test('a provider without an API, or without a list of models, is explained in Chinese', async () => {
    const page = await visitor.open(`${host.server.url}/setup`, { language: 'zh-CN' })
    const address = page.getByLabel('网址', { exact: true })
    const next = page.getByRole('button', { name: '测试并继续' })
    await address.fill('ftp://example.org')
    await next.click()
    expect(await complaint(page)).not.toBe('')
    await address.fill(host.upstream.url)
    host.upstream.program(() => turn.html())
    await next.click()
    await page.getByRole('alert').getByText('这个网址没有兼容 OpenAI 的 API').waitFor()
    host.upstream.reset()
    host.upstream.models = []
    await next.click()
    await page.getByText('提供商没有列出任何模型').waitFor()
    await leave(page)
  })

  test('a file that is no export is refused, and not also called one with nothing new', async () => {
    const page = await visitor.open(`${host.server.url}/settings/data`)
    await page.locator('input[type=file]').setInputFiles({
      name: 'conversations.json',
      mimeType: 'application/json',
      buffer: Buffer.from('[]'),
    })
    await page.getByText('Importing conversations.json failed:').waitFor()
    expect(await page.getByText('nothing new').count()).toBe(0)
    await leave(page)
  })

  test('a channel that the server cannot serve is refused in Chinese; a wrong address is not sent at all', async () => {
    const page = await visitor.open(`${host.server.url}/settings/channels`, { language: 'zh-CN' })
    await page.getByRole('button', { name: '添加渠道' }).click()
    const dialog = page.getByRole('dialog')
    const add = dialog.getByRole('button', { name: '添加渠道' })
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.postData() ?? '')
    })
    await dialog.getByText('Webhook', { exact: true }).click()
    await dialog.getByLabel('名称').fill('team')
    await dialog.getByLabel('网址').fill('ftp://example.org')
    await add.click()
    expect(await complaint(page)).not.toBe('')
    await dialog.getByText('Telegram', { exact: true }).click()
    await dialog.getByLabel('机器人令牌').fill('secret')
    await dialog.getByRole('textbox', { name: '聊天 ID' }).fill('@news')
    await add.click()
    expect(await complaint(page)).not.toBe('')
    await dialog.getByText('邮件', { exact: true }).click()
    await dialog.getByLabel('收件人').fill('kim@example')
    await add.click()
    expect(await complaint(page)).not.toBe('')
    expect(sent).toEqual([])
    await dialog.getByLabel('收件人').fill('kim@example.org, lee@example.org')
    await add.click()
    await dialog.getByRole('alert').getByText('此服务器无法发送邮件').waitFor()
    expect(sent.map((body) => JSON.parse(body).settings)).toEqual([
      { to: ['kim@example.org', 'lee@example.org'] },
    ])
    await leave(page)
  })
})
