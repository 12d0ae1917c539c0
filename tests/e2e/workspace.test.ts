// Working on files in a real browser: editor, uploads, history, and the sources of an answer.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { presentation, workbook } from '../support/documents.ts'
import {
  describeInBrowser,
  expectAccessible,
  leave,
  REMOTE_HOST,
  say,
} from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

describeInBrowser('working on files', (visitor) => {
  const on = usePageServer(visitor, { trusted_hosts: [REMOTE_HOST] })
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-upload-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('a folder can be uploaded, edited, searched, compared and restored', async () => {
    mkdirSync(join(folder, 'shop/src'), { recursive: true })
    writeFileSync(join(folder, 'shop/README.md'), '# Shop\n')
    writeFileSync(join(folder, 'shop/src/price.ts'), 'export const price = 48\n')
    const page = await visitor.open(`${on.server.url}/projects`)
    await page.getByRole('button', { name: 'Upload a folder' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input[type=file]').setInputFiles(join(folder, 'shop'))
    await dialog.getByText('2 files').waitFor()
    await expect.poll(() => dialog.getByLabel('Name').inputValue()).toBe('shop')
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click()

    await page.getByText('src', { exact: true }).click()
    await page.getByText('price.ts').click()
    const editor = page.locator('.cm-content')
    await editor.getByText('price = 48').waitFor()
    await editor.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('// checked')
    await page.getByText('unsaved', { exact: true }).waitFor()
    // Opening another file over unsaved changes requires confirmation.
    await page.getByText('README.md').click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    await editor.click()
    await page.keyboard.press('Control+s')
    await page.getByText('unsaved', { exact: true }).waitFor({ state: 'hidden' })
    const id = page.url().split('/').at(-1) ?? ''
    expect(await on.readFile(id, 'src/price.ts')).toBe('export const price = 48\n// checked')

    // Another client writes the file while it has unsaved changes here: nothing is overwritten without confirmation.
    await editor.click()
    await page.keyboard.type('!')
    await page.getByText('unsaved', { exact: true }).waitFor()
    await on.server.call('PUT', `/api/projects/${id}/files/src/price.ts`, {
      body: { content: 'theirs\n' },
    })
    await page.keyboard.press('Control+s')
    await page.getByRole('alert').getByText('changed this file').waitFor()
    expect(await on.readFile(id, 'src/price.ts')).toBe('theirs\n')
    await page.getByRole('button', { name: 'Load theirs' }).click()
    await editor.getByText('theirs').waitFor()

    await page.getByRole('button', { name: 'Search in files' }).click()
    await page.getByRole('searchbox', { name: 'Search in files' }).fill('Shop')
    await page.getByRole('status').getByText('1 match').waitFor()

    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Compare' }).first().click()
    await page.getByRole('dialog').getByText('theirs').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Restore' }).first().click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Restore' }).click()
    await page.getByText('1 file restored.').waitFor()
    expect(await on.readFile(id, 'src/price.ts')).toBe('export const price = 48\n// checked')
    await leave(page)
  })

  test('a cancelled upload stores nothing, and a refused one says why', async () => {
    mkdirSync(join(folder, 'refused'), { recursive: true })
    writeFileSync(join(folder, 'refused/a\u202eb.txt'), 'x')
    const page = await visitor.open(`${on.server.url}/projects`)
    let held = true
    await page.route('**/api/projects/upload', (route) => (held ? undefined : route.continue()))
    const dialog = page.getByRole('dialog')
    const choose = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Upload a folder' }).click()
      await dialog.locator('input[type=file]').setInputFiles(join(folder, 'refused'))
      await dialog.getByRole('button', { name: 'Upload', exact: true }).click()
    }
    await choose()
    await dialog.getByRole('progressbar').waitFor()
    await expectAccessible(page)
    const calledOff = page.waitForEvent('requestfailed')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect((await calledOff).url()).toContain('/api/projects/upload')
    held = false
    await choose()
    await dialog.getByRole('alert').getByText('invisible characters').waitFor()
    expect(page.url()).toBe(`${on.server.url}/projects`)
    await leave(page)
  })

  test('files and folders of any content dropped on the tree are stored after a confirmation', async () => {
    const id = await on.createProject('Dropped', { 'here.md': 'here\n' })
    mkdirSync(join(folder, 'drop/inner'), { recursive: true })
    writeFileSync(join(folder, 'drop/inner/new.md'), 'new\n')
    writeFileSync(join(folder, 'drop/inner/data.bin'), Buffer.from([0, 255, 254, 0]))
    writeFileSync(join(folder, 'here.md'), 'theirs\n')
    const page = await visitor.open(`${on.server.url}/projects/${id}`)
    const tree = page.getByRole('tree', { name: 'Files' })
    await tree.getByText('here.md').waitFor()
    const box = await tree.boundingBox()
    const place = { x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + 10 }
    const browser = await page.context().newCDPSession(page)
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await browser.send('Input.dispatchDragEvent', {
        type,
        ...place,
        data: {
          items: [],
          files: [join(folder, 'drop'), join(folder, 'here.md')],
          dragOperationsMask: 1,
        },
      })
    const question = page.getByRole('alertdialog')
    await question.getByText('Add 3 files?').waitFor()
    expect(await on.readFile(id, 'here.md')).toBe('here\n')
    await question.getByRole('button', { name: 'Add', exact: true }).click()
    await tree.getByText('drop', { exact: true }).click()
    await tree.getByText('inner', { exact: true }).click()
    await tree.getByText('new.md').waitFor()
    expect(await on.readFile(id, 'drop/inner/new.md')).toBe('new\n')
    expect(await on.readFile(id, 'here.md')).toBe('theirs\n')
    const binary = await fetch(
      `${on.server.url}/api/projects/${id}/files/drop/inner/data.bin?raw=1`,
    )
    expect([...new Uint8Array(await binary.arrayBuffer())]).toEqual([0, 255, 254, 0])
    await page.getByText('3 files added.').waitFor()
    await leave(page)
  })

  test('an upload into a project shows its progress, can be cancelled, and says why it was refused', async () => {
    const id = await on.createProject('Adding', { 'here.md': 'here\n', 'kept/1.md': 'one\n' })
    const page = await visitor.open(`${on.server.url}/projects/${id}`)
    let held = true
    await page.route(`**/api/projects/${id}/files`, (route) =>
      held && route.request().method() === 'POST' ? undefined : route.continue(),
    )
    const question = page.getByRole('alertdialog')
    const offer = async (name: string): Promise<void> => {
      const picker = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: 'Upload files' }).click()
      await (await picker).setFiles({
        name,
        mimeType: 'application/octet-stream',
        buffer: Buffer.from([0, 1, 255]),
      })
    }
    await offer('data.bin')
    await page.getByRole('progressbar').waitFor()
    await expectAccessible(page)
    const calledOff = page.waitForEvent('requestfailed')
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect((await calledOff).url()).toContain(`/api/projects/${id}/files`)
    await page.getByRole('progressbar').waitFor({ state: 'detached' })
    held = false
    // The name is taken, so there is a question.
    await offer('kept')
    await question.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('“kept” is a folder').waitFor()
    await offer('data.bin')
    await page.getByText('1 file added.').waitFor()
    await page.getByRole('tree', { name: 'Files' }).getByText('data.bin').waitFor()
    await leave(page)
  })

  test('unsaved changes survive a switch of tabs and pages, and a new file never replaces an existing one', async () => {
    const id = await on.createProject('Unsaved', { 'a.txt': 'first\n', 'b.txt': 'second\n' })
    const page = await visitor.open(`${on.server.url}/projects/${id}`)
    const editor = page.locator('.cm-content')
    const unsaved = page.getByText('unsaved', { exact: true })
    await page.getByText('a.txt').click()
    await editor.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('mine')
    await unsaved.waitFor()
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('tab', { name: 'Files' }).click()
    await editor.getByText('mine').waitFor()
    await page.getByRole('link', { name: 'Memory' }).click()
    await page.getByRole('link', { name: 'Projects' }).first().click()
    await page
      .getByRole('main')
      .getByRole('link', { name: /Unsaved/ })
      .click()
    await page.getByText('a.txt').click()
    await editor.getByText('mine').waitFor()
    await unsaved.waitFor()
    await editor.click()
    await page.keyboard.press('Control+s')
    await unsaved.waitFor({ state: 'hidden' })
    expect(await on.readFile(id, 'a.txt')).toBe('first\nmine')

    await page.getByRole('button', { name: 'New file' }).click()
    await page.getByRole('dialog').getByLabel('Path').fill('b.txt')
    await page.keyboard.press('Enter')
    await page.getByText('The file “b.txt” already exists').waitFor()
    expect(await on.readFile(id, 'b.txt')).toBe('second\n')
    await leave(page)
  })

  test("a file is made searchable, and an answer's citation opens it at the passage", async () => {
    const id = await on.createProject('Library', {
      'tea.md': '# Tea\n\nWuyi tea is roasted over charcoal.\n',
    })
    const page = await visitor.open(`${on.server.url}/projects/${id}`)
    const row = page.getByRole('treeitem', { name: /tea\.md/ })
    await row.click()
    const searchable = page.getByRole('switch', { name: 'Searchable' })
    await searchable.press('Space')
    await page.getByText(/1 section/).waitFor()
    await row.getByText('searchable', { exact: true }).waitFor({ state: 'attached' })
    await expectAccessible(page)
    on.upstream.enqueue(
      turn.toolCalls([{ name: 'search_knowledge', arguments: { query: 'charcoal' } }]),
      turn.text('Over charcoal.'),
    )
    await page.getByRole('button', { name: 'Start a conversation' }).click()
    await say(page, 'How is Wuyi tea roasted?')
    await page.getByText('Over charcoal.').waitFor()
    const sources = page.getByRole('region', { name: 'Sources' })
    await sources.getByRole('button', { name: '1 source' }).click()
    await sources.getByRole('list').getByRole('button', { name: 'tea.md' }).click()
    await page.getByRole('dialog', { name: 'tea.md' }).getByText('roasted over charcoal').waitFor()
    await leave(page)
  })

  test('a button uploads files, images are shown, documents have a preview, other binaries are offered for download, and changes can be saved on leaving', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    mkdirSync(join(folder, 'pictures'))
    writeFileSync(join(folder, 'pictures', 'dot.png'), png)
    writeFileSync(join(folder, 'pictures', 'data.bin'), Buffer.from([0, 255, 254, 0, 1]))
    const rows =
      '<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2"><v>42</v></c><c r="B2"><v>7</v></c></row>'
    writeFileSync(join(folder, 'pictures', 'sums.xlsx'), workbook(rows, ['Total']))
    writeFileSync(join(folder, 'pictures', 'talk.pptx'), presentation(['Welcome']))
    const page = await visitor.open(`${on.server.url}/projects`, { remote: true })
    await page.getByRole('button', { name: 'Upload a folder' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input[type=file]').setInputFiles(join(folder, 'pictures'))
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click()
    const tree = page.getByRole('tree', { name: 'Files' })
    await tree.getByText('dot.png').click()
    const picture = page.getByRole('img', { name: 'Image dot.png' })
    await picture.waitFor()
    await expect
      .poll(() => page.evaluate<number>("document.querySelector('img[alt^=Image]').naturalWidth"))
      .toBe(1)
    await expectAccessible(page)
    await tree.getByText('talk.pptx').click()
    await page.getByRole('region', { name: 'Slide 1' }).getByText('Welcome').waitFor()
    await tree.getByText('sums.xlsx').click()
    await page.getByRole('tab', { name: 'Sales & more', selected: true }).waitFor()
    await page.getByRole('columnheader', { name: 'Total' }).waitFor()
    // A column without a name has its letter, so that one can sort by it.
    await page.getByRole('columnheader', { name: 'B', exact: true }).getByRole('button').waitFor()
    await page.getByRole('cell', { name: '42' }).waitFor()
    await expectAccessible(page)
    await tree.getByText('data.bin').click()
    await page.getByText('This isn’t a text file.').waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).last().click()
    expect((await download).suggestedFilename()).toBe('data.bin')

    await page.getByRole('button', { name: 'Upload files' }).waitFor()
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({
        name: 'new.md',
        mimeType: 'text/markdown',
        buffer: Buffer.from('new\n'),
      })
    const question = page.getByRole('alertdialog')
    await tree.getByText('new.md').click()
    await page.locator('.prose').getByText('new').waitFor()
    await page.getByRole('radio', { name: 'Edit' }).click()
    await page.locator('.cm-content').click()
    await page.keyboard.type('mine ')
    await tree.getByText('dot.png').click()
    await question.getByRole('button', { name: 'Save' }).click()
    await picture.waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1)
    await expect.poll(() => on.readFile(String(id), 'new.md')).toContain('mine ')

    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByLabel('Instructions').fill('Name each picture.')
    await page
      .locator('form', { has: page.getByLabel('Instructions') })
      .getByRole('button', { name: 'Save', exact: true })
      .click()
    await page.getByRole('switch', { name: 'Calculate', exact: false }).first().click()
    const settings = async () => (await on.server.call('GET', `/api/projects/${id}`)).json.data
    await expect
      .poll(settings)
      .toMatchObject({ instructions: 'Name each picture.', disabled_tools: ['calculator'] })
    await expectAccessible(page)
    await on.server.call('POST', '/api/conversations', {
      body: { title: 'Which picture?', project_id: id },
    })
    await page.getByRole('tab', { name: 'Conversations' }).click()
    await page.getByRole('tabpanel').getByText('Which picture?').waitFor()
    await leave(page)
  })
})
