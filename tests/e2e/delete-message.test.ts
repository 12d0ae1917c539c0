// Deleting a message: the dialog says how many messages are deleted, and Undo restores all of them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, leave, say } from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

describeInBrowser('deleting a message', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({ config: scripted(upstream), webRoot: visitor.webRoot() })
  })
  afterAll(() => upstream.close())

  test('the confirmation says how many messages are deleted, and Undo restores them', async () => {
    const page = await visitor.open(server.url)
    for (const number of ['one', 'two']) {
      upstream.enqueue(turn.text(`Answer ${number}.`))
      await say(page, `Question ${number}?`)
      await page.getByText(`Answer ${number}.`).waitFor()
    }
    const remove = page
      .locator('article')
      .first()
      .getByRole('button', { name: 'Delete', exact: true })
    await remove.click()
    const dialog = page.getByRole('alertdialog')
    await dialog
      .getByText('4 messages will be deleted: this one and everything after it.')
      .waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => page.getByText('Answer two.').count()).toBe(1)

    await remove.click()
    await dialog
      .getByText('4 messages will be deleted: this one and everything after it.')
      .waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('4 messages deleted').waitFor()
    await page.getByText('Answer two.').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    for (const text of ['Question one?', 'Answer one.', 'Question two?', 'Answer two.'])
      await page.locator('article').getByText(text).waitFor()
    await leave(page)
  })
})
