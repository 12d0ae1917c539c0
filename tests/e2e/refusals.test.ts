// What the page says when something is refused: at its field, in the reader's language and time, and only what the reader can do.
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  say,
} from '../support/page/page.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../support/server/server.ts'

describeInBrowser('refusals', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  let admin = ''
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({
      config: {
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'first_message',
      },
      webRoot: visitor.webRoot(),
    })
    const first = await server.call('POST', '/api/auth/register', {
      body: { username: 'root', password: 'correct horse' },
    })
    admin = first.json.data.token
  })
  afterAll(() => upstream.close())

  const register = async (username: string): Promise<string> => {
    const { json } = await server.call('POST', '/api/auth/register', {
      body: { username, password: 'correct horse' },
    })
    return json.data.user.id
  }
  const set = (id: string, body: object) =>
    server.call('PATCH', `/api/admin/users/${id}`, { token: admin, body })

  const signIn = async (username: string, language: 'en-US' | 'zh-CN' = 'en-US', phone = false) => {
    const page = await visitor.open(server.url, { language, phone })
    const [name, password, button] =
      language === 'en-US' ? ['Username', 'Password', 'Sign in'] : ['用户名', '密码', '登录']
    await page.getByLabel(name).fill(username)
    await page.getByLabel(password).fill('correct horse')
    await page.getByRole('button', { name: button, exact: true }).click()
    await composer(page).waitFor()
    return page
  }

  test('a limit warns from 80 % on, stays when it is used up, leads to the usage, and offers nothing that must fail', async () => {
    const id = await register('gil')
    await set(id, { quota: { tokens_per_day: 10_000 } })
    const page = await signIn('gil')
    const usage = { prompt_tokens: 8_000, completion_tokens: 500, total_tokens: 8_500 }
    upstream.enqueue(turn.text('Nearly.', { usage }))
    await say(page, 'How much is left?')
    await page.getByText('Nearly.').waitFor()
    const notice = page.getByRole('status').filter({ hasText: '8,500 of 10,000' })
    await notice.waitFor()
    expect(await notice.innerText()).toContain('Almost used up.')
    await expectAccessible(page)
    upstream.enqueue(turn.text('Over.', { usage }))
    await say(page, 'And now?')
    await page.getByText('Over.').waitFor()
    await page
      .getByRole('status')
      .filter({ hasText: 'of 10,000' })
      .filter({ hasText: 'Used up.' })
      .waitFor()
    await say(page, 'Once more?')
    await page
      .getByText(/limit of 10,000 tokens/)
      .first()
      .waitFor()
    expect(await page.getByRole('button', { name: 'Continue', exact: true }).count()).toBe(0)
    await page.getByRole('status').getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await leave(page)
  })

  test('on a phone, a limit also warns after a first answer that ended before its conversation opened, on full lines', async () => {
    const id = await register('kim')
    await set(id, { quota: { tokens_per_day: 10_000 } })
    const page = await signIn('kim', 'en-US', true)
    // What the page asks for to open the conversation waits until the answer is over.
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/api\/conversations\/[^/?]+\/messages/, async (route) => {
      const response = await route.fetch()
      await released
      await route.fulfill({ response })
    })
    const usage = { prompt_tokens: 8_000, completion_tokens: 500, total_tokens: 8_500 }
    upstream.enqueue(turn.text('Nearly.', { usage }))
    await say(page, 'How much is left?')
    await expect
      .poll(async () => {
        const { json } = await server.call('GET', `/api/admin/users/${id}/quota`, { token: admin })
        return JSON.stringify(json)
      })
      .toContain('8500')
    release()
    await page.getByText('Nearly.').waitFor()
    const notice = page.getByRole('status').filter({ hasText: '8,500 of 10,000 · Almost used up.' })
    await notice.waitFor()
    // Its icon stands beside the text, not on a line of its own.
    const icon = await notice.locator('svg').boundingBox()
    const text = await notice.locator('span').first().boundingBox()
    expect((icon?.x ?? 0) + (icon?.width ?? 0)).toBeLessThanOrEqual(text?.x ?? 0)
    expect(icon?.y).toBeGreaterThanOrEqual(text?.y ?? 0)
    await leave(page)
  })

  test('a field that the server refuses says why in the language of its reader', async () => {
    const page = await visitor.open(server.url, { language: 'zh-CN' })
    await page.getByRole('button', { name: '还没有账号？创建一个' }).click()
    await page.getByLabel('用户名').fill('太 空')
    await page.getByLabel('密码').fill('correct horse')
    // Browsers check the form too, in their own language.
    await page.evaluate("document.querySelector('form').noValidate = true")
    await page.getByRole('button', { name: '创建账号' }).click()
    const field = page.getByLabel('用户名')
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    const text = await page.getByRole('alert').allInnerTexts()
    expect(text).toEqual(['2 到 50 个字母、文字、数字或 _ . @ -'])
    await leave(page)
  })

  test('a guest who wants to continue a shared conversation reads what an account is for', async () => {
    const page = await visitor.open(`${server.url}/continue/some-link`)
    await page
      .getByText(
        'To continue this conversation, you need an account. It keeps a copy that only you see.',
      )
      .waitFor()
    await leave(page)
    const other = await visitor.open(server.url)
    await other.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    expect(await other.getByText('you need an account').count()).toBe(0)
    await leave(other)
  })

  test('an administrator sees the usage of each account and group, and its total', async () => {
    const { json } = await server.call('POST', '/api/auth/register', {
      body: { username: 'uma', password: 'correct horse' },
    })
    const { token } = json.data
    const usage = { prompt_tokens: 2_345, completion_tokens: 10, total_tokens: 2_355 }
    upstream.enqueue(turn.text('Counted.', { usage }))
    const made = await server.call('POST', '/api/conversations', { token, body: {} })
    await server.call('POST', `/api/conversations/${made.json.data.id}/messages`, {
      token,
      body: { text: 'Count.', stream: false },
    })
    const page = await signIn('root')
    await page.goto(`${server.url}/admin/usage`)
    const row = page.getByRole('row', { name: /^uma/ })
    await row.getByText('2,345', { exact: true }).waitFor()
    await row.getByText('2,355', { exact: true }).waitFor()
    await page.getByRole('row', { name: /^Total/ }).waitFor()
    await page.getByLabel('Sum by').getByText('Group', { exact: true }).click()
    await page.getByRole('row', { name: /^Without a group/ }).waitFor()
    await expectAccessible(page)
    await page.setViewportSize({ width: 390, height: 760 })
    await page.getByRole('row', { name: /^Without a group/ }).waitFor()
    await expectNoScrolling(page)
    await leave(page)
  })

  test('whoever is signed out by the server learns why on the sign-in page', async () => {
    const id = await register('hal')
    const page = await signIn('hal')
    await set(id, { is_active: false })
    await page.getByRole('alert').filter({ hasText: 'This account has been disabled' }).waitFor()
    await page.getByLabel('Username').fill('hal')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'disabled' }).waitFor()
    await leave(page)

    await register('ivy')
    const other = await signIn('ivy', 'zh-CN')
    const { json } = await server.call('POST', '/api/auth/login', {
      body: { username: 'ivy', password: 'correct horse' },
    })
    await server.call('DELETE', '/api/auth/sessions', { token: json.data.token })
    await other.getByRole('alert').filter({ hasText: '登录已失效，请重新登录。' }).waitFor()
    await leave(other)
  })

  test('a member reads whom to ask about a key that is refused, and no way to settings that only administrators have', async () => {
    await register('jon')
    const page = await signIn('jon')
    upstream.enqueue(turn.error(401))
    await say(page, 'Hello?')
    await page
      .getByText('“scripted” can’t answer because of its settings on this server.')
      .first()
      .waitFor()
    expect(await page.getByRole('link', { name: 'Model settings' }).count()).toBe(0)
    await leave(page)
  })
})
