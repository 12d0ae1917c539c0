// Extracts the main content of a page as Markdown, without navigation and other page chrome.
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import { createMarkdownWriter, withoutLiteralMarks } from '../lib/html-markdown.ts'

/** The part of a page that people read, as Markdown. */
export interface MainContent {
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
export function readMainContent(html: string, url: string): MainContent | null {
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
