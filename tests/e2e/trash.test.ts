// Deleting, restoring and archiving conversations in the sidebar, one at a time and several at once.
import { expect, test } from 'vitest'
import { describeInBrowser, leave } from '../support/page.ts'
import { usePageServer } from '../support/page-server.ts'

const languages = [
  {
    language: 'en-US',
    actions: 'Actions for “Heron”',
    remove: 'Delete',
    removed: 'Conversation moved to the trash',
    undo: 'Undo',
    view: 'Show and select',
    trash: 'Trash',
    current: 'Conversations',
    restore: 'Restore “Heron”',
    forGood: 'Delete “Heron” for good',
    confirm: 'Delete for good',
    select: 'Select several…',
    archive: 'Archive',
    archived: '2 conversations archived',
  },
  {
    language: 'zh-CN',
    actions: '“Heron”的操作',
    remove: '删除',
    removed: '已将 1 个对话移到回收站',
    undo: '撤销',
    view: '查看与选择',
    trash: '回收站',
    current: '对话',
    restore: '恢复“Heron”',
    forGood: '彻底删除“Heron”',
    confirm: '彻底删除',
    select: '选择多个…',
    archive: '归档',
    archived: '已归档 2 个对话',
  },
] as const

describeInBrowser('the trash in the sidebar', (visitor) => {
  const host = usePageServer(visitor)

  test.each(languages)(
    'a conversation goes to the trash, is restored from it, and is deleted only after a confirmation, in $language',
    async (texts) => {
      for (const title of ['Pelican', 'Egret', 'Heron'])
        await host.server.call('POST', '/api/conversations', { body: { title } })
      const page = await visitor.open(host.server.url, { language: texts.language })
      const button = (name: string) => page.getByRole('button', { name, exact: true })
      const link = (name: string) => page.getByRole('link', { name, exact: true })
      const show = async (name: string) => {
        await button(texts.view).click()
        await page.getByRole('menuitemradio', { name, exact: true }).click()
      }
      const remove = async () => {
        await link('Heron').hover()
        await button(texts.actions).click()
        await page.getByRole('menuitem', { name: texts.remove, exact: true }).click()
        await link('Heron').waitFor({ state: 'detached' })
      }
      await link('Heron').first().waitFor()

      await remove()
      await page.getByText(texts.removed).waitFor()
      await button(texts.undo).click()
      await link('Heron').waitFor()

      await remove()
      await show(texts.trash)
      await button(texts.restore).click()
      await button(texts.restore).waitFor({ state: 'detached' })
      await show(texts.current)
      await link('Heron').waitFor()

      await remove()
      await show(texts.trash)
      await button(texts.forGood).click()
      await page.getByRole('alertdialog').getByRole('button', { name: texts.confirm }).click()
      await button(texts.forGood).waitFor({ state: 'detached' })

      await show(texts.current)
      await button(texts.view).click()
      await page.getByRole('menuitem', { name: texts.select }).click()
      for (const title of ['Pelican', 'Egret']) await page.getByLabel(title).check()
      await page.getByRole('toolbar').getByRole('button', { name: texts.archive }).click()
      await page.getByText(texts.archived).waitFor()
      await link('Egret').waitFor({ state: 'detached' })
      await button(texts.undo).last().click()
      for (const title of ['Pelican', 'Egret']) await link(title).waitFor()

      await expect
        .poll(async () => (await host.server.call('GET', '/api/conversations?trashed=true')).json)
        .toMatchObject({ data: { items: [] } })
      await host.server.call('POST', '/api/conversations/bulk', {
        body: {
          ids: (await host.server.call('GET', '/api/conversations')).json.data.items.map(
            ({ id }: { id: string }) => id,
          ),
          action: 'delete_permanently',
        },
      })
      await leave(page)
    },
  )
})
