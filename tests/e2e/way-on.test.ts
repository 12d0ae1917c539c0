// When something blocks the user, the page says what it is, in the user's language, and what can be done about it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  leave,
  REMOTE_HOST,
  say,
} from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

describeInBrowser('recovering from errors', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    const config = scripted(upstream)
    const other = {
      id: 'other',
      name: 'Another one',
      api_url: upstream.url,
      api_key: 'other-key',
      tool_mode: 'none',
    }
    server = await servers.start({
      config: {
        ...config,
        models: [...(config.models as object[]), other],
        trusted_hosts: [REMOTE_HOST],
        tools: { risk: { calculator: 'high' } },
      },
      webRoot: visitor.webRoot(),
    })
  })
  afterAll(() => upstream.close())

  test('on a phone, a refused key is explained in Chinese, and another model can answer', async () => {
    upstream.enqueue(turn.error(401, 'bad key'))
    const page = await visitor.open(server.url, { phone: true, remote: true, language: 'zh-CN' })
    await say(page, '你好')
    const alert = page.getByRole('article', { name: '回答' }).getByRole('alert')
    const text = alert.getByText('提供商拒绝了“Scripted”的 API 密钥（401）')
    await text.waitFor()
    await expect.poll(async () => (await text.boundingBox())?.width).toBeGreaterThan(220)
    await page.reload()
    await text.waitFor()
    await expect
      .poll(() => alert.getByRole('link', { name: '模型设置' }).getAttribute('href'))
      .toBe('/settings/models')
    upstream.enqueueFor({ model: 'other' }, turn.text('换了一个模型。'))
    await alert.getByRole('button', { name: '换一个模型' }).click()
    await page.getByRole('menuitemradio', { name: 'Another one' }).click()
    await page.getByText('换了一个模型。').waitFor()
    await leave(page)
  })

  test('the address of a project that is gone says so and leads to the other projects', async () => {
    const page = await visitor.open(`${server.url}/projects/00000000-0000-7000-8000-000000000000`)
    await page.getByRole('heading', { name: 'Project not found', level: 1 }).waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'All projects' }).click()
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()
    await leave(page)
  })

  test('a failed attempt is explained while the retry is pending, also on a page opened later', async () => {
    upstream.enqueue(turn.error(429, 'slow down', { 'retry-after': '45' }))
    const page = await visitor.open(server.url)
    await say(page, 'Are you busy?')
    await page.getByText(/is rate-limiting requests .* Retrying in \d+ seconds/).waitFor()
    await page.reload()
    await page.getByText(/is rate-limiting requests .* Retrying in \d+ seconds/).waitFor()
    // Beside the reason, and in the composer.
    await page.getByRole('article').getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped.').waitFor()
    await leave(page)
  })

  test('the keys of an approval request do only what they say, and Escape cancels one thing at a time', async () => {
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '1 + 1' } }]),
      turn.text('I was told.'),
    )
    const page = await visitor.open(server.url)
    await say(page, 'Add one and one.')
    const approve = page.getByRole('button', { name: 'Approve', exact: true })
    await approve.waitFor()
    await page.getByRole('button', { name: 'Change…' }).click()
    await page.keyboard.press('Escape')
    await approve.waitFor()
    await page.keyboard.press('e')
    const fields = page.getByRole('textbox', { name: 'Expression' })
    await expect
      .poll(() => page.evaluate<string>('document.activeElement.getAttribute("class") ?? ""'))
      .toContain('font-mono')
    await expect.poll(() => fields.inputValue()).not.toContain('e{')
    // Also after the field has lost the focus to the page.
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('Escape')
    await approve.waitFor()
    await page.keyboard.press('Escape')
    await approve.waitFor()
    await page.keyboard.press('r')
    const reason = page.getByRole('textbox', { name: 'Why? The agent sees your reason.' })
    await reason.waitFor()
    await expect.poll(() => reason.inputValue()).toBe('')
    await reason.fill('Not today')
    await reason.press('Enter')
    await page.getByText('I was told.').waitFor()
    expect(JSON.stringify(upstream.requests.at(-1)?.messages)).toContain('Not today')
    await leave(page)
  })

  test('a link to a conversation that does not exist says so, and leads to the sidebar and to a new chat', async () => {
    const page = await visitor.open(`${server.url}/c/0198c000-0000-7000-8000-000000000000`, {
      phone: true,
    })
    await page.getByRole('heading', { level: 1, name: 'Conversation not found' }).waitFor()
    await expectAccessible(page)
    const skip = page.getByRole('link', { name: 'Skip to main content' })
    expect(await skip.getAttribute('href')).toBe('#main')
    await page.getByRole('button', { name: 'Show sidebar' }).click()
    await page.getByRole('dialog').getByRole('navigation', { name: 'Conversations' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'New conversation' }).click()
    await composer(page).waitFor()
    await leave(page)
  })

  test('a conversation that could not be loaded is loaded again on request', async () => {
    const { json } = await server.call('POST', '/api/conversations', { body: { title: 'Later' } })
    const page = await visitor.open(server.url)
    await composer(page).waitFor()
    const path = `/api/conversations/${json.data.id}`
    await page.route(`**${path}`, (route) => route.fulfill({ status: 500, body: '{}' }))
    await page.goto(`${server.url}/c/${json.data.id}`)
    await page.getByRole('heading', { level: 1, name: 'Couldn’t load this conversation' }).waitFor()
    await page.unroute(`**${path}`)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { level: 1, name: 'Later' }).waitFor()
    await leave(page)
  })

  test("the thinking switch of a new chat shows the model's setting and can be turned off", async () => {
    const page = await visitor.open(server.url)
    const thinking = page.getByRole('button', { name: 'Think before answering' })
    await expect.poll(() => thinking.getAttribute('aria-pressed')).toBe('true')
    // Where there is room, it says so in words.
    await thinking.getByText('Think', { exact: true }).waitFor()
    await thinking.click()
    await expect.poll(() => thinking.getAttribute('aria-pressed')).toBe('false')
    upstream.enqueue(turn.text('Without much thought.'))
    await composer(page).fill('Quick!')
    await composer(page).press('Enter')
    await page.getByText('Without much thought.').waitFor()
    await expect.poll(() => thinking.getAttribute('aria-pressed')).toBe('false')
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const { json } = await server.call('GET', `/api/conversations/${id}`)
    expect(json.data.thinking_enabled).toBe(false)
    await leave(page)
  })

  test('a provider that lists its models but refuses the key is not offered for use', async () => {
    upstream.program((request) =>
      request.apiKey === 'wrong' && request.path.endsWith('/chat/completions')
        ? turn.error(401, 'bad key')
        : undefined,
    )
    const page = await visitor.open(`${server.url}/setup`)
    await page.getByLabel('Address').fill(upstream.url)
    await page.getByLabel('API key').fill('wrong')
    await page.getByRole('button', { name: 'Test and continue' }).click()
    await page
      .getByRole('alert')
      .getByText('Make sure it’s complete and belongs to this provider')
      .waitFor()
    expect(await page.getByText('Connected.').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Add this model' }).count()).toBe(0)
    await leave(page)
  })
})
