// The administration of a server in a real browser: groups, quotas, the server's settings; API keys.
import { beforeAll, expect, test } from 'vitest'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoSideways,
  leave,
} from '../support/page.ts'
import { register, TEST_JWT_SECRET, type TestServer, useServers } from '../support/server.ts'

describeInBrowser('the administration', (visitor) => {
  const servers = useServers()
  let server: TestServer
  let token = ''
  beforeAll(async () => {
    server = await servers.start({
      config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET },
      webRoot: visitor.webRoot(),
    })
    token = await register(server, 'ada')
    await register(server, 'bob')
  })
  const shot = (name: string) =>
    process.env.SHOTS ? { path: `${process.env.SHOTS}/${name}.png` } : null

  test('an administrator sets up a group, a quota, the server and an API key, on a phone in Chinese', async () => {
    const page = await visitor.open(server.url, {
      phone: true,
      language: 'zh-CN',
      theme: 'dark',
    })
    await page.getByLabel('用户名').fill('ada')
    await page.getByLabel('密码').fill('a good password')
    await page.getByRole('button', { name: '登录', exact: true }).click()
    await composer(page).waitFor()
    await page.goto(`${server.url}/admin/groups`)
    await page.getByLabel('名称').fill('编辑部')
    await page.getByRole('button', { name: '创建组' }).click()
    const dialog = page.getByRole('dialog', { name: '组“编辑部”' })
    await dialog.getByLabel('工具').last().selectOption('only')
    await dialog.getByRole('checkbox', { name: '计算', exact: true }).check()
    await dialog.getByLabel('查找要添加的账号').fill('bo')
    await dialog.getByRole('button', { name: '添加 bob' }).click()
    await dialog.getByRole('button', { name: '将 bob 移出该组' }).waitFor()
    await expectAccessible(page)
    await expectNoSideways(page)
    const opened = shot('group-dialog')
    if (opened !== null) await page.screenshot(opened)
    await dialog.getByRole('button', { name: '保存' }).click()
    await page.getByText('1 名成员 · 受限：工具').waitFor()
    await expectAccessible(page)
    const listed = shot('groups')
    if (listed !== null) await page.screenshot(listed)
    await page.getByRole('radio', { name: '账号' }).click()
    await page.getByRole('button', { name: 'bob 的限额' }).click()
    const limits = page.getByRole('dialog', { name: 'bob 的限额' })
    await limits.getByLabel('每日 token').fill('500')
    await limits.getByLabel('存储空间（MB）').fill('2')
    await limits.getByText('已用 0 B，共 5.0 GB').waitFor()
    await expectAccessible(page)
    await expectNoSideways(page)
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
    await page.goto(`${server.url}/admin/server`)
    await page.getByText('data folder').waitFor()
    await page.getByLabel('谁可以注册').selectOption('closed')
    await expect
      .poll(async () => (await server.call('GET', '/api/auth/mode')).json.data.registration)
      .toBe('closed')
    await expectAccessible(page)
    await expectNoSideways(page)
    const administered = shot('server')
    if (administered !== null) await page.screenshot({ ...administered, fullPage: true })
    await page.goto(`${server.url}/settings/account`)
    await page.getByLabel('用途').fill('备份')
    await page.getByLabel('读取', { exact: true }).check()
    await page.getByRole('button', { name: '创建密钥' }).click()
    expect(await page.getByLabel('请立即复制密钥').inputValue()).toMatch(/^nc-/)
    await expectAccessible(page)
    await expectNoSideways(page)
    const keys = shot('keys')
    if (keys !== null) await page.screenshot(keys)
    await page.getByRole('button', { name: '吊销“备份”' }).click()
    await page.getByRole('button', { name: '吊销', exact: true }).click()
    await page.getByRole('button', { name: '吊销“备份”' }).waitFor({ state: 'detached' })
    await page.goto(`${server.url}/stats`)
    await page.getByText('已用 0，共 8').waitFor()
    await expectAccessible(page)
    const usage = shot('usage')
    if (usage !== null) await page.screenshot(usage)
    const { json } = await server.call('GET', '/api/admin/groups', { token })
    expect(json.data.items).toMatchObject([
      { name: '编辑部', tools: ['calculator'], models: null, member_count: 1 },
    ])
    await leave(page)
  })
})
