// Settings → Channels: each kind of channel is connected in a guided form, with a test, and then says who may write.
import { expect, test } from 'vitest'
import { startMailServer } from '../server/messaging/receivers.ts'
import { startMailbox } from '../support/messengers/imap-server.ts'
import { SLACK_TOKENS, startSlack } from '../support/messengers/slack-api.ts'
import { startBotApi, TELEGRAM_TOKEN } from '../support/messengers/telegram-api.ts'
import {
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
} from '../support/page/page.ts'
import { startBridge } from '../support/server/bridge.ts'
import { useServers } from '../support/server/server.ts'

describeInBrowser('connecting a channel', (visitor) => {
  const { start } = useServers()
  const open = (config: Record<string, unknown>) =>
    start({
      config: { titles: 'off', network: { allow_private: ['127.0.0.1'] }, ...config },
      webRoot: visitor.webRoot(),
    })

  test('a Telegram bot is tested, added, and answers whoever has the code, all with the keyboard and on a phone', async () => {
    const api = await startBotApi()
    const server = await open({ telegram: { api_url: api.url } })
    const page = await visitor.open(`${server.url}/settings/channels`, {
      phone: true,
      theme: 'dark',
    })
    const add = page.getByRole('button', { name: 'Add channel' })
    await add.focus()
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'Add channel' })
    await form.getByText('write /newbot to @BotFather', { exact: false }).waitFor()
    expect(await form.getByRole('link', { name: 'Open @BotFather' }).getAttribute('href')).toBe(
      'https://t.me/BotFather',
    )
    await expectAccessible(page)
    await expectNoScrolling(page)
    await form.getByLabel('Bot token').fill(TELEGRAM_TOKEN)
    api.refusals.set('getMe', 401)
    const test = form.getByRole('button', { name: 'Test' })
    await test.focus()
    await page.keyboard.press('Enter')
    await form
      .getByRole('alert')
      .getByText('the service refuses the bot; check its token', { exact: false })
      .waitFor()
    api.refusals.clear()
    await page.keyboard.press('Enter')
    await form.getByRole('status').getByText('It works: @nano_bot').waitFor()
    await form.getByLabel('Bot token').press('Enter')
    const done = page.getByRole('dialog', { name: 'telegram is added' })
    await done.getByText('It works: @nano_bot').waitFor()
    expect(await done.getByRole('link', { name: 'Write to @nano_bot' }).getAttribute('href')).toBe(
      'https://t.me/nano_bot',
    )
    await done.getByText('Receives messages').waitFor()
    await done.getByText('Nobody has written yet.', { exact: false }).waitFor()
    await expectAccessible(page)
    await expectNoScrolling(page)
    // Whoever writes is listed at once, without what they wrote.
    api.updates.push({
      update_id: 5,
      message: {
        message_id: 5,
        from: { id: 77, is_bot: false, first_name: 'Ann' },
        chat: { id: 77, type: 'private' },
        text: 'a secret',
      },
    })
    await done.getByText('Has a code, not entered yet').waitFor()
    const code = /[A-HJ-NP-Z2-9]{8}/.exec(String(api.of('sendMessage')[0]?.body.text))?.[0] ?? ''
    await done.getByLabel('Code').fill(code)
    await page.keyboard.press('Enter')
    await done.getByText('May write').waitFor()
    expect(await page.content()).not.toContain(TELEGRAM_TOKEN)
    await page.keyboard.press('Escape')
    await done.waitFor({ state: 'detached' })
    await page.getByText('Telegram', { exact: true }).waitFor()
    await leave(page)
  })

  test('a Slack app says where its tokens come from, and is listed as what it is', async () => {
    const slack = await startSlack()
    const server = await open({ slack: { api_url: slack.url } })
    const page = await visitor.open(`${server.url}/settings/channels`, { language: 'de-DE' })
    await page.getByRole('button', { name: 'Kanal hinzufügen' }).click()
    const form = page.getByRole('dialog', { name: 'Kanal hinzufügen' })
    await form.getByText('Slack', { exact: true }).click()
    await form.getByText('connections:write', { exact: false }).waitFor()
    const link = new URL(
      (await form.getByRole('link', { name: 'App bei Slack anlegen' }).getAttribute('href')) ?? '',
    )
    const manifest = JSON.parse(link.searchParams.get('manifest_json') ?? '')
    expect(manifest.settings.socket_mode_enabled).toBe(true)
    await form.getByLabel('App-Token').fill(SLACK_TOKENS.app_token)
    await form.getByLabel('Bot-Token').fill(SLACK_TOKENS.bot_token)
    slack.refusals.set('apps.connections.open', 'missing_scope')
    await form.getByRole('button', { name: 'Testen' }).click()
    await form
      .getByRole('alert')
      .getByText('Slack weist das App-Token ab', { exact: false })
      .waitFor()
    slack.refusals.clear()
    await form.getByRole('button', { name: 'Testen' }).click()
    await form.getByText('Funktioniert: @nano (Acme)').waitFor()
    await expectAccessible(page)
    await form.getByRole('button', { name: 'Kanal hinzufügen' }).click()
    const done = page.getByRole('dialog', { name: 'slack ist hinzugefügt' })
    await done.getByText('Empfängt Nachrichten').waitFor()
    await done.getByRole('button', { name: 'Schließen' }).first().click()
    await page.getByRole('listitem').getByText('Slack', { exact: true }).waitFor()
    await leave(page)
    await slack.close()
  })

  test('a mailbox that the agent reads is tested, and the channel shows the address to write to', async () => {
    const box = await startMailbox()
    const post = await startMailServer()
    const server = await open({ smtp: post.smtp })
    const page = await visitor.open(`${server.url}/settings/channels`)
    await page.getByRole('button', { name: 'Add channel' }).click()
    const form = page.getByRole('dialog', { name: 'Add channel' })
    await form.getByText('Email', { exact: true }).click()
    await form.getByLabel('Send to').waitFor()
    await form.getByRole('switch', { name: 'Mail from people goes to the agent' }).click()
    await form.getByLabel('Email address of the mailbox').fill('agent@example.org')
    await form.getByLabel('IMAP server').fill(box.imap.host)
    await form.getByLabel('Port').fill(String(box.imap.port))
    await form.getByLabel('Encryption').selectOption('none')
    await form.getByLabel('User name').fill(box.imap.user)
    await form.getByRole('textbox', { name: 'Password' }).fill(box.imap.password)
    await form.getByRole('button', { name: 'Test' }).click()
    await form.getByText('It works: agent@example.org').waitFor()
    await expectAccessible(page)
    await form.getByRole('button', { name: 'Add channel' }).click()
    const done = page.getByRole('dialog', { name: 'email is added' })
    const address = await done.getByLabel('People write to').inputValue()
    expect(address).toMatch(/^agent\+[0-9a-f]{20}@example\.org$/)
    await done.getByText('Receives messages').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText(address).waitFor()
    expect(await page.content()).not.toContain('box-secret')
    await leave(page)
    await box.close()
  })

  test('a bridge shows its token once, and where its program hands over messages', async () => {
    const bridge = await startBridge()
    const server = await open({})
    const page = await visitor.open(`${server.url}/settings/channels`, { language: 'zh-CN' })
    await page.getByRole('button', { name: '添加渠道' }).click()
    const form = page.getByRole('dialog', { name: '添加渠道' })
    await form.getByText('桥接', { exact: true }).click()
    await form.getByLabel('程序的网址').fill(bridge.url)
    await form.getByRole('button', { name: '测试' }).click()
    await form.getByText('测试消息已被接收。').waitFor()
    expect(bridge.sent).toMatchObject([
      { type: 'message', chat_id: null, text: '这是来自 NanoClaw 的测试。' },
    ])
    await form.getByRole('button', { name: '添加渠道' }).click()
    const done = page.getByRole('dialog', { name: '已添加 bridge' })
    const token = await done.getByLabel('令牌，仅此时显示').inputValue()
    const incoming = await done.getByLabel('程序转交消息的网址').inputValue()
    await expectAccessible(page)
    const given = await fetch(incoming, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'm1', chat_id: 'c1', sender: { id: 'ann' }, text: 'hello' }),
    })
    expect(given.status).toBe(202)
    await done.getByText('代码尚未输入').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: '测试' }).click()
    await page.getByText('测试消息已被接收。').waitFor()
    await leave(page)
  })
})
