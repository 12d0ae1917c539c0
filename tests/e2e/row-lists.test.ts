// Lists of the settings: adding in a dialog, removing rows, and where the focus goes.
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

  test('rows that are removed in quick succession stay removed, in the list and on the server', async () => {
    await on.server.call('PATCH', '/api/preferences', {
      body: {
        saved_prompts: ['one', 'two', 'three'].map((name) => ({ name, text: `Text ${name}` })),
      },
    })
    const page = await visitor.open(`${on.server.url}/settings/agent`)
    const requests: (() => void)[] = []
    await page.route('**/api/preferences', async (route) => {
      if (route.request().method() === 'PATCH')
        await new Promise<void>((resolve) => {
          requests.push(resolve)
        })
      await route.continue()
    })
    const deletes = (name: string) => page.getByRole('button', { name: `Delete “${name}”` })
    for (const name of ['two', 'three']) {
      await deletes(name).click()
      await deletes(name).waitFor({ state: 'detached' })
    }
    await expect.poll(() => requests).toHaveLength(1)
    let refetches = 0
    page.on('requestfinished', (request) => {
      if (request.method() === 'GET' && request.url().endsWith('/api/preferences')) refetches += 1
    })
    requests[0]?.()
    // The response to the first change has arrived once the second is sent.
    await expect.poll(() => requests).toHaveLength(2)
    refetches = 0
    // The page refetches what another device changes while the second is being sent.
    await expect
      .poll(async () => {
        await on.server.call('PATCH', '/api/preferences', { body: { model_order: [] } })
        return refetches
      })
      .toBeGreaterThan(0)
    expect(await page.getByRole('list', { name: 'Saved prompts' }).innerText()).not.toMatch('three')
    await deletes('one').click()
    await page.getByText('No saved prompts yet').waitFor()
    requests[1]?.()
    await expect.poll(() => requests).toHaveLength(3)
    requests[2]?.()
    await expect
      .poll(async () => (await on.server.call('GET', '/api/preferences')).json.data.saved_prompts)
      .toEqual([])
    expect(await page.getByText('No saved prompts yet').count()).toBe(1)
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

  test('a button keeps the focus while its own request disables it, and cannot be pressed again meanwhile', async () => {
    const page = await visitor.open(`${on.server.url}/settings/channels`)
    let requests = 0
    let answer = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/api/webhooks/*/test', async (route) => {
      requests += 1
      await answered
      await route.fallback()
    })
    await on.server.call('POST', '/api/webhooks', {
      body: { url: 'https://events.example.org/tested', events: ['run.ended'] },
    })
    await page.reload()
    const testButton = page
      .getByRole('listitem')
      .filter({ hasText: 'https://events.example.org/tested' })
      .getByRole('button', { name: 'Send a test' })
    await testButton.focus()
    await page.keyboard.press('Enter')
    await testButton.and(page.locator('[aria-disabled=true]:focus')).waitFor()
    // As when the window loses the focus: the button remains the active element.
    await testButton.dispatchEvent('focusout')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Space')
    answer()
    await testButton.and(page.locator(':not([aria-disabled]):focus')).waitFor()
    expect(requests).toBe(1)
    await leave(page)
  })

  test('a channel is added, its secret is never shown again, and it is removed after a confirmation', async () => {
    const page = await visitor.open(`${on.server.url}/settings/channels`)
    await page.getByText('No channels yet').waitFor()
    const add = page.getByRole('button', { name: 'Add channel' })
    const form = page.getByRole('dialog', { name: 'Add channel' })
    const submit = form.getByRole('button', { name: 'Add channel' })
    await add.click()
    await form.getByText('Webhook', { exact: true }).click()
    // The form says what a name may contain before the server refuses it.
    const rule = form.getByText('Letters, digits, ., _ and -')
    await rule.waitFor()
    await form.getByLabel('Name', { exact: true }).fill('my team')
    await form.getByLabel('Address').fill('https://hooks.example.org/x')
    await form
      .getByLabel('Name', { exact: true })
      .and(form.locator('[aria-invalid=true]'))
      .waitFor()
    await submit.and(page.locator(':disabled')).waitFor()
    await form.getByLabel('Address').fill('')
    await form.getByLabel('Name', { exact: true }).fill('team')
    await form.locator('[aria-invalid=true]').waitFor({ state: 'detached' })
    // Nothing can be sent while something required is missing.
    await submit.and(page.locator(':disabled')).waitFor()
    await form.getByLabel('Address').fill('https://hooks.example.org/x')
    await form.getByLabel(/^Signing secret/).fill('a-secret-of-mine')
    await submit.click()
    await page.getByText('team added.').waitFor()
    // The path of the URL may be a secret too.
    await page.getByText('Webhook · https://hooks.example.org/…').waitFor()
    expect(await page.content()).not.toContain('a-secret-of-mine')
    await expectAccessible(page)
    // An error from the server is shown next to the form, which keeps the input.
    await add.click()
    await form.getByText('Email', { exact: true }).click()
    await form.getByLabel('Name', { exact: true }).fill('post')
    await form.getByLabel('Send to').fill('somebody@example.org')
    await submit.click()
    await form.getByRole('alert').getByText(/smtp/).waitFor()
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('post')
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove team' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove team' }).click()
    await page.getByText('No channels yet').waitFor()
    // The last row is gone: the keyboard continues at the section, not at the beginning of the page.
    await add.and(page.locator(':focus')).waitFor()
    await leave(page)
  })
})
