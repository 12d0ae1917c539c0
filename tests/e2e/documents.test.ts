// What is searchable in a project, in a real browser: dropped files, long documents, and more documents than one page holds.
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { encodeText } from '../../server/lib/encodings.ts'
import { describeInBrowser, expectAccessible, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

/** Drops a text file on the element that the selector finds. */
const dropFile = (selector: string, name: string, text: string): string =>
  `(() => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
    for (const type of ['dragover', 'drop'])
      document.querySelector(${JSON.stringify(selector)})
        .dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))
  })()`

const chapters = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `## Chapter ${at}\n\n${`Topic ${at}. `.repeat(90)}`,
  ).join('\n\n')

describeInBrowser('the documents of a project', (visitor) => {
  const host = usePageServer(visitor)

  test('a dropped file is made searchable, and can be read from its beginning to its end', async () => {
    const id = await host.createProject('Novel', { 'here.md': 'here' })
    const page = await visitor.open(`${host.server.url}/projects/${id}`)
    const tree = page.getByRole('tree', { name: 'Files' })
    await tree.getByText('here.md').waitFor()
    await page.evaluate(dropFile('[role=tree]', 'novel.md', chapters(25)))
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Make searchable' }).click()
    const row = tree.getByRole('treeitem', { name: /novel\.md/ })
    await row.getByText('searchable', { exact: true }).waitFor({ state: 'attached' })
    await row.click()
    await page.getByRole('switch', { name: 'Searchable', checked: true }).waitFor()
    await page.getByRole('button', { name: /sections/ }).click()
    const dialog = page.getByRole('dialog', { name: 'novel.md' })
    await dialog.getByText('Chapter 0').first().waitFor()
    await expectAccessible(page)
    // Nothing is highlighted, because no citation names a passage.
    expect(await dialog.locator('section.bg-accent-soft').count()).toBe(0)
    const more = dialog.getByRole('button', { name: 'Show more' })
    for (let pages = 1; await more.isVisible(); pages += 1) {
      const count = await dialog.locator('section').count()
      await more.press('Enter')
      await expect.poll(() => dialog.locator('section').count()).toBeGreaterThan(count)
      expect(pages).toBeLessThan(20)
    }
    await dialog.getByText('Chapter 24').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('switch', { name: 'Searchable' }).press('Space')
    await row.getByText('searchable', { exact: true }).waitFor({ state: 'detached' })
    await leave(page)
  })

  test('a document that was read in the wrong encoding is read again in the one that the reader chooses', async () => {
    const id = await host.createProject('Budget', {})
    const buffer = encodeText('Смета: восемь стульев', { name: 'koi8-u', bom: false })
    const form = new FormData()
    form.append('files[]', new Blob([new Uint8Array(buffer ?? [])]), 'smeta.txt')
    const path = `${host.server.url}/api/projects/${id}/documents`
    expect((await fetch(path, { method: 'POST', body: form })).status).toBe(200)
    const page = await visitor.open(`${host.server.url}/projects/${id}`)
    const choice = page.getByRole('combobox', { name: 'Encoding' })
    await choice.waitFor()
    expect(await choice.inputValue()).toBe('koi8-u')
    await choice.selectOption('windows-1251')
    await expect
      .poll(async () => (await host.server.call('GET', `/api/projects/${id}/documents`)).json.data)
      .toMatchObject({ items: [{ status: 'ready', encoding: 'windows-1251' }] })
    await expect.poll(() => choice.inputValue()).toBe('windows-1251')
    await expectAccessible(page)
    await page.getByRole('button', { name: /smeta\.txt.*section/s }).click()
    const text = new TextDecoder('windows-1251').decode(buffer ?? undefined)
    await page.getByRole('dialog', { name: 'smeta.txt' }).getByText(text).waitFor()
    await leave(page)
  })

  test('a searchable text has one choice of its encoding, for reading and for the search', async () => {
    const id = await host.createProject('Letters', {})
    const bytes = encodeText('Смета: восемь стульев', { name: 'koi8-u', bom: false })
    const form = new FormData()
    form.append('files[]', new Blob([new Uint8Array(bytes ?? [])]), 'smeta.txt')
    const project = `/api/projects/${id}`
    const uploaded = await fetch(`${host.server.url}${project}/files`, {
      method: 'POST',
      body: form,
    })
    expect(uploaded.status).toBe(200)
    await host.server.call('POST', `${project}/searchable-files`, { body: { path: 'smeta.txt' } })
    const documents = async () =>
      (await host.server.call('GET', `${project}/documents`)).json.data.items
    await expect.poll(documents).toMatchObject([{ status: 'ready', encoding: 'koi8-u' }])
    const page = await visitor.open(`${host.server.url}/projects/${id}`)
    await page.getByRole('treeitem', { name: /smeta\.txt/ }).click()
    await page.getByText(/section/).waitFor()
    const choice = page.getByRole('combobox', { name: 'Encoding' })
    expect(await choice.count()).toBe(1)
    await choice.selectOption('windows-1251')
    const text = new TextDecoder('windows-1251').decode(bytes ?? undefined)
    await page.getByText(text).waitFor()
    await expect.poll(documents).toMatchObject([{ status: 'ready', encoding: 'windows-1251' }])
    expect(await choice.inputValue()).toBe('windows-1251')
    await leave(page)
  })

  test('a picture that the agent reads is small in the conversation, and large when it is pressed', async () => {
    const id = await host.createProject('Pictures', {})
    const form = new FormData()
    const picture = await sharp({
      create: { width: 1200, height: 900, channels: 3, background: '#357' },
    })
      .png()
      .toBuffer()
    form.append('files[]', new Blob([Uint8Array.from(picture)]), 'plan.png')
    const url = `${host.server.url}/api/projects/${id}/files`
    expect((await fetch(url, { method: 'POST', body: form })).status).toBe(200)
    const { json } = await host.server.call('POST', '/api/conversations', {
      body: { project_id: id },
    })
    host.upstream.enqueue(
      turn.toolCalls([{ name: 'file_read', arguments: { path: 'plan.png' } }]),
      turn.text('A plan.'),
    )
    const page = await visitor.open(`${host.server.url}/c/${json.data.id}`)
    await say(page, 'What is on the plan?')
    await page.getByText('A plan.').waitFor()
    const image = page
      .getByRole('article', { name: 'Answer' })
      .getByRole('img', { name: 'plan.png' })
    await image.waitFor()
    await expect.poll(async () => (await image.boundingBox())?.height).toBeGreaterThan(60)
    expect((await image.boundingBox())?.height).toBeLessThan(140)
    await image.click()
    await page.getByRole('dialog', { name: 'plan.png' }).waitFor()
    await page.keyboard.press('Escape')
    await leave(page)
  })

  test('from a cited passage, a reader gets to the text before it', async () => {
    const id = await host.createProject('Cited', {})
    const form = new FormData()
    form.append('files[]', new Blob([chapters(25)]), 'novel.md')
    const path = `/api/projects/${id}/documents`
    await fetch(`${host.server.url}${path}`, { method: 'POST', body: form })
    const document = async () => (await host.server.call('GET', path)).json.data.items[0]
    await expect.poll(async () => (await document()).status).toBe('ready')
    const { id: documentId } = await document()
    const page = await visitor.open(
      `${host.server.url}/projects/${id}?document=${documentId}&passage=14`,
    )
    const dialog = page.getByRole('dialog', { name: 'novel.md' })
    await dialog.locator('section.bg-accent-soft').waitFor()
    const earlier = dialog.getByRole('button', { name: 'Show earlier text' })
    await earlier.click()
    await earlier.click()
    await dialog.getByText('Chapter 0').first().waitFor()
    await earlier.waitFor({ state: 'detached' })
    await leave(page)
  })

  test('documents that are no files are below them, also those that one request does not return', async () => {
    const id = await host.createProject('Archive', { 'here.md': 'here' })
    for (let from = 0; from < 120; from += 40) {
      const form = new FormData()
      for (let at = from; at < from + 40; at += 1)
        form.append('files[]', new Blob([`Note ${at}`]), `note-${at}.txt`)
      const path = `${host.server.url}/api/projects/${id}/documents`
      expect((await fetch(path, { method: 'POST', body: form })).status).toBe(200)
    }
    const page = await visitor.open(`${host.server.url}/projects/${id}`)
    const documents = page.getByRole('region', { name: 'Documents for search only' })
    const rows = documents.getByRole('button', { name: /^note-/ })
    await expect.poll(() => rows.count()).toBe(100)
    await documents.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBe(120)
    await documents.getByRole('button', { name: 'Remove note-119.txt' }).click()
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: /^Remove/ })
      .click()
    await expect.poll(() => rows.count()).toBe(119)
    await leave(page)
  })
})
