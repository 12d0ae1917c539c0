// Working on files in a real browser: approval with its diff, changing and rejecting a call, editor, upload, history, sources.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoSideways,
  leave,
  say,
} from '../support/page.ts'
import { scripted } from '../support/scripted.ts'
import { type TestServer, useServers } from '../support/server.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { turn } from '../support/upstream-turns.ts'

describeInBrowser('working on files', (visitor) => {
  const servers = useServers()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-upload-'))
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({ config: scripted(upstream), webRoot: visitor.webRoot() })
  })
  afterAll(async () => {
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const project = async (name: string, files: Record<string, string>): Promise<string> => {
    const { json } = await server.call('POST', '/api/projects', { body: { name } })
    for (const [path, content] of Object.entries(files))
      await server.call('PUT', `/api/projects/${json.data.id}/files/${path}`, { body: { content } })
    return json.data.id
  }
  const content = async (id: string, path: string): Promise<string> => {
    const { json } = await server.call('GET', `/api/projects/${id}/files/${path}`)
    return json.data?.content
  }
  const write = (text: string) =>
    turn.toolCalls([{ name: 'file_write', arguments: { path: 'notes.md', content: text } }])
  const card = (page: Page) => page.getByRole('region', { name: /^Allow/ })

  test('a change waits with its diff, is marked in the list, survives a reload, and is approved by key', async () => {
    const id = await project('Keys', { 'notes.md': 'old line\n' })
    upstream.enqueue(write('new line\n'), turn.text('Written.'))
    const page = await visitor.open(`${server.url}/?project=${id}`)
    await page.getByRole('button', { name: 'Project: Keys' }).waitFor()
    await say(page, 'Change my notes.')
    await card(page).getByText('new line').waitFor()
    await card(page).getByText('old line').waitFor()
    await expectAccessible(page)
    await page
      .getByRole('navigation', { name: 'Conversations' })
      .getByText('waiting for your approval')
      .first()
      .waitFor({ state: 'attached' })
    await page.reload()
    await card(page).getByText('new line').waitFor()
    expect(await content(id, 'notes.md')).toBe('old line\n')
    await card(page).focus()
    await page.keyboard.press('a')
    await page.getByText('Written.').waitFor()
    expect(await content(id, 'notes.md')).toBe('new line\n')
    await leave(page)
  })

  test('several questions are numbered and can be told apart, and all of them are rejected at once', async () => {
    const id = await project('Many', { 'notes.md': 'old\n' })
    upstream.enqueue(
      turn.toolCalls(
        ['one', 'two', 'three'].map((name) => ({
          name: 'file_write',
          arguments: { path: `${name}.md`, content: name },
        })),
      ),
      turn.text('Then not.'),
    )
    const page = await visitor.open(`${server.url}/?project=${id}`)
    await page.getByRole('button', { name: 'Project: Many' }).waitFor()
    await say(page, 'Write three files.')
    await page.getByText('3 requests need your approval.').waitFor()
    for (const [place, name] of ['one', 'two', 'three'].entries())
      await page
        .getByRole('region', { name: `${place + 1} of 3` })
        .getByText(`${name}.md`)
        .first()
        .waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Reject all' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Then not.').waitFor()
    expect(await card(page).count()).toBe(0)
    const { json } = await server.call('GET', `/api/projects/${id}/files`)
    expect(json.data.files.map(({ name }: { name: string }) => name)).toEqual(['notes.md'])
    await leave(page)
  })

  test('a rejection tells the agent why, an approval may change the arguments', async () => {
    const id = await project('Changes', { 'notes.md': 'old\n' })
    upstream.enqueue(write('first try\n'), write('second try\n'), turn.text('Done as you like.'))
    const page = await visitor.open(server.url, { phone: true })
    // Sent before the list of projects has come: the message belongs to the project of the address all the same.
    let listProjects = (): void => undefined
    const asked = new Promise<void>((resolve) => {
      listProjects = resolve
    })
    await page.route(/\/api\/projects\?/, (route) => asked.then(() => route.continue()))
    await page.goto(`${server.url}/?project=${id}`)
    await say(page, 'Change my notes.')
    await card(page).getByText('first try').waitFor()
    listProjects()
    await expectNoSideways(page)
    await card(page).getByRole('button', { name: 'Reject' }).click()
    await card(page).getByLabel(/^Why/).fill('Too short.')
    await card(page).getByRole('button', { name: 'Reject' }).click()
    await card(page).getByText('second try').waitFor()
    expect(JSON.stringify(upstream.requests.at(-1)?.messages)).toContain('Too short.')
    await card(page).getByRole('button', { name: 'Change…' }).click()
    const changed = card(page).getByLabel('Arguments')
    await changed.fill('{"path": ')
    await card(page).getByText('valid JSON').waitFor()
    await changed.fill('{"path":"notes.md","content":"my own\\n"}')
    await card(page).getByRole('button', { name: 'Approve with changes' }).click()
    await page.getByText('Done as you like.').waitFor()
    expect(await content(id, 'notes.md')).toBe('my own\n')

    // Everything since the message is taken back.
    await page
      .getByRole('article', { name: 'Your message' })
      .getByRole('button', { name: 'Undo file changes since here' })
      .click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Restore' }).click()
    await page.getByText('1 file restored.').waitFor()
    expect(await content(id, 'notes.md')).toBe('old\n')
    await leave(page)
  })

  test('a folder is uploaded, edited, searched, compared and restored', async () => {
    mkdirSync(join(folder, 'shop/src'), { recursive: true })
    writeFileSync(join(folder, 'shop/README.md'), '# Shop\n')
    writeFileSync(join(folder, 'shop/src/price.ts'), 'export const price = 48\n')
    const page = await visitor.open(`${server.url}/projects`)
    await page.getByRole('button', { name: 'Upload a folder' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input[type=file]').setInputFiles(join(folder, 'shop'))
    await dialog.getByText('2 files').waitFor()
    expect(await dialog.getByLabel('Name').inputValue()).toBe('shop')
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click()

    await page.getByText('src', { exact: true }).click()
    await page.getByText('price.ts').click()
    const editor = page.locator('.cm-content')
    await editor.getByText('price = 48').waitFor()
    await editor.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('// checked')
    await page.getByText('unsaved', { exact: true }).waitFor()
    // Another file is not opened over unsaved changes without asking.
    await page.getByText('README.md').click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    await editor.click()
    await page.keyboard.press('Control+s')
    await page.getByText('unsaved', { exact: true }).waitFor({ state: 'hidden' })
    const id = page.url().split('/').at(-1) ?? ''
    expect(await content(id, 'src/price.ts')).toBe('export const price = 48\n// checked')

    // Somebody else writes meanwhile: nothing is overwritten unasked.
    await server.call('PUT', `/api/projects/${id}/files/src/price.ts`, {
      body: { content: 'theirs\n' },
    })
    await editor.click()
    await page.keyboard.type('!')
    await page.keyboard.press('Control+s')
    await page.getByRole('alert').getByText('changed this file').waitFor()
    expect(await content(id, 'src/price.ts')).toBe('theirs\n')
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
    expect(await content(id, 'src/price.ts')).toBe('export const price = 48\n// checked')
    await leave(page)
  })

  test('an upload that is called off is none, and one that is refused says why', async () => {
    mkdirSync(join(folder, 'refused'), { recursive: true })
    writeFileSync(join(folder, 'refused/a\u202eb.txt'), 'x')
    const page = await visitor.open(`${server.url}/projects`)
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
    expect(page.url()).toBe(`${server.url}/projects`)
    await leave(page)
  })

  test('files and folders dropped on the tree are stored after a question, whatever they hold', async () => {
    const id = await project('Dropped', { 'here.md': 'here\n' })
    mkdirSync(join(folder, 'drop/inner'), { recursive: true })
    writeFileSync(join(folder, 'drop/inner/new.md'), 'new\n')
    writeFileSync(join(folder, 'drop/inner/data.bin'), Buffer.from([0, 255, 254, 0]))
    writeFileSync(join(folder, 'here.md'), 'theirs\n')
    const page = await visitor.open(`${server.url}/projects/${id}`)
    const tree = page.getByRole('navigation', { name: 'Files' })
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
    expect(await content(id, 'here.md')).toBe('here\n')
    await question.getByRole('button', { name: 'Add', exact: true }).click()
    await tree.getByText('drop', { exact: true }).click()
    await tree.getByText('inner', { exact: true }).click()
    await tree.getByText('new.md').waitFor()
    expect(await content(id, 'drop/inner/new.md')).toBe('new\n')
    expect(await content(id, 'here.md')).toBe('theirs\n')
    const binary = await fetch(`${server.url}/api/projects/${id}/files/drop/inner/data.bin?raw=1`)
    expect([...new Uint8Array(await binary.arrayBuffer())]).toEqual([0, 255, 254, 0])
    await page.getByText('3 files added.').waitFor()
    await leave(page)
  })

  test('an upload into a project shows how far it is, can be called off, and says why it was refused', async () => {
    const id = await project('Adding', { 'here.md': 'here\n', 'kept/1.md': 'one\n' })
    const page = await visitor.open(`${server.url}/projects/${id}`)
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
      await question.getByRole('button', { name: 'Add', exact: true }).click()
    }
    await offer('data.bin')
    await page.getByRole('progressbar').waitFor()
    await expectAccessible(page)
    const calledOff = page.waitForEvent('requestfailed')
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect((await calledOff).url()).toContain(`/api/projects/${id}/files`)
    await page.getByRole('progressbar').waitFor({ state: 'detached' })
    held = false
    await offer('kept')
    await page.getByText('"kept" is a folder').waitFor()
    await offer('data.bin')
    await page.getByText('1 file added.').waitFor()
    await page.getByRole('navigation', { name: 'Files' }).getByText('data.bin').waitFor()
    await leave(page)
  })

  test('what is not saved survives another tab and another page; a new file never takes the place of one', async () => {
    const id = await project('Unsaved', { 'a.md': 'first\n', 'b.md': 'second\n' })
    const page = await visitor.open(`${server.url}/projects/${id}`)
    const editor = page.locator('.cm-content')
    const unsaved = page.getByText('unsaved', { exact: true })
    await page.getByText('a.md').click()
    await editor.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('mine')
    await unsaved.waitFor()
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('tab', { name: 'Files' }).click()
    await editor.getByText('mine').waitFor()
    await page.getByRole('link', { name: 'Memory' }).click()
    await page.getByRole('link', { name: 'Projects' }).first().click()
    await page.getByRole('link', { name: /Unsaved/ }).click()
    await page.getByText('a.md').click()
    await editor.getByText('mine').waitFor()
    await unsaved.waitFor()
    await editor.click()
    await page.keyboard.press('Control+s')
    await unsaved.waitFor({ state: 'hidden' })
    expect(await content(id, 'a.md')).toBe('first\nmine')

    await page.getByRole('button', { name: 'New file' }).click()
    await page.getByRole('dialog').getByLabel('Path').fill('b.md')
    await page.keyboard.press('Enter')
    await page.getByText('There is a file "b.md" already').waitFor()
    expect(await content(id, 'b.md')).toBe('second\n')
    await leave(page)
  })

  test('a document is read in the background, and an answer made from it opens at its passage', async () => {
    const id = await project('Library', {})
    const page = await visitor.open(`${server.url}/projects/${id}`)
    await page.getByRole('tab', { name: 'Knowledge' }).click()
    await page
      .getByRole('tabpanel')
      .locator('input[type=file]')
      .setInputFiles({
        name: 'tea.md',
        mimeType: 'text/markdown',
        buffer: Buffer.from('# Tea\n\nWuyi tea is roasted over charcoal.\n'),
      })
    await page.getByText(/1 passage/).waitFor()
    upstream.enqueue(
      turn.toolCalls([{ name: 'search_knowledge', arguments: { query: 'charcoal' } }]),
      turn.text('Over charcoal.'),
    )
    await page.getByRole('button', { name: 'Chat in this project' }).click()
    await say(page, 'How is Wuyi tea roasted?')
    await page.getByText('Over charcoal.').waitFor()
    const sources = page.getByRole('region', { name: 'Sources' })
    await sources.getByRole('button', { name: '1 source' }).click()
    await sources.getByRole('list').getByRole('button', { name: 'tea.md' }).click()
    await page.getByRole('dialog', { name: 'tea.md' }).getByText('roasted over charcoal').waitFor()
    await leave(page)
  })
})
