// Settings → Channels: who may write through a messenger is decided on the page.
import { expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { startBridge } from '../support/server/bridge.ts'

describeInBrowser('people of a channel', (visitor) => {
  const on = usePageServer(visitor, { network: { allow_private: ['127.0.0.1'] } })

  test('whoever has the code that is entered on the page may write, until they are blocked or forgotten', async () => {
    const bridge = await startBridge()
    const channel = (
      await on.server.call('POST', '/api/channels', {
        body: { type: 'bridge', name: 'phone', settings: { url: bridge.url }, receive: {} },
      })
    ).json.data
    const write = (id: string) =>
      bridge.give(
        channel,
        { id, chat_id: 'c1', sender: { id: 'ann', name: 'Ann' }, text: 'hello' },
        on.server,
      )
    expect((await write('m1')).data.accepted).toBe(false)
    await expect.poll(() => bridge.texts('c1')).toHaveLength(1)
    const code = /[A-HJ-NP-Z2-9]{8}/.exec(bridge.texts('c1')[0] ?? '')?.[0] ?? ''

    const page = await visitor.open(`${on.server.url}/settings/channels`)
    await page.getByRole('button', { name: 'Enter a code' }).click()
    const form = page.getByRole('dialog', { name: 'Enter a code' })
    const enter = async (text: string) => {
      await form.getByLabel('Code').fill(text)
      await form.getByRole('button', { name: 'Enter a code' }).click()
    }
    await enter('AAAAAAAA')
    await form.getByText('This code is wrong, used or too old.').waitFor()
    await enter(code)
    await page.getByText('Ann can now write through phone.').waitFor()
    expect((await write('m2')).data.accepted).toBe(true)

    await page.getByRole('button', { name: 'People of phone' }).click()
    const people = page.getByRole('dialog', { name: 'People of phone' })
    await people.getByText('May write').waitFor()
    await expectAccessible(page)
    await people.getByRole('button', { name: 'Block' }).click()
    await people.getByText('Blocked').waitFor()
    expect((await write('m3')).data.accepted).toBe(false)
    await people.getByRole('button', { name: 'Forget' }).click()
    await people.getByText('Nobody has written yet.', { exact: false }).waitFor()
    await leave(page)
  })

  test('the owner lets a stranger in without a code, and sees before who that is', async () => {
    const bridge = await startBridge()
    const channel = (
      await on.server.call('POST', '/api/channels', {
        body: { type: 'bridge', name: 'tablet', settings: { url: bridge.url }, receive: {} },
      })
    ).json.data
    const write = (id: string) =>
      bridge.give(
        channel,
        { id, chat_id: 'c1', sender: { id: 'eve-77', name: 'Eve' }, text: 'hello' },
        on.server,
      )
    expect((await write('m1')).data.accepted).toBe(false)
    const page = await visitor.open(`${on.server.url}/settings/channels`)
    await page.getByRole('button', { name: 'People of tablet' }).click()
    const people = page.getByRole('dialog', { name: 'People of tablet' })
    await page.setViewportSize({ width: 390, height: 844 })
    const state = people.getByRole('listitem').filter({ hasText: 'Eve' }).locator('p').nth(1)
    const isWhole = () =>
      state.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)
    // On a phone, what is known of them is not cut.
    await expect.poll(isWhole).toBe(true)
    await people.getByRole('button', { name: 'Let in' }).click()
    const question = page.getByRole('alertdialog', { name: 'Let Eve in?' })
    await question.getByText('eve-77', { exact: false }).waitFor()
    await question.getByRole('button', { name: 'Let in' }).click()
    await people.getByText('May write').waitFor()
    expect((await write('m2')).data.accepted).toBe(true)
    const audit = (await on.server.call('GET', '/api/admin/audit?action=sender_allowed')).json.data
    expect(audit.items[0].details).toMatchObject({ sender: 'eve-77', name: 'Eve', by: 'owner' })
    await leave(page)
  })

  test('a channel is changed on the page: its name and what its runs begin with, while its secrets stay', async () => {
    const bridge = await startBridge()
    const made = (
      await on.server.call('POST', '/api/channels', {
        body: { type: 'bridge', name: 'radio', settings: { url: bridge.url }, receive: {} },
      })
    ).json.data
    const current = async () =>
      (await on.server.call('GET', '/api/channels')).json.data.items.find(
        ({ id }: { id: string }) => id === made.id,
      )
    const page = await visitor.open(`${on.server.url}/settings/channels`)
    const edit = async (name: string) => {
      await page.getByRole('button', { name: `Edit ${name}` }).click()
      return page.getByRole('dialog', { name: `Edit ${name}` })
    }
    let form = await edit('radio')
    await form.getByLabel('Name').fill('radio-2')
    await form.getByText('More settings').click()
    await form.getByLabel('In groups').selectOption('mention')
    await expectAccessible(page)
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('radio-2 saved.').waitFor()
    expect(await current()).toMatchObject({ name: 'radio-2', receive: { groups: 'mention' } })
    const hello = { id: 'm1', chat_id: 'c1', sender: { id: 'ann', name: 'Ann' }, text: 'hello' }
    // The address that the page does not show whole is still there.
    await bridge.give(made, hello, on.server)
    await expect.poll(() => bridge.texts('c1')).toHaveLength(1)
    form = await edit('radio-2')
    await form.getByLabel('Messages to the bot go to the agent').click()
    await form.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await current()).receive).toBe(null)
    await leave(page)
  })
})
