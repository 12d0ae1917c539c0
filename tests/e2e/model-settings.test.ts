// Changing a stored model in a real browser.
import { expect, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
} from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'

describeInBrowser('the settings of a stored model', (visitor) => {
  const it = usePageServer(visitor)

  test('are changed in a form, and empty fields are detected again', async () => {
    const { server, upstream } = it
    await server.call('POST', '/api/admin/models', {
      body: { id: 'mine', api_url: upstream.url, name: 'Mine', context_window: 1000 },
    })
    const page = await visitor.open(`${server.url}/settings/models`, {
      phone: true,
      language: 'zh-CN',
      theme: 'dark',
    })
    // The buttons of a row are below its text, which would otherwise be a few letters wide.
    const edit = page.getByRole('button', { name: '编辑 Mine' })
    const name = page.getByText('Mine', { exact: true })
    await expect
      .poll(async () => (await edit.boundingBox())?.y)
      .toBeGreaterThan((await name.boundingBox())?.y ?? 0)
    await expect.poll(async () => (await name.boundingBox())?.width).toBeGreaterThan(280)
    await edit.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('名称').fill('Renamed')
    await dialog.getByLabel('上下文窗口（token）').fill('')
    await dialog.getByLabel('输入价格', { exact: true }).fill('1.5')
    await dialog.getByLabel('输出价格').fill('6')
    await expectAccessible(page)
    await expectNoScrolling(page)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/model-phone.png` })
    // What only the server can refuse stands at its field.
    const longest = dialog.getByLabel('回答的最大长度（token）')
    await longest.fill('99999999999999999999')
    await dialog.getByRole('button', { name: '保存' }).click()
    await longest.and(page.locator('[aria-invalid=true]')).waitFor()
    await dialog.getByText('不能大于').waitFor()
    await longest.fill('')
    await dialog.getByRole('button', { name: '保存' }).click()
    await page.getByRole('button', { name: '编辑 Renamed' }).waitFor()
    const { json } = await server.call('GET', '/api/admin/models')
    const stored = json.data.items.find(({ id }: { id: string }) => id === 'mine')
    expect(stored).toMatchObject({ name: 'Renamed', price: { input: 1.5, output: 6 } })
    expect(stored).not.toHaveProperty('context_window')
    await page.getByRole('button', { name: '把 Renamed 设为默认' }).click()
    await page.getByText('Renamed').getByText('默认').waitFor()
    expect((await server.call('GET', '/api/admin/settings')).json.data.default_model).toBe('mine')
    await leave(page)
  })
})
