// Deleting, restoring and archiving conversations in the sidebar, one at a time and several at once.
import { expect, test } from 'vitest'
import { describeInBrowser, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'

describeInBrowser('the trash in the sidebar', (visitor) => {
  const host = usePageServer(visitor)

  test('a conversation goes to the trash, is restored from it, and is deleted only after a confirmation', async () => {
    for (const title of ['Pelican', 'Egret', 'Heron'])
      await host.server.call('POST', '/api/conversations', { body: { title } })
    const page = await visitor.open(host.server.url)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const link = (name: string) => page.getByRole('link', { name, exact: true })
    const show = async (name: string) => {
      await button('Show and select').click()
      await page.getByRole('menuitemradio', { name, exact: true }).click()
    }
    const remove = async () => {
      await link('Heron').hover()
      await button('Actions for “Heron”').click()
      await page.getByRole('menuitem', { name: 'Delete', exact: true }).click()
      await link('Heron').waitFor({ state: 'detached' })
    }
    await link('Heron').first().waitFor()

    await remove()
    await page.getByText('Conversation moved to the trash').waitFor()
    await button('Undo').click()
    await link('Heron').waitFor()

    await remove()
    await show('Trash')
    await button('Restore “Heron”').click()
    await button('Restore “Heron”').waitFor({ state: 'detached' })
    await show('Conversations')
    await link('Heron').waitFor()

    await remove()
    await show('Trash')
    await button('Delete “Heron” permanently').click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete permanently' }).click()
    await button('Delete “Heron” permanently').waitFor({ state: 'detached' })

    await show('Conversations')
    await button('Show and select').click()
    await page.getByRole('menuitem', { name: 'Select several…' }).click()
    for (const title of ['Pelican', 'Egret']) await page.getByLabel(title).check()
    await page.getByRole('toolbar').getByRole('button', { name: 'Archive' }).click()
    await page.getByText('2 conversations archived').waitFor()
    await link('Egret').waitFor({ state: 'detached' })
    await button('Undo').last().click()
    for (const title of ['Pelican', 'Egret']) await link(title).waitFor()

    await expect
      .poll(async () => (await host.server.call('GET', '/api/conversations?trashed=true')).json)
      .toMatchObject({ data: { items: [] } })
    await leave(page)
  })
})
