// Documents as models read them: whole, with page marks; a hostile document fails without affecting others.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { extractPassages, extractText } from '../../../server/knowledge/extract.ts'
import { bombed, presentation, workbook } from '../../support/documents.ts'

const fixture = (name: string): Buffer =>
  readFileSync(join(import.meta.dirname, '../../fixtures/documents', name))
const signal = new AbortController().signal
const textOf = (name: string, bytes: string | Uint8Array) =>
  extractText(name, typeof bytes === 'string' ? Buffer.from(bytes) : bytes, { signal })

describe('the whole text of a document', () => {
  test('the pages of a PDF are marked', async () => {
    const found = await textOf('handbook.pdf', fixture('handbook-zh.pdf'))
    if (!found.ok) throw new Error(found.failure.message)
    expect(found.pages).toBeGreaterThan(0)
    expect(found.text).toMatch(/^\[Page 1\]\n/)
  })

  test('slides are read in the order in which they are shown', async () => {
    expect(await textOf('talk.pptx', presentation(['First', 'Second &lt;b&gt;']))).toMatchObject({
      ok: true,
      pages: 2,
      text: '[Page 1]\nFirst\nsecond line\n[Page 2]\nSecond <b>\nsecond line',
    })
  })

  test('cells are read row by row, with dates as dates and empty cells in place', async () => {
    const rows = [
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>',
      '<row r="2"><c r="A2" s="1"><v>45000</v></c><c r="B2"><v>1.5</v></c><c r="C2" t="b"><v>1</v></c></row>',
      '<row r="3"><c r="A3" s="1"><v>45000.75</v></c><c r="B3" t="inlineStr"><is><t>in\nline</t></is></c></row>',
    ].join('')
    expect(await textOf('table.xlsx', workbook(rows, ['Day', 'Paid']))).toMatchObject({
      ok: true,
      pages: 1,
      text: '[Page 1]\nSales & more\nDay\t\tPaid\n2023-03-15\t1.5\tTRUE\n2023-03-15 18:00:00\tin line',
    })
  })

  test('a workbook with macros and a slide show are known by their content', async () => {
    const cell = '<row r="1"><c r="A1"><v>7</v></c></row>'
    expect(await textOf('table.xlsm', workbook(cell))).toMatchObject({
      text: '[Page 1]\nSales & more\n7',
    })
    for (const name of ['talk.ppsx', 'talk.bin'])
      expect(await textOf(name, presentation(['First'])), name).toMatchObject({
        text: expect.stringContaining('First'),
      })
  })

  test('text, tables and source code are returned unchanged', async () => {
    for (const [name, text] of [
      ['data.csv', 'a,b\n1,2\n'],
      ['page.html', '<h1>Hi</h1>'],
      ['code.py', 'def f():\n\treturn 1\n'],
    ] as const)
      expect(await textOf(name, text)).toEqual({
        ok: true,
        text,
        characters: text.length,
        pages: null,
        failure: null,
        encoding: 'utf-8',
      })
    expect(await textOf('notice.txt', fixture('notice-gbk.txt'))).toMatchObject({
      ok: true,
      text: expect.stringMatching(/[\u4e00-\u9fff]/),
    })
  })

  test('only the first two million characters of a very long text are stored, and all are counted', async () => {
    const found = await textOf('long.txt', `${'x'.repeat(2_500_000)}end`)
    if (!found.ok) throw new Error(found.failure.message)
    expect([found.text.length, found.characters]).toEqual([2_000_000, 2_500_003])
  })

  test('a damaged document, a mislabelled one and a zip bomb each fail alone, with a reason', async () => {
    const reasonOf = async (name: string, bytes: string | Uint8Array) => {
      const found = await textOf(name, bytes)
      return found.ok ? 'ok' : found.failure.reason
    }
    expect(await reasonOf('a.xlsx', bombed('xl/workbook.xml', 70_000_000))).toBe(
      'document_office_damaged',
    )
    expect(await reasonOf('a.pptx', Buffer.from('PK\x03\x04broken', 'latin1'))).toBe(
      'document_office_damaged',
    )
    // The content decides, whatever the name says.
    expect(await reasonOf('a.pptx', workbook(''))).toBe('document_empty')
    expect(await reasonOf('a.xlsx', 'no archive')).toBe('document_not_what_its_name_says')
    expect(await reasonOf('a.xlsx', workbook(''))).toBe('document_empty')
    expect(await reasonOf('a.pdf', '%PDF-1.7 broken')).toMatch(/^document_pdf_damaged$/)
  })

  test('sheets and slides can be documents of a project, too', async () => {
    const found = await extractPassages('talk.pptx', presentation(['A walrus', 'B']), { signal })
    expect(found).toMatchObject({
      ok: true,
      passages: [{ page: 1, text: 'A walrus\nsecond line' }, { page: 2 }],
    })
  })
})
