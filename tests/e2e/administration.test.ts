// The administration of a server in a real browser: groups, quotas, second factors, the server's settings; API keys.
import { Secret, TOTP } from 'otpauth'
import { beforeAll, expect, test } from 'vitest'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
} from '../support/page/page.ts'
import { register, TEST_JWT_SECRET, type TestServer, useServers } from '../support/server/server.ts'

describeInBrowser('the administration', (visitor) => {
  const servers = useServers()
  let server: TestServer
  let token = ''
  const password = 'a good password'
  beforeAll(async () => {
    server = await servers.start({
      config: {
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        models: [
          { id: 'one', api_url: 'http://127.0.0.1:9/v1' },
          { id: 'two', api_url: 'http://127.0.0.1:9/v1' },
        ],
      },
      webRoot: visitor.webRoot(),
    })
    token = await register(server, 'ada')
    const bob = await register(server, 'bob')
    const begun = await server.call('POST', '/api/auth/totp', {
      body: { current_password: password },
      token: bob,
    })
    const code = new TOTP({ secret: Secret.fromBase32(begun.json.data.secret) }).generate()
    await server.call('POST', '/api/auth/totp/confirm', { body: { code }, token: bob })
  })
  const signIn = (username: string) =>
    server.call('POST', '/api/auth/login', { body: { username, password } })
  const shot = (name: string) =>
    process.env.SHOTS ? { path: `${process.env.SHOTS}/${name}.png` } : null

  test('an administrator sets up a group, a quota, the server and an API key, on a phone in Chinese', async () => {
    const page = await visitor.open(server.url, {
      phone: true,
      language: 'zh-CN',
      theme: 'dark',
    })
    await page.getByLabel('用户名').fill('ada')
    await page.getByLabel('密码').fill(password)
    await page.getByRole('button', { name: '登录', exact: true }).click()
    await composer(page).waitFor()
    await page.goto(`${server.url}/admin/groups`)
    await page.getByRole('button', { name: '创建组' }).click()
    const create = page.getByRole('dialog', { name: '创建组' })
    await create.getByLabel('名称').fill('编辑部')
    await create.getByRole('button', { name: '创建组' }).click()
    const dialog = page.getByRole('dialog', { name: '组“编辑部”' })
    await dialog.getByLabel('工具').last().selectOption('only')
    await dialog.getByRole('checkbox', { name: '计算', exact: true }).check()
    await dialog.getByLabel('操作确认').last().selectOption('only')
    await dialog.getByRole('checkbox', { name: '高风险时问我' }).check()
    await dialog.getByLabel('查找要添加的账号').fill('bo')
    await dialog.getByRole('button', { name: '添加 bob' }).click()
    await dialog.getByRole('button', { name: '将 bob 移出该组' }).waitFor()
    await expectAccessible(page)
    await expectNoScrolling(page)
    const opened = shot('group-dialog')
    if (opened !== null) await page.screenshot(opened)
    await dialog.getByRole('button', { name: '保存' }).click()
    await page.getByText('1 名成员 · 受限：工具和操作确认').waitFor()
    await expectAccessible(page)
    const listed = shot('groups')
    if (listed !== null) await page.screenshot(listed)
    await page.goto(`${server.url}/admin/users`)
    await page.getByRole('button', { name: '“bob”的限额' }).click()
    const limits = page.getByRole('dialog', { name: '“bob”的限额' })
    await limits.getByLabel('每日 token').fill('500')
    await limits.getByLabel('存储空间（MB）').fill('2')
    await limits.getByText('0 B / 5.0 GB').waitFor()
    await expectAccessible(page)
    await expectNoScrolling(page)
    const limited = shot('user-quota')
    if (limited !== null) await page.screenshot(limited)
    await limits.getByRole('button', { name: '保存' }).click()
    await limits.waitFor({ state: 'detached' })
    const users = await server.call('GET', '/api/admin/users?q=bob', { token })
    expect(users.json.data.items[0].quota).toMatchObject({
      tokens_per_day: 500,
      storage: 2 * 1024 * 1024,
      cost_per_day: null,
    })
    expect((await signIn('bob')).json).toMatchObject({ reason: 'second_factor_required' })
    const choose = async (name: string, action: string) => {
      await page.getByRole('button', { name: `“${name}”的操作` }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await choose('bob', '重置两步验证')
    const reset = page.getByRole('alertdialog', { name: '删除“bob”的两步验证？' })
    await reset.getByRole('button', { name: '重置两步验证' }).click()
    await page.getByText('已删除“bob”的两步验证。').waitFor()
    expect((await signIn('bob')).status).toBe(200)
    // Of two places where bob is signed in, one is ended.
    const signedIn = (await signIn('bob')).json.data.token
    const nowHere = () => server.call('GET', '/api/auth/profile', { token: signedIn })
    await choose('bob', '登录会话')
    const sessions = page.getByRole('dialog', { name: '“bob”的登录会话' })
    await sessions.getByRole('listitem').nth(1).waitFor()
    await expectAccessible(page)
    await expectNoScrolling(page)
    const seen = shot('user-sessions')
    if (seen !== null) await page.screenshot(seen)
    const before = await sessions.getByRole('listitem').count()
    await sessions
      .getByRole('button', { name: /^退出“.*”的登录$/ })
      .first()
      .click()
    await expect.poll(() => sessions.getByRole('listitem').count()).toBe(before - 1)
    expect((await nowHere()).status).toBe(401)
    await sessions.getByRole('button', { name: '退出所有登录' }).click()
    await sessions.getByText('当前没有登录。').waitFor()
    await sessions.getByRole('button', { name: '关闭', exact: true }).last().click()
    await sessions.waitFor({ state: 'detached' })
    // An account is deleted, and its data handed over.
    await server.call('POST', '/api/conversations', {
      body: { title: '移交的对话' },
      token: await register(server, 'carl'),
    })
    await page.getByRole('searchbox').fill('carl')
    await page.getByRole('group', { name: 'carl' }).waitFor()
    await choose('carl', '删除')
    const deletion = page.getByRole('dialog', { name: '删除账号“carl”' })
    await deletion.getByLabel('账号数据').selectOption('hand_over')
    await deletion.getByLabel('搜索账号').fill('ada')
    await expect.poll(() => deletion.getByLabel('接收数据的账号').inputValue()).not.toBe('')
    await expectAccessible(page)
    await expectNoScrolling(page)
    const deleting = shot('delete-user')
    if (deleting !== null) await page.screenshot(deleting)
    await deletion.getByRole('button', { name: '删除', exact: true }).click()
    await deletion.waitFor({ state: 'detached' })
    await page.getByRole('group', { name: 'carl' }).waitFor({ state: 'detached' })
    const handedOver = await server.call('GET', '/api/conversations', { token })
    expect(handedOver.json.data.items).toMatchObject([{ title: '移交的对话' }])
    // Accounts by role; the audit log as a file.
    await page.getByRole('searchbox').fill('')
    await page.getByRole('group', { name: 'bob' }).waitFor()
    await page.getByLabel('显示', { exact: true }).selectOption('admin')
    await page.getByRole('group', { name: 'bob' }).waitFor({ state: 'detached' })
    await page.getByRole('group', { name: 'ada' }).waitFor()
    await page.goto(`${server.url}/admin/audit`)
    const downloaded = page.waitForEvent('download')
    await page.getByRole('button', { name: '下载日志' }).click()
    // People, groups and limits are named; the ids are in the details.
    await page
      .getByText('账号：bob · 每日 token：未设置 → 500 · 存储空间：未设置 → 2.0 MB')
      .waitFor()
    await page.getByText('组：编辑部 · 账号：bob').waitFor()
    await page.getByText('账号：carl · 账号数据：移交给其他账号 · 接收数据的账号：ada').waitFor()
    expect((await downloaded).suggestedFilename()).toBe('audit.jsonl')
    await expectAccessible(page)
    await expectNoScrolling(page)
    const audited = shot('audit')
    if (audited !== null) await page.screenshot(audited)
    // By account and by day.
    await page.getByRole('button', { name: 'bob', exact: true }).first().click()
    const account = page.getByLabel('账号', { exact: true })
    expect(await account.inputValue()).toBe('bob')
    await page.getByText('组：编辑部 · 账号：bob').waitFor({ state: 'detached' })
    await account.fill('ada')
    await page.getByText('组：编辑部 · 账号：bob').waitFor()
    await page.getByLabel('结束日期').fill('2020-01-01')
    await page.getByText('没有记录').waitFor()
    await page.goto(`${server.url}/admin/usage`)
    await page.getByText('本月没有用量').waitFor()
    await expectAccessible(page)
    await expectNoScrolling(page)
    await page.goto(`${server.url}/admin/server`)
    await page.getByText('数据文件夹').first().waitFor()
    await page.getByText('已构建').waitFor()
    // What can be copied into a file or a terminal looks like it.
    await page.locator('code').getByText('backup', { exact: true }).waitFor()
    await page.getByLabel('谁可以注册').selectOption('closed')
    await expect
      .poll(async () => (await server.call('GET', '/api/auth/mode')).json.data.registration)
      .toBe('closed')
    await page.getByText('还没有存储任何内容。').waitFor()
    await page.getByRole('button', { name: '上移 two' }).click()
    const order = async () =>
      (await server.call('GET', '/api/models', { token })).json.data.map(
        ({ id }: { id: string }) => id,
      )
    await expect.poll(order).toEqual(['two', 'one'])
    await page
      .getByRole('button', { name: '上移 two' })
      .and(page.locator('[aria-disabled=true]:focus'))
      .waitFor()
    await expectAccessible(page)
    await expectNoScrolling(page)
    const administered = shot('server')
    if (administered !== null) await page.screenshot({ ...administered, fullPage: true })
    await page.goto(`${server.url}/settings/account`)
    await page.getByText('还没有 API 密钥').waitFor()
    // Neither the address nor the password can be saved while nothing is entered.
    const saves = page.getByRole('button', { name: '保存', exact: true })
    await expect.poll(() => saves.and(page.locator(':disabled')).count()).toBe(2)
    expect(await saves.count()).toBe(2)
    await page.getByRole('button', { name: '创建密钥' }).click()
    const keyDialog = page.getByRole('dialog', { name: '创建密钥' })
    await keyDialog.getByLabel('用途').fill('备份')
    await keyDialog.getByLabel('读取', { exact: true }).check()
    await keyDialog.getByRole('button', { name: '创建密钥' }).click()
    expect(await page.getByLabel('请立即复制密钥').inputValue()).toMatch(/^nc-/)
    await expectAccessible(page)
    await expectNoScrolling(page)
    const keys = shot('keys')
    if (keys !== null) await page.screenshot(keys)
    await keyDialog.getByRole('button', { name: '关闭' }).last().click()
    await page.getByRole('button', { name: '吊销“备份”' }).click()
    await page.getByRole('button', { name: '吊销', exact: true }).click()
    await page.getByRole('button', { name: '吊销“备份”' }).waitFor({ state: 'detached' })
    await page.goto(`${server.url}/stats`)
    await page.getByText('0 / 8').waitFor()
    await expectAccessible(page)
    const usage = shot('usage')
    if (usage !== null) await page.screenshot(usage)
    const { json } = await server.call('GET', '/api/admin/groups', { token })
    expect(json.data.items).toMatchObject([
      { name: '编辑部', tools: ['calculator'], models: null, member_count: 1 },
    ])
    // Modes that the groups of an account forbid are not offered to it.
    const own = (await server.call('GET', '/api/auth/profile', { token })).json.data.id
    await server.call('PUT', `/api/admin/groups/${json.data.items[0].id}/members/${own}`, { token })
    await server.call('PATCH', '/api/admin/settings', {
      token,
      body: { default_approval: 'auto_medium' },
    })
    await page.goto(server.url)
    await page.getByRole('button', { name: '添加文件与选项' }).click()
    const modes = page.getByRole('menuitemradio')
    await modes.filter({ hasText: '高风险时问我' }).waitFor()
    await modes.filter({ hasText: '先问我' }).waitFor()
    expect(await modes.filter({ hasText: '从不询问' }).count()).toBe(0)
    // A mode that differs from the default stays visible; one click returns to the default.
    await modes.filter({ hasText: '先问我' }).click()
    const chosen = page.getByRole('button', { name: '操作确认：先问我' })
    await chosen.click()
    await chosen.waitFor({ state: 'detached' })
    await leave(page)
  })

  test('a page that is open while the server is upgraded tells the administrator, and reloads at a click', async () => {
    const single = await servers.start({ webRoot: visitor.webRoot() })
    const page = await visitor.open(single.url)
    await composer(page).waitFor()
    await page.route('**/healthz', (route) =>
      route.fulfill({ json: { code: 0, data: { status: 'ok', version: '99.1.0' } } }),
    )
    const notice = page.getByText('Version 99.1.0 is running.')
    // An upgrade ends the connection. The part of the page that looks at the version loads after the first screen.
    await expect
      .poll(async () => {
        await page.evaluate(
          "dispatchEvent(new Event('offline')); dispatchEvent(new Event('online'))",
        )
        return await notice.count()
      })
      .toBe(1)
    await expectAccessible(page)
    await page.unroute('**/healthz')
    await Promise.all([
      page.waitForEvent('load'),
      page.getByRole('button', { name: 'Reload page' }).click(),
    ])
    await composer(page).waitFor()
    expect(await notice.count()).toBe(0)
    await leave(page)
  })
})
