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
})
