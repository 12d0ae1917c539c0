// Extracts a page's metadata, links and plain text in one pass, without building a tree.
import { Parser } from 'htmlparser2'

/** A link of a page. */
export interface PageLink {
  text: string
  href: string
}

/** Metadata, links and plain text of a page. */
export interface PageOutline {
  title: string
  description: string
  author: string
  published: string
  language: string
  headings: { level: number; text: string }[]
  /** Absolute http and https URLs without duplicates, in page order. */
  links: PageLink[]
  /** Text with line breaks, without navigation, scripts and the like. */
  text: string
  /** The number of elements and their nesting depth: the cost of building a tree of the page. */
  elements: number
  depth: number
}

const MAX_LINKS = 2_000
const MAX_HEADINGS = 500

/** Elements whose content is ignored. */
const IGNORED = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'select',
])
/** Page chrome rather than content, unless within the content. */
const CHROME = new Set(['nav', 'footer', 'header', 'aside'])
const CONTENT = new Set(['main', 'article'])
const BLOCKS = new Set(
  'address article aside blockquote dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul br'.split(
    ' ',
  ),
)

/** Linear in the length of the page, however deeply nested; never throws on broken markup. */
export function outlinePage(html: string, url: string): PageOutline {
  const outline: PageOutline = {
    title: '',
    description: '',
    author: '',
    published: '',
    language: '',
    headings: [],
    links: [],
    text: '',
    elements: 0,
    depth: 0,
  }
  let depth = 0
  const pieces: string[] = []
  const hrefs = new Set<string>()
  let base = url
  let silence = 0
  let framed = 0
  let within = 0
  let inTitle = false
  let link: { href: string; text: string } | null = null
  let heading: { level: number; text: string } | null = null

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        outline.elements += 1
        depth += 1
        outline.depth = Math.max(outline.depth, depth)
        if (IGNORED.has(name)) silence += 1
        else if (CONTENT.has(name)) within += 1
        else if (CHROME.has(name) && within === 0) framed += 1
        if (BLOCKS.has(name)) pieces.push(name === 'li' ? '\n- ' : '\n')
        if (name === 'td' || name === 'th') pieces.push(' | ')
        if (name === 'title' && silence === 0) inTitle = outline.title === ''
        else if (name === 'html') outline.language = attributes.lang ?? ''
        else if (name === 'base' && attributes.href !== undefined) base = attributes.href
        else if (name === 'meta') readMeta(outline, attributes)
        else if (name === 'a') link = { href: attributes.href ?? '', text: '' }
        else if (/^h[1-6]$/.test(name)) {
          heading = { level: Number(name[1]), text: '' }
          pieces.push(`${'#'.repeat(heading.level)} `)
        }
      },
      ontext(text) {
        if (inTitle) outline.title += text
        if (silence > 0 || inTitle) return
        if (link !== null) link.text += text
        if (heading !== null) heading.text += text
        if (framed === 0) pieces.push(text.replace(/\s+/g, ' '))
      },
      onclosetag(name) {
        depth -= 1
        if (IGNORED.has(name)) silence = Math.max(0, silence - 1)
        else if (CONTENT.has(name)) within = Math.max(0, within - 1)
        else if (CHROME.has(name) && within === 0) framed = Math.max(0, framed - 1)
        if (BLOCKS.has(name)) pieces.push('\n')
        if (name === 'title') inTitle = false
        else if (name === 'a' && link !== null) {
          addLink(outline, hrefs, link, base, url)
          link = null
        } else if (heading !== null && name === `h${heading.level}`) {
          const text = oneLine(heading.text)
          if (text !== '' && outline.headings.length < MAX_HEADINGS)
            outline.headings.push({ level: heading.level, text })
          heading = null
        }
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  )
  parser.end(html)
  outline.title = oneLine(outline.title)
  outline.text = tidyText(pieces.join(''))
  return outline
}

function readMeta(outline: PageOutline, attributes: Record<string, string>): void {
  const name = (attributes.name ?? attributes.property ?? '').toLowerCase()
  const value = oneLine(attributes.content ?? '')
  if (name === 'description' || (name === 'og:description' && outline.description === ''))
    outline.description = value
  else if (name === 'author') outline.author = value
  else if (name === 'article:published_time' || name === 'date') outline.published = value
}

function addLink(
  outline: PageOutline,
  known: Set<string>,
  link: PageLink,
  base: string,
  url: string,
): void {
  const text = oneLine(link.text)
  const href = link.href.trim()
  if (text === '' || href === '' || href.startsWith('#') || outline.links.length >= MAX_LINKS)
    return
  const root = URL.canParse(base, url) ? new URL(base, url).href : url
  if (!URL.canParse(href, root)) return
  const target = new URL(href, root)
  if ((target.protocol !== 'http:' && target.protocol !== 'https:') || known.has(target.href))
    return
  known.add(target.href)
  outline.links.push({ text: text.slice(0, 300), href: target.href })
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

const tidyText = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line, at, lines) => line !== '' || (at > 0 && lines[at - 1] !== ''))
    .filter((line) => !/^(?:-|\||#{1,6})$/.test(line))
    .join('\n')
    .trim()
