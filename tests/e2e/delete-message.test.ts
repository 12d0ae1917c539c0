// Deleting a message: the dialog says how many messages are deleted, and Undo restores all of them, in both languages.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, leave, say } from '../support/page.ts'
import { scripted } from '../support/scripted.ts'
import { type TestServer, useServers } from '../support/server.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { turn } from '../support/upstream-turns.ts'

const languages = [
  {
    language: 'en-US',
    remove: 'Delete',
    count: '4 messages will be deleted: this one and everything after it.',
    cancel: 'Cancel',
    deleted: '4 messages deleted',
    undo: 'Undo',
  },
  {
    language: 'zh-CN',
    remove: '删除',
    count: '将删除 4 条消息：这一条及其后的所有内容。',
    cancel: '取消',
    deleted: '已删除 4 条消息',
    undo: '撤销',
  },
] as const

describeInBrowser('deleting a message', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({ config: scripted(upstream), webRoot: visitor.webRoot() })
  })
  afterAll(() => upstream.close())

  test.each(languages)(
    'the confirmation says in $language how many messages are deleted, and Undo restores them',
    async (texts) => {
      const page = await visitor.open(server.url, { language: texts.language })
      for (const number of ['one', 'two']) {
        upstream.enqueue(turn.text(`Answer ${number}.`))
        await say(page, `Question ${number}?`)
        await page.getByText(`Answer ${number}.`).waitFor()
      }
      const remove = page
        .locator('article')
        .first()
        .getByRole('button', { name: texts.remove, exact: true })
      await remove.click()
      const dialog = page.getByRole('alertdialog')
      await dialog.getByText(texts.count).waitFor()
      await dialog.getByRole('button', { name: texts.cancel }).click()
      await dialog.waitFor({ state: 'detached' })
      await expect.poll(() => page.getByText('Answer two.').count()).toBe(1)

      await remove.click()
      await dialog.getByText(texts.count).waitFor()
      await dialog.getByRole('button', { name: texts.remove }).click()
      await page.getByText(texts.deleted).waitFor()
      await page.getByText('Answer two.').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: texts.undo, exact: true }).click()
      for (const text of ['Question one?', 'Answer one.', 'Question two?', 'Answer two.'])
        await page.locator('article').getByText(text).waitFor()
      await leave(page)
    },
  )
})
