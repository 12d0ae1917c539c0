// The documents of a project in a real browser: dropping, reading long ones, and more of them than one page holds.
import { expect, test } from 'vitest'
import { encodeText } from '../../server/lib/encodings.ts'
import { describeInBrowser, expectAccessible, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'

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

  test('a dropped document can be read from its beginning to its end', async () => {
    const id = await host.createProject('Novel', {})
    const page = await visitor.open(`${host.server.url}/projects/${id}`)
    await page.getByRole('tab', { name: 'Knowledge' }).click()
    await page.getByText('No documents yet').waitFor()
    await page.evaluate(dropFile('section[aria-label=Knowledge]', 'novel.md', chapters(25)))
    await page.getByRole('button', { name: /novel\.md.*sections/s }).click()
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
    await leave(page)
  })

  test('a document that was read in the wrong encoding is read again in the one that the reader chooses', async () => {
    const id = await host.createProject('Budget', {})
    const page = await visitor.open(`${host.server.url}/projects/${id}`)
    await page.getByRole('tab', { name: 'Knowledge' }).click()
    const buffer = encodeText('Смета: восемь стульев', { name: 'koi8-u', bom: false })
    await page
      .locator('section[aria-label=Knowledge] input[type=file]')
      .setInputFiles([{ name: 'smeta.txt', mimeType: 'text/plain', buffer: buffer ?? Buffer.of() }])
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

  test('a project shows all its documents, and an upload can be cancelled', async () => {
    const id = await host.createProject('Archive', {})
    const page = await visitor.open(`${host.server.url}/projects/${id}`)
    await page.getByRole('tab', { name: 'Knowledge' }).click()
    // More than one request may hold.
    await page.locator('section[aria-label=Knowledge] input[type=file]').setInputFiles(
      Array.from({ length: 120 }, (_, at) => ({
        name: `note-${at}.txt`,
        mimeType: 'text/plain',
        buffer: Buffer.from(`Note ${at}`),
      })),
    )
    const rows = page.getByRole('button', { name: /^note-/ })
    await expect.poll(() => rows.count()).toBe(100)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBe(120)

    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/documents', async (route) => {
      if (route.request().method() === 'POST') await held
      await route.abort()
    })
    await page.evaluate(dropFile('section[aria-label=Knowledge]', 'late.txt', 'Late'))
    await page.getByRole('progressbar').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('progressbar').waitFor({ state: 'detached' })
    release()
    await leave(page)
  })
})
