// The file tree by keyboard alone: one tab stop, the keys of a tree, and where the focus is after files open, close or are deleted.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'

const FILES = {
  'README.md': '# Shop\n',
  'notes.txt': 'Call\n',
  'src/price.ts': 'export const price = 48\n',
  'src/lib/format.ts': 'export {}\n',
}

/** The name of the row that has the focus; '' when something else has it. */
const focusedRow = (page: Page): Promise<string> =>
  page.evaluate(
    "document.activeElement?.matches('[role=treeitem]') ? document.activeElement.querySelector('[title]').title : ''",
  )
const expectFocused = (page: Page, name: string) => expect.poll(() => focusedRow(page)).toBe(name)

describeInBrowser('the file tree', (visitor) => {
  const on = usePageServer(visitor)

  test('Tab reaches the tree once, arrows and letters move in it, and Enter opens a file', async () => {
    const id = await on.createProject('Keys', FILES)
    const page = await visitor.open(`${on.server.url}/projects/${id}`)
    const tree = page.getByRole('tree', { name: 'Files' })
    await tree.getByText('README.md').waitFor()
    expect(await tree.locator('[tabindex="0"]').count()).toBe(1)
    // The most frequent button has a word.
    const upload = page.getByRole('button', { name: 'Upload files' })
    await upload.getByText('Upload', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'New folder' }).focus()
    await page.keyboard.press('Tab')
    await expectFocused(page, 'src')
    await page.keyboard.press('ArrowRight')
    await tree.getByText('price.ts').waitFor()
    await page.keyboard.press('ArrowRight')
    await expectFocused(page, 'lib')
    await page.keyboard.press('ArrowRight')
    await tree.getByText('format.ts').waitFor()
    await page.keyboard.press('ArrowRight')
    await expectFocused(page, 'format.ts')
    expect(
      await page.evaluate(
        "['aria-level', 'aria-posinset', 'aria-setsize'].map((name) => document.activeElement.getAttribute(name)).join()",
      ),
    ).toBe('3,1,1')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await tree.getByText('format.ts').waitFor({ state: 'detached' })
    await page.keyboard.press('End')
    await expectFocused(page, 'notes.txt')
    await page.keyboard.press('p')
    await expectFocused(page, 'price.ts')
    await expectAccessible(page)
    await page.keyboard.press('Enter')
    await page.locator('.cm-content').getByText('price = 48').waitFor()
    await expectFocused(page, 'price.ts')
    await expectAccessible(page)
    await leave(page)
  })

  test('the folders around a linked file are open, and an unchanged preview has no button to save', async () => {
    const id = await on.createProject('Linked', { ...FILES, 'docs/guide/start.md': '# Start\n' })
    const page = await visitor.open(`${on.server.url}/projects/${id}?file=docs/guide/start.md`)
    const row = page.getByRole('treeitem', { name: 'start.md' })
    await row.waitFor()
    expect(await row.getAttribute('aria-selected')).toBe('true')
    await page.locator('.prose').getByText('Start').waitFor()
    expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
    await page.getByRole('radio', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor()
    await leave(page)
  })

  test('on a phone, where the file replaces the tree, the focus moves to the file and back to its row', async () => {
    const id = await on.createProject('Narrow', FILES)
    const page = await visitor.open(`${on.server.url}/projects/${id}`, { phone: true })
    await page.getByRole('treeitem', { name: 'notes.txt' }).focus()
    await page.keyboard.press('Enter')
    const back = page.getByRole('button', { name: 'Files', exact: true })
    await back.waitFor()
    // The next tab stop is in the file, not at the beginning of the page.
    await page.keyboard.press('Tab')
    await back.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await expectFocused(page, 'notes.txt')
    await leave(page)
  })

  test('on a right-to-left page, code and figures keep their direction, and the arrow keys are mirrored', async () => {
    const id = await on.createProject('Mirrored', FILES)
    const page = await visitor.open(`${on.server.url}/projects/${id}`)
    await page.getByRole('treeitem', { name: 'src' }).waitFor()
    await page.evaluate("document.documentElement.dir = 'rtl'")
    await page.getByRole('treeitem', { name: 'src' }).focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('treeitem', { name: 'price.ts' }).click()
    const line = page.locator('.cm-line').first()
    await line.getByText('price = 48').waitFor()
    const direction = (selector: string): Promise<string> =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`)
    expect(await direction('.cm-content')).toBe('ltr')
    expect(await direction('header bdi')).toBe('ltr')
    await leave(page)
  })

  test('after a file is deleted, the focus is on the row that takes its place, or on the last one', async () => {
    const id = await on.createProject('Deleted', FILES)
    const page = await visitor.open(`${on.server.url}/projects/${id}`)
    const deleteFile = async (name: string): Promise<void> => {
      await page.getByRole('treeitem', { name }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('region', { name }).waitFor()
      await page.getByRole('button', { name: 'Actions for this file' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('treeitem', { name }).waitFor({ state: 'detached' })
    }
    await page.getByRole('treeitem', { name: 'notes.txt' }).waitFor()
    await deleteFile('README.md')
    await expectFocused(page, 'notes.txt')
    await deleteFile('notes.txt')
    await expectFocused(page, 'src')
    await leave(page)
  })

  test('after saving with the button, the focus is in the editor, or on the switch to the preview while that is shown', async () => {
    const id = await on.createProject('Saved', FILES)
    const page = await visitor.open(`${on.server.url}/projects/${id}?file=README.md`)
    const editor = page.locator('.cm-content')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await page.getByRole('radio', { name: 'Edit' }).click()
    await editor.pressSequentially('New ')
    await save.press('Enter')
    await editor.and(page.locator(':focus')).waitFor()
    await expect.poll(() => on.readFile(id, 'README.md')).toContain('New ')

    await editor.pressSequentially('Newer ')
    await page.getByRole('radio', { name: 'Preview' }).click()
    await save.press('Enter')
    await save.waitFor({ state: 'detached' })
    await page.getByRole('radio', { name: 'Preview' }).and(page.locator(':focus')).waitFor()
    await leave(page)
  })
})
