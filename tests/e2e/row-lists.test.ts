// Lists of the settings by keyboard alone: adding in a dialog, and the focus when rows are removed.
import { expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'

describeInBrowser('lists of the settings', (visitor) => {
  const on = usePageServer(visitor)

  test('when a row is removed, the focus moves to the next row, else to the previous one, else to the section', async () => {
    await on.server.call('PATCH', '/api/preferences', {
      body: {
        saved_prompts: ['one', 'two', 'three'].map((name) => ({ name, text: `Text ${name}` })),
      },
    })
    const page = await visitor.open(`${on.server.url}/settings/agent`)
    const deletes = (name: string) => page.getByRole('button', { name: `Delete “${name}”` })
    const expectFocus = (target: ReturnType<typeof deletes>) =>
      target.and(page.locator(':focus')).waitFor()
    await deletes('two').focus()
    await page.keyboard.press('Enter')
    await deletes('two').waitFor({ state: 'detached' })
    await expectFocus(deletes('three'))
    await page.keyboard.press('Enter')
    await deletes('three').waitFor({ state: 'detached' })
    await expectFocus(deletes('one'))
    await page.keyboard.press('Enter')
    await page.getByText('No saved prompts yet').waitFor()
    await expectFocus(page.getByRole('button', { name: 'Save a prompt' }))
    await expectAccessible(page)
    await leave(page)
  })

  test('a webhook is added in a dialog that shows its secret once and then returns the focus', async () => {
    const page = await visitor.open(`${on.server.url}/settings/channels`)
    const add = page.getByRole('button', { name: 'Add webhook' })
    await add.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Add webhook' })
    await dialog.getByLabel('Address').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('https://events.example.org/in')
    await page.keyboard.press('Enter')
    const secret = dialog.getByLabel(/secret/i)
    await secret.and(page.locator(':focus')).waitFor()
    expect(await secret.inputValue()).not.toBe('')
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await add.and(page.locator(':focus')).waitFor()
    await page.getByText('https://events.example.org/in').waitFor()
    await leave(page)
  })
})
