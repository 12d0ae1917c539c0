// Sharing a conversation in the browser: from its menu to the page behind the link, in both languages.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, leave, say } from '../support/page.ts'
import { scripted } from '../support/scripted.ts'
import { type TestServer, useServers } from '../support/server.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { turn } from '../support/upstream-turns.ts'

const languages = [
  {
    language: 'en-US',
    actions: /^Actions for/,
    share: 'Share',
    create: 'Create link',
    link: 'Link',
    revoke: 'Revoke link',
  },
  {
    language: 'zh-CN',
    actions: /的操作$/,
    share: '分享',
    create: '创建链接',
    link: '链接',
    revoke: '撤销链接',
  },
] as const

describeInBrowser('sharing a conversation', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({ config: scripted(upstream), webRoot: visitor.webRoot() })
  })
  afterAll(() => upstream.close())

  test.each(languages)(
    'creates a link in $language that shows the copy, until it is revoked',
    async (texts) => {
      const page = await visitor.open(server.url, { language: texts.language })
      upstream.enqueue(turn.text('The **shared** answer.'))
      await say(page, `A question in ${texts.language}?`)
      await page.getByText('answer.').first().waitFor()
      await page.getByRole('button', { name: texts.actions }).first().click()
      await page.getByRole('menuitem', { name: texts.share, exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: texts.create }).click()
      const url = await dialog.getByLabel(texts.link, { exact: true }).inputValue()
      const html = await (await fetch(url)).text()
      expect(html).toContain('<strong>shared</strong>')
      await dialog.getByRole('button', { name: texts.revoke }).click()
      await dialog.getByRole('button', { name: texts.create }).waitFor()
      expect((await fetch(url)).status).toBe(404)
      await leave(page)
    },
  )
})
