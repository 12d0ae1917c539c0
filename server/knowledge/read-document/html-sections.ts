// Extracts the readable text of HTML with its headings, via Markdown.
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import { createMarkdownWriter, withoutLiteralMarks } from '../../lib/html-markdown.ts'
import type { Section } from '../passage.ts'
import { markdownSections } from './markdown-sections.ts'

/** A smaller share of the page's text means that Readability removed the wrong part. */
const MIN_READABLE_SHARE = 0.3

/** Deeper than any page that a person writes. On deeper pages, parsers take minutes or overflow the stack. */
const MAX_DEPTH = 1_000

/** Sections of a page or an e-book chapter. Throws RangeError when the page is nested too deeply. */
export function htmlSections(html: string): Section[] {
  if (depthOf(html) > MAX_DEPTH) throw new RangeError('nested too deeply')
  const { document } = parseHTML(html)
  for (const node of document.querySelectorAll('script, style, noscript, template, svg, iframe'))
    node.remove()
  const title = document.title.trim()
  const whole = document.body?.innerHTML ?? html
  const wholeLength = document.body?.textContent?.trim().length ?? 0
  const article = new Readability(document, { charThreshold: 200 }).parse()
  const readable = (article?.textContent?.trim().length ?? 0) >= wholeLength * MIN_READABLE_SHARE
  const sections = htmlToSections(readable ? (article?.content ?? whole) : whole)
  if (title === '') return sections
  return sections.map((section) => ({ ...section, heading: section.heading ?? title }))
}

/** Sections of HTML that consists of content only, such as a converted word processor file. */
export function htmlToSections(html: string): Section[] {
  const turndown = createMarkdownWriter()
  turndown.addRule('pictures', { filter: 'img', replacement: () => '' })
  return markdownSections(turndown.turndown(html)).map((section) => ({
    ...section,
    heading: section.heading === null ? null : withoutLiteralMarks(section.heading),
    text: withoutLiteralMarks(section.text),
  }))
}

/** The nesting depth of elements, counting only those whose end tag cannot be omitted. */
function depthOf(html: string): number {
  let depth = 0
  let deepest = 0
  const tag =
    /<(\/?)(?:div|span|section|article|blockquote|ul|ol|table|b|i|em|strong|font|a|center)\b/gi
  for (const [, end] of html.matchAll(tag)) {
    depth += end === '/' ? -1 : 1
    if (depth > deepest) deepest = depth
  }
  return deepest
}
