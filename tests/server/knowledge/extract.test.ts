// Extracting passages from real files of every supported type, in a real child process.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Extraction, extractPassages } from '../../../server/knowledge/extract.ts'

const fixtures = join(import.meta.dirname, '../../fixtures/documents')
const fixture = (name: string) => readFile(join(fixtures, name))
const read = (name: string, bytes: Uint8Array | string, more: object = {}): Promise<Extraction> =>
  extractPassages(name, typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes, {
    signal: new AbortController().signal,
    ...more,
  })
const passagesOf = async (name: string, bytes: Uint8Array | string) => {
  const extraction = await read(name, bytes)
  if (!extraction.ok) throw new Error(extraction.failure.message)
  return extraction.passages
}

describe('the passages of a document', () => {
  test('have the pages, headings and searchable characters of a Chinese PDF', async () => {
    const passages = await passagesOf('handbook.pdf', await fixture('handbook-zh.pdf'))
    expect(passages).toContainEqual({
      heading: '第二章 年假',
      page: 2,
      text: expect.stringContaining('工作满一年的员工每年享有十二天带薪年假'),
    })
    expect(passages.at(-1)).toMatchObject({ heading: '第三章 报销', page: 3 })
  })

  test('have the headings, paragraphs and table rows of a DOCX file', async () => {
    const passages = await passagesOf('travel.docx', await fixture('travel.docx'))
    expect(passages[0]).toMatchObject({
      heading: 'Travel rules',
      text: expect.stringContaining('Book early'),
    })
    expect(passages[1]).toMatchObject({
      heading: 'Travel rules > Per diem',
      text: expect.stringMatching(/Lisbon \| 85\s+Oslo \| 120/),
    })
  })

  test('begin at the headings of Markdown, but not at a # in a code block', async () => {
    const passages = await passagesOf(
      'guide.md',
      '# Guide\nintro\n\n## Set *up*\n```sh\n# not a heading\nnpm ci\n```\n\nUse\n---\nthis way\n# Next\nend',
    )
    expect(passages.map(({ heading }) => heading)).toEqual([
      'Guide',
      'Guide > Set up',
      'Guide > Use',
      'Next',
    ])
    expect(passages[1]?.text).toContain('# not a heading')
  })

  test('have the text of a web page without scripts and menus', async () => {
    const page = `<html><head><title>Bread</title><script>alert(1)</script></head><body><nav><a href="/">Home</a></nav>
      <article><h1>Bread</h1><p>${'Flour, water, salt and time. '.repeat(30)}</p><h2>Oven</h2><p>${'Bake it hot and short. '.repeat(30)}</p></article></body></html>`
    const passages = await passagesOf('bread.html', page)
    const text = JSON.stringify(passages)
    expect(text).toContain('Bake it hot')
    expect(text).not.toContain('alert')
    expect(passages.some(({ heading }) => heading?.includes('Oven'))).toBe(true)
  })

  test('name the columns in each row of a CSV file, also with quoted fields and semicolons', async () => {
    const table = 'name;stock;note\nnail;12;"long; thin"\nscrew;;new\n'
    expect(await passagesOf('stock.csv', table)).toEqual([
      {
        heading: 'rows 1-2',
        page: null,
        text: 'name: nail; stock: 12; note: long; thin\nname: screw; note: new',
      },
    ])
  })

  test('name the columns of a CSV file below the line of Excel that names the separator, and below a title', async () => {
    const rows = { heading: 'rows 1-1', page: null, text: 'name: nail; price: 1,20' }
    expect(await passagesOf('excel.csv', 'sep=;\r\nname;price\r\nnail;1,20\r\n')).toEqual([rows])
    const report = 'Account statement\n\nMarch 2026;\nname;price\nnail;1,20\n'
    expect(await passagesOf('report.csv', report)).toEqual([
      { heading: null, page: null, text: 'Account statement\nMarch 2026' },
      rows,
    ])
    expect(await passagesOf('list.csv', 'name\nnail\n')).toMatchObject([{ text: 'name: nail' }])
  })

  test('have the characters of plain text in UTF-8, UTF-16 and GBK', async () => {
    expect(await passagesOf('a.txt', 'grüße')).toMatchObject([{ text: 'grüße' }])
    const wide = Buffer.from('\uFEFF你好', 'utf16le')
    expect(await passagesOf('b.txt', wide)).toMatchObject([{ text: '你好' }])
    expect(await passagesOf('c.txt', await fixture('notice-gbk.txt'))).toMatchObject([
      { text: expect.stringContaining('下周一放假') },
    ])
  })

  test('are short for a long text and together contain all of it', async () => {
    const sentence = '这是一个很长的段落,里面没有换行。'
    const passages = await passagesOf('long.txt', sentence.repeat(500))
    expect(passages.length).toBeGreaterThan(5)
    for (const { text } of passages) expect(text.length).toBeLessThan(1_500)
    expect(passages.map(({ text }) => text.replace(/\s/g, '')).join('')).toBe(sentence.repeat(500))
  })
})

describe('a bad file', () => {
  test.each([
    ['empty.txt', '', 'it contains no text'],
    ['broken.pdf', '%PDF-1.7 nothing', 'the PDF is damaged'],
    ['fake.pdf', 'hello', 'its name ends in .pdf, but its content has a different format'],
    ['broken.docx', 'PK\u0003\u0004 nothing', 'the DOCX file is damaged'],
    ['photo.png', '\u0089PNG\u0000\u0001', 'it is a binary file'],
    ['sheet.ods', 'PK\u0003\u0004', '.ods archives are not supported'],
  ])('%s fails with its reason', async (name, content, reason) => {
    const answer = await read(name, Buffer.from(content, 'latin1'))
    expect(answer).toMatchObject({
      ok: false,
      failure: { message: expect.stringContaining(reason) },
    })
  })

  test('fails when it is a page nested 20,000 deep', async () => {
    const answer = await read('deep.html', '<div>'.repeat(20_000))
    expect(answer).toMatchObject({ ok: false, failure: { reason: 'document_page_too_deep' } })
  })

  test('fails when it unpacks to far more than its size', async () => {
    const bomb = await fixture('bomb.docx')
    const answer = await read('bomb.docx', bomb, { maxMemory: 300 * 1024 * 1024 })
    expect(answer).toMatchObject({ ok: false })
  })

  test('fails when it takes too long or is cancelled', async () => {
    const slow = await read('a.txt', 'x', { timeoutMs: 1 })
    expect(slow).toMatchObject({ ok: false, failure: { reason: 'document_reading_too_slow' } })
    const cancelled = await read('a.txt', 'x', { signal: AbortSignal.abort() })
    expect(cancelled).toMatchObject({ ok: false, failure: { reason: 'document_reading_stopped' } })
  })
})
