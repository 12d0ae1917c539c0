// Deleting, restoring and archiving conversations in the sidebar, one at a time and several at once.
import { expect, test } from 'vitest'
import { describeInBrowser, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'

describeInBrowser('the trash in the sidebar', (visitor) => {
  const host = usePageServer(visitor)

  test('when a conversation leaves the list, the focus goes on to the next one, then to the one before, then to the choice of the view', async () => {
    for (const title of ['Ibis', 'Stork', 'Crane', 'Rail']) {
      const { json } = await host.server.call('POST', '/api/conversations', { body: { title } })
      await host.server.call('DELETE', `/api/conversations/${json.data.id}`)
    }
    const page = await visitor.open(host.server.url)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const expectFocus = (name: string) => button(name).and(page.locator(':focus')).waitFor()
    await button('Show and select').click()
    await page.getByRole('menuitemradio', { name: 'Trash' }).click()
    await button('Restore “Crane”').focus()
    await page.keyboard.press('Enter')
    await expectFocus('Restore “Stork”')
    // One row is in the order of the Tab key, and arrow keys lead to the others.
    await page.keyboard.press('Tab')
    await expectFocus('Delete “Stork” permanently')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('alertdialog')
    await dialog.getByRole('button', { name: 'Delete permanently' }).press('Enter')
    await expectFocus('Delete “Ibis” permanently')
    await page.keyboard.press('ArrowUp')
    await expectFocus('Restore “Rail”')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expectFocus('Restore “Rail”')
    await page.keyboard.press('Enter')
    await expectFocus('Show and select')
    await leave(page)
    for (const { id } of (await host.server.call('GET', '/api/conversations')).json.data.items)
      await host.server.call('DELETE', `/api/conversations/${id}?permanent=true`)
  })

  test('the trash is emptied at once, after a confirmation that says how many conversations go', async () => {
    for (const title of ['Dunlin', 'Plover', 'Avocet']) {
      const { json } = await host.server.call('POST', '/api/conversations', { body: { title } })
      if (title !== 'Avocet') await host.server.call('DELETE', `/api/conversations/${json.data.id}`)
    }
    const trashed = async (): Promise<number> => {
      const { json } = await host.server.call('GET', '/api/conversations?trashed=true')
      return json.data.items.length
    }
    const page = await visitor.open(host.server.url)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await button('Show and select').click()
    await page.getByRole('menuitemradio', { name: 'Trash' }).click()
    await button('Empty trash').click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByText('Delete 2 conversations permanently?').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await trashed()).toBe(2)
    await button('Empty trash').click()
    await dialog.getByRole('button', { name: 'Delete permanently' }).click()
    await button('Empty trash').waitFor({ state: 'detached' })
    await button('Show and select').and(page.locator(':focus')).waitFor()
    await expect.poll(trashed).toBe(0)
    await leave(page)
    const { json } = await host.server.call('GET', '/api/conversations')
    expect(json.data.items.map(({ title }: { title: string }) => title)).toEqual(['Avocet'])
    await host.server.call('DELETE', `/api/conversations/${json.data.items[0].id}?permanent=true`)
  })

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
    // The list says what it shows, and leads back.
    await button('Trash Clear').click()
    await button('Show and select').and(page.locator(':focus')).waitFor()
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
    // The notice about the deletion is still shown, too.
    const archived = page.getByRole('listitem').filter({ hasText: '2 conversations archived' })
    await archived.getByRole('button', { name: 'Undo' }).click()
    for (const title of ['Pelican', 'Egret']) await link(title).waitFor()

    await expect
      .poll(async () => (await host.server.call('GET', '/api/conversations?trashed=true')).json)
      .toMatchObject({ data: { items: [] } })
    await leave(page)
  })
})
