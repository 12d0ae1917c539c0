// Fetched pages as the model receives them, from a site on loopback: main content, links, structure, PDF, encodings.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createPageReader } from '../../../../server/net/page-reader.ts'
import { createPageTools } from '../../../../server/tools/builtin/web/fetch-page.ts'
import type { ToolDefinition } from '../../../../server/tools/definition.ts'
import { pdfOf } from '../../../support/documents.ts'
import { runTool } from '../support.ts'
import { dataOf, html, useWeb } from './use-web.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures/documents')
const web = useWeb()
const { fetch, pages, at } = web
const [fetchPage, crawlBatch] = createPageTools({ fetch, pages }) as [
  ToolDefinition,
  ToolDefinition,
]

describe('fetch_page', () => {
  test('reads the main content of a page as Markdown, without menus and footers', async () => {
    const prose = 'The quick brown fox jumps over the lazy dog, again and again. '.repeat(20)
    web.site.serve(
      '/article',
      'text/html',
      html(`<nav>Menu <a href="/x">x</a></nav><article><h1>Foxes</h1><p>${prose}</p>
        <p>See <a href="more">more</a>.</p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
        <script>alert(1)</script></article><footer>Imprint</footer>`),
    )
    const page = await dataOf(fetchPage, { url: at('/article') })
    expect(page).toMatchObject({ url: at('/article'), title: 'A page' })
    expect(page.text).toContain('The quick brown fox')
    expect(page.text).toContain(`[more](${at('/more')})`)
    expect(page.text).toContain('| 1 | 2 |')
    expect(page.text).not.toMatch(/Menu|Imprint|alert/)
  })

  test('reads a short page completely', async () => {
    web.site.serve(
      '/short',
      'text/html',
      html('<h1>Hi</h1><ul><li>one</li><li>two &amp; three</li></ul>'),
    )
    const page = await dataOf(fetchPage, { url: at('/short') })
    expect(page.text).toBe('# Hi\n\n- one\n\n- two & three')
  })

  test('lists absolute links, each once', async () => {
    web.site.serve(
      '/links',
      'text/html',
      html(`<a href="/a">A</a><a href="/a">again</a><a href="b?x=1">B</a><a href="#c">C</a>
        <a href="javascript:alert(1)">D</a><a href="mailto:x@y">E</a><a href="https://other.test/">F</a>`),
    )
    const page = await dataOf(fetchPage, { url: at('/links'), extract_type: 'links' })
    expect(page.links).toEqual([
      { text: 'A', href: at('/a') },
      { text: 'B', href: at('/b?x=1') },
      { text: 'F', href: 'https://other.test/' },
    ])
  })

  test('returns the structure of a page', async () => {
    const head =
      '<meta name="description" content="About  things"><meta name="author" content="Ann"><meta property="article:published_time" content="2026-01-02">'
    web.site.serve(
      '/structured',
      'text/html',
      html('<h1>One</h1><h2>Two</h2><a href="/a">A</a>', head),
    )
    const page = await dataOf(fetchPage, { url: at('/structured'), extract_type: 'structured' })
    expect(page).toMatchObject({
      title: 'A page',
      description: 'About things',
      author: 'Ann',
      published: '2026-01-02',
      language: 'en',
      headings: [
        { level: 1, text: 'One' },
        { level: 2, text: 'Two' },
      ],
      links: [{ text: 'A', href: at('/a') }],
    })
  })

  test('reads plain text and JSON unchanged', async () => {
    web.site.serve('/plain', 'text/plain; charset=utf-8', 'just text\nhttp://site.test/x.')
    expect(await dataOf(fetchPage, { url: at('/plain') })).toMatchObject({
      text: 'just text\nhttp://site.test/x.',
    })
    web.site.serve('/json', 'application/json', '{"a":[1]}')
    expect(await dataOf(fetchPage, { url: at('/json') })).toMatchObject({ text: '{"a":[1]}' })
    expect(await dataOf(fetchPage, { url: at('/json'), extract_type: 'structured' })).toMatchObject(
      {
        json: { a: [1] },
      },
    )
  })

  test('reads a PDF and reports a damaged one', async () => {
    web.site.serve('/paper.pdf', 'application/pdf', pdfOf('Hello from a PDF', ''))
    const page = await dataOf(fetchPage, { url: at('/paper.pdf') })
    expect(page).toMatchObject({ title: 'paper.pdf', pages: 2 })
    expect(page.text).toContain('Hello from a PDF')
    expect(page.text).toContain('[page 2]\n[No text could be read from this page')
    web.site.serve('/broken.pdf', 'application/pdf', '%PDF-1.4 nothing')
    expect(await runTool(fetchPage, { url: at('/broken.pdf') })).toMatchObject({
      success: false,
      error: expect.stringContaining('damaged'),
    })
  })

  test('reads a PDF whose fonts are not embedded and name a predefined CMap', async () => {
    web.site.serve(
      '/invoice.pdf',
      'application/pdf',
      readFileSync(join(FIXTURES, 'invoice-unigb.pdf')),
    )
    const page = await dataOf(fetchPage, { url: at('/invoice.pdf') })
    expect(page.text).toContain('电子发票：价税合计一百元')
  })

  test('detects the character set from the header, the page or a byte order mark', async () => {
    const chinese = Buffer.from([0xc4, 0xe3, 0xba, 0xc3]) // 你好 in GBK
    web.site.serve('/gbk', 'text/plain; charset=GBK', chinese)
    expect(await dataOf(fetchPage, { url: at('/gbk') })).toMatchObject({ text: '你好' })
    const meta = Buffer.concat([Buffer.from('<html><meta charset="gb2312"><p>'), chinese])
    web.site.serve('/meta', 'text/html', meta)
    expect(await dataOf(fetchPage, { url: at('/meta') })).toMatchObject({ text: '你好' })
    web.site.serve('/bom', 'text/plain', Buffer.from('\ufeffhéllo', 'utf16le'))
    expect(await dataOf(fetchPage, { url: at('/bom') })).toMatchObject({ text: 'héllo' })
  })

  test('finds the character set that a page does not name, or names wrongly', async () => {
    const german = Buffer.from('Grüße aus Köln', 'latin1')
    web.site.serve('/undeclared', 'text/plain', german)
    expect(await dataOf(fetchPage, { url: at('/undeclared') })).toMatchObject({
      text: 'Grüße aus Köln',
      encoding_guessed: 'windows-1252',
    })
    web.site.serve('/declared', 'text/plain; charset=iso-8859-1', german)
    expect(await dataOf(fetchPage, { url: at('/declared') })).not.toHaveProperty('encoding_guessed')
    web.site.serve('/wrong', 'text/plain; charset=utf-8', german)
    expect(await dataOf(fetchPage, { url: at('/wrong') })).toMatchObject({ text: 'Grüße aus Köln' })
    web.site.serve('/apache', 'text/plain; charset=iso-8859-1', Buffer.from('Grüße, 你好'))
    expect(await dataOf(fetchPage, { url: at('/apache') })).toMatchObject({ text: 'Grüße, 你好' })
  })

  test('marks a page that is cut at 5 MB', async () => {
    web.site.serve('/long', 'text/plain', 'x'.repeat(5_500_000))
    const page = await dataOf(fetchPage, { url: at('/long') })
    expect(String(page.text)).toHaveLength(5_000_000)
    expect(page).toMatchObject({ truncated: true, note: expect.stringContaining('5 MB') })
  })

  test('reads a page with 20,000 nested elements', async () => {
    web.site.serve('/deep', 'text/html', html(`${'<div>'.repeat(20_000)}deep down`))
    expect(await dataOf(fetchPage, { url: at('/deep') })).toMatchObject({ text: 'deep down' })
  })

  test('reads a page that takes too long in a simpler way, without delaying others', async () => {
    const impatient = createPageReader({ firstAttemptTimeoutMs: 300 })
    const [tool] = createPageTools({ fetch, pages: impatient }) as [ToolDefinition]
    web.site.serve('/endless', 'text/html', html('<'.repeat(1_500_000)))
    web.site.serve('/quick', 'text/html', html('<p>quick</p>'))
    const done: string[] = []
    const read = async (path: string): Promise<void> => {
      expect((await dataOf(tool, { url: at(path) })).title).toBe('A page')
      done.push(path)
    }
    await Promise.all([read('/endless'), read('/quick')])
    expect(done[0]).toBe('/quick')
    await impatient.close()
  })

  test.each([
    ['image/png', 'content type image/png'],
    ['application/zip', 'content type application/zip'],
    ['application/octet-stream', 'binary file'],
  ])('refuses %s', async (type, why) => {
    web.site.serve('/file', type, Buffer.from([0x50, 0, 1, 2]))
    expect(await runTool(fetchPage, { url: at('/file') })).toMatchObject({
      success: false,
      error: expect.stringContaining(why),
    })
  })

  test('fails for missing pages and private addresses, and names the page', async () => {
    expect(await runTool(fetchPage, { url: at('/nowhere') })).toMatchObject({
      error: `${at('/nowhere')}: The page responded with HTTP status 404.`,
    })
    const before = web.site.requests.length
    for (const url of [
      web.site.origin,
      `http://localhost:${web.site.port}`,
      `127.0.0.1:${web.site.port}/`,
    ])
      expect((await runTool(fetchPage, { url })).success).toBe(false)
    expect(web.site.requests.length).toBe(before)
  })
})

describe('crawl_batch', () => {
  test('reads several pages in order, and one failure does not fail the others', async () => {
    web.site.serve('/one', 'text/plain', 'first')
    web.site.serve('/two', 'text/plain', 'second')
    const urls = ['/one', '/nowhere', '/two'].map(at)
    expect(await dataOf(crawlBatch, { urls })).toMatchObject({
      total: 3,
      results: [
        { url: at('/one'), success: true, text: 'first' },
        { url: at('/nowhere'), success: false, error: expect.stringContaining('404') },
        { url: at('/two'), success: true, text: 'second' },
      ],
    })
  })

  test('refuses more than ten pages', async () => {
    const result = await runTool(crawlBatch, { urls: Array(11).fill(at('/one')) })
    expect(result).toMatchObject({ error: expect.stringContaining('At most 10 pages') })
  })
})
