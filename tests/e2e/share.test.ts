// Sharing a conversation in the browser: from its menu to the page behind the link, in both languages.
import { expect, test } from 'vitest'
import { describeInBrowser, leave, say } from '../support/page.ts'
import { usePageServer } from '../support/page-server.ts'
import { turn } from '../support/upstream-turns.ts'

const languages = [
  {
    language: 'en-US',
    actions: /^Actions for/,
    share: 'Share',
    create: 'Create link',
    link: 'Link',
    revoke: 'Revoke link',
    onward: 'Continue in NanoClaw',
    goOn: 'Continue',
  },
  {
    language: 'zh-CN',
    actions: /的操作$/,
    share: '分享',
    create: '创建链接',
    link: '链接',
    revoke: '撤销链接',
    onward: '在 NanoClaw 中继续',
    goOn: '继续',
  },
] as const

describeInBrowser('sharing a conversation', (visitor) => {
  const host = usePageServer(visitor)

  test.each(languages)(
    'a link created in $language shows the copy until it is revoked',
    async (texts) => {
      const page = await visitor.open(host.server.url, { language: texts.language })
      host.upstream.enqueue(turn.text('The **shared** answer.'))
      await say(page, `A question in ${texts.language}?`)
      await page.getByText('answer.').first().waitFor()
      await page.getByRole('button', { name: texts.actions }).first().click()
      await page.getByRole('menuitem', { name: texts.share, exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: texts.create }).click()
      const url = await dialog.getByLabel(texts.link, { exact: true }).inputValue()
      const html = await (await fetch(url)).text()
      expect(html).toContain('<strong>shared</strong>')
      const reader = await page.context().newPage()
      await reader.goto(url)
      await reader.getByRole('link', { name: texts.onward }).click()
      await reader.getByRole('button', { name: texts.goOn, exact: true }).click()
      await reader.waitForURL(/\/c\//)
      await reader.getByText('The shared answer.').waitFor()
      await reader.close()
      await dialog.getByRole('button', { name: texts.revoke }).click()
      await dialog.getByRole('button', { name: texts.create }).waitFor()
      expect((await fetch(url)).status).toBe(404)
      await leave(page)
    },
  )
})
