// What is read from PDF files: fonts that are not embedded, forms, pages without text.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { extractPassages, extractText } from '../../../server/knowledge/extract.ts'
import { pdfOf } from '../../support/documents.ts'

const fixture = (name: string) =>
  readFile(join(import.meta.dirname, '../../fixtures/documents', name))
const options = { signal: new AbortController().signal }

describe('the text of a PDF', () => {
  test.each([
    ['invoice-unigb.pdf', '电子发票：价税合计一百元'],
    ['minutes-gbk.pdf', '会议纪要：出席人员名单'],
    ['seikyu-90ms.pdf', '請求書：合計金額一万円'],
    ['report-ksc.pdf', '보고서'],
    ['memo-etenb5.pdf', '會議紀錄與名單'],
  ])(
    'is complete when its fonts are not embedded and name a predefined CMap (%s)',
    async (name, text) => {
      const bytes = await fixture(name)
      const read = await extractText(name, bytes, options)
      expect(read).toMatchObject({ ok: true, failure: null })
      expect(read.ok && read.text).toContain(text)
      const found = await extractPassages(name, bytes, options)
      expect(JSON.stringify(found)).toContain(text)
    },
  )

  test('has the values of a form: typed texts and ticked boxes', async () => {
    const read = await extractText('form.pdf', await fixture('form.pdf'), options)
    expect(read.ok && read.text).toContain(
      'family_name: Castellanos\namount: 1,250.00 EUR\nagree: yes',
    )
  })

  test('has a title without text below it', async () => {
    const read = await extractText('titles.pdf', pdfOf('Only a title', 'Another title'), options)
    expect(read.ok && read.text).toContain('Another title')
  })

  test('of a form in XFA is not what its only page says, "Please wait", but the way to read it', async () => {
    const form = pdfOf('Please wait...').toString('latin1')
    const catalog = '/Catalog/Pages 2 0 R'
    const xfa = form.replace(catalog, `${catalog}/AcroForm<</Fields[]/XFA[(template) 3 0 R]>>`)
    expect(await extractText('form.pdf', Buffer.from(xfa, 'latin1'), options)).toMatchObject({
      ok: false,
      failure: { reason: 'document_pdf_xfa' },
    })
  })

  test('names the pages without text to the model and to the person', async () => {
    const scanned = pdfOf('Signed on paper', '', '', 'See above', '')
    const read = await extractText('contract.pdf', scanned, options)
    expect(read).toMatchObject({
      ok: true,
      failure: { reason: 'document_partly_read', params: { pages: '2-3, 5' } },
    })
    expect(read.ok && read.text).toMatch(
      /\[Page 2\]\n\[No text could be read from this page[^\n]+\n\[Page 3\]\n\[No text [^\n]+\n\[Page 4\]\nSee above\n\[Page 5\]\n\[No text/,
    )
    const found = await extractPassages('contract.pdf', pdfOf('Signed', ''), options)
    expect(found).toMatchObject({ ok: true, failure: { params: { pages: '2' } } })
  })
})
