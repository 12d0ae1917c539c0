// Extracts the requested form (text, links or structure) from the bytes of a fetched resource.
import { isUtf8 } from 'node:buffer'
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import {
  byteOrderMark,
  type DecodedText,
  declaredBy,
  decodeDeclared,
  decodeText,
} from '../lib/encodings.ts'
import { createMarkdownWriter, withoutLiteralMarks } from '../lib/html-markdown.ts'
import { pdfPageText, readPdfPages, unreadableNote, XfaForm } from '../lib/pdf.ts'
import { outlinePage, type PageOutline } from './page-content/page-outline.ts'

/** The form in which to extract a page. */
export type ExtractType = 'text' | 'links' | 'structured'

/** A downloaded page to extract content from. */
export interface PageJob {
  body: Uint8Array
  contentType: string
  url: string
  extract: ExtractType
  /** Whether to skip everything that may be slow or recursive, for the second attempt at a page. */
  plain: boolean
}

/** The extracted data, or an `error` that explains to the model why there is none, and its reason for everybody else. */
export type PageContent =
  | { ok: true; data: Record<string, unknown> }
  | { ok: false; error: string; reason: 'page_unreadable' | 'page_without_text' }

const MAX_LINKS = 100
/** Limits beyond pages made for people. Building a larger tree would take too long or overflow the stack. */
const MAX_DEPTH = 500
const MAX_ELEMENTS = 60_000
const MAX_PDF_PAGES = 5_000
const MAX_STRUCTURED_CHARACTERS = 5_000
const MAX_STRUCTURED_LINKS = 20

/** Reads what a URL responded with, by its declared type and by its first bytes. */
export async function readPage(job: PageJob): Promise<PageContent> {
  const type = job.contentType.split(';')[0]?.trim() ?? ''
  if (type === 'application/pdf' || startsWith(job.body, '%PDF-')) return readPdf(job)
  const decoded = decodePage(job.body, job.contentType)
  if (decoded === null)
    return {
      ok: false,
      error: 'This is a binary file, not a text page.',
      reason: 'page_without_text',
    }
  const content = readText(decoded.text, type, job)
  if (!content.ok || decoded.isSure) return content
  return { ok: true, data: { ...content.data, encoding_guessed: decoded.encoding.name } }
}

function readText(text: string, type: string, job: PageJob): PageContent {
  const isHtml =
    type.includes('html') ||
    (!type.includes('/json') && /^\s*<(?:!doctype html|html|head|body)\b/i.test(text))
  if (isHtml) return { ok: true, data: readHtml(text, job) }
  if (job.extract === 'links') return { ok: true, data: { links: linksInText(text) } }
  if (job.extract === 'structured' && type.endsWith('json')) {
    try {
      return { ok: true, data: { json: JSON.parse(text) } }
    } catch {
      return {
        ok: false,
        error: 'The page is declared as JSON but is not valid JSON.',
        reason: 'page_unreadable',
      }
    }
  }
  return { ok: true, data: { text } }
}

function readHtml(html: string, { url, extract, plain }: PageJob): Record<string, unknown> {
  const outline = outlinePage(html, url)
  if (extract === 'links')
    return {
      title: outline.title,
      links: outline.links.slice(0, MAX_LINKS),
      total_links: outline.links.length,
    }
  const simple = outline.depth <= MAX_DEPTH && outline.elements <= MAX_ELEMENTS
  const main = plain || !simple ? null : mainContent(html, url)
  const text = main?.markdown ?? outline.text
  if (extract === 'text') return { title: outline.title || (main?.title ?? ''), text }
  return { ...structureOf(outline), text: text.slice(0, MAX_STRUCTURED_CHARACTERS) }
}

function structureOf(outline: PageOutline): Record<string, unknown> {
  const { title, description, author, published, language, headings, links } = outline
  return {
    title,
    description,
    ...(author === '' ? {} : { author }),
    ...(published === '' ? {} : { published }),
    ...(language === '' ? {} : { language }),
    headings: headings.slice(0, 50),
    links: links.slice(0, MAX_STRUCTURED_LINKS),
  }
}

function mainContent(html: string, url: string): ReturnType<typeof readMainContent> {
  try {
    return readMainContent(html, url)
  } catch {
    // Too deeply nested for a tree, or markup that crashes the library. The outline handles both.
    return null
  }
}

async function readPdf({ body, extract, url }: PageJob): Promise<PageContent> {
  try {
    const pages = await readPdfPages(new Uint8Array(body), MAX_PDF_PAGES)
    if (pages.every((page) => pdfPageText(page) === ''))
      return {
        ok: false,
        error: 'This PDF contains no text; it is probably scanned.',
        reason: 'page_without_text',
      }
    const whole = pages
      .map((page, index) =>
        [`[page ${index + 1}]`, unreadableNote(page), pdfPageText(page)]
          .filter((part) => part !== null && part !== '')
          .join('\n'),
      )
      .join('\n\n')
    if (extract === 'links') return { ok: true, data: { links: linksInText(whole) } }
    const title = new URL(url).pathname.split('/').at(-1) ?? ''
    return { ok: true, data: { title, pages: pages.length, text: whole } }
  } catch (error) {
    if (error instanceof XfaForm)
      return {
        ok: false,
        error: 'This PDF is a form in Adobe’s XFA format, which only Adobe’s programs show.',
        reason: 'page_without_text',
      }
    return {
      ok: false,
      error: 'This PDF is damaged, password-protected or larger than the size limit.',
      reason: 'page_unreadable',
    }
  }
}

const linksInText = (text: string): { text: string; href: string }[] =>
  [...new Set(text.match(/https?:\/\/[^\s<>"')\]}]{1,2000}/g) ?? [])]
    .slice(0, MAX_LINKS)
    .map((href) => ({ text: href, href }))

const startsWith = (body: Uint8Array, text: string): boolean =>
  Buffer.from(body.subarray(0, text.length)).toString('latin1') === text

/**
 * Decodes by byte order mark, then the header, then the declaration at the start of the page. What is declared does not count if
 * the bytes do not fit it, or if they are UTF-8 all the same: then, and without a declaration, the text itself decides.
 */
function decodePage(
  body: Uint8Array,
  contentType: string,
): (DecodedText & { isSure: boolean }) | null {
  const isProven = byteOrderMark(body) !== null || isUtf8(body)
  const byHeader = /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1]
  const asDeclared = isProven || byHeader === undefined ? null : decodeDeclared(body, byHeader)
  const decoded = asDeclared ?? decodeText(body)
  const isSure = isProven || asDeclared !== null || declaredBy(body) !== null
  return decoded && { ...decoded, isSure }
}

/** The part of a page that people read, as Markdown. */
interface MainContent {
  title: string
  markdown: string
}

/** With less text than this, the extraction most likely missed the content. */
const MIN_CHARACTERS = 200

/**
 * Returns null when the page has no recognizable main content; use its whole text then. Builds and walks trees recursively:
 * throws RangeError on absurdly nested pages and may be slow on large ones, so call it only in a worker thread with a time
 * limit.
 */
function readMainContent(html: string, url: string): MainContent | null {
  const { document } = parseHTML(html)
  const article = new Readability(document, { charThreshold: MIN_CHARACTERS }).parse()
  if (!article?.content || (article.textContent ?? '').trim().length < MIN_CHARACTERS) return null
  const turndown = createMarkdownWriter({ bulletListMarker: '-', framesRows: true })
  turndown.addRule('link', {
    filter: 'a',
    replacement: (text, node) => {
      const href = node.getAttribute('href') ?? ''
      const label = text.replace(/\s+/g, ' ').trim()
      if (label === '' || href.startsWith('#') || !URL.canParse(href, url)) return label
      const target = new URL(href, url)
      return /^https?:$/.test(target.protocol) ? `[${label}](${target.href})` : label
    },
  })
  // Images are useless to a model, and inline ones can be longer than the page.
  turndown.remove('img')
  const markdown = withoutLiteralMarks(turndown.turndown(article.content))
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return markdown === '' ? null : { title: article.title ?? '', markdown }
}
