// Parses search hits and fetched web pages in tool results. They are untrusted: checks URLs and lengths.

import { z } from 'zod/mini'
import { fieldsOf } from '../read-json.ts'
import { canonicalToolName } from '../tool-names/tool-aliases.ts'

/** A search hit or a fetched page. */
export type WebItem = {
  title: string
  /** Absent unless it is an http or https URL. */
  url?: string
  /** The host name without "www."; empty without a URL. */
  site: string
  /** An extract: the snippet of a hit, or the description or beginning of a page. */
  text?: string
}

/** A fetched page; `error` says why it could not be read. */
export type PageItem = WebItem & {
  error?: string
  content?: string
  links: readonly WebItem[]
}

const MAX_TITLE_CHARACTERS = 300
const MAX_EXTRACT_CHARACTERS = 400
const MAX_ADDRESS_CHARACTERS = 4_000
const MAX_ITEMS = 100
const MAX_LINKS = 200

/** The value if it is an http or https URL, else undefined. */
export function webAddress(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_ADDRESS_CHARACTERS) return undefined
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return undefined
  const { protocol, href } = new URL(value)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}

/** The host name without "www.": "example.org" for "https://www.example.org/tea". */
export const siteOf = (url: string): string => new URL(url).host.replace(/^www\./, '')

/** Joins a text into one line and cuts it. */
const line = (text: string, most: number): string => {
  const short = text
    .slice(0, most * 4)
    .replace(/\s+/g, ' ')
    .trim()
  return short.length > most ? `${short.slice(0, most)}…` : short
}

const text = z.optional(z.nullable(z.string()))
const Hit = z.object({ url: z.string(), title: text, snippet: text })
const Hits = z.object({ results: z.array(Hit) })
const Link = z.object({ text, href: z.string() })
const Page = z.object({
  url: z.string(),
  title: text,
  description: text,
  text,
  error: text,
  links: z.optional(z.array(Link)),
})
const Pages = z.object({ results: z.array(Page) })

function webItem(address: string, title: string | null | undefined, extract: string): WebItem {
  const url = webAddress(address)
  const name = line(title ?? '', MAX_TITLE_CHARACTERS)
  const shown = line(extract, MAX_EXTRACT_CHARACTERS)
  return {
    title: name === '' ? line(address, MAX_TITLE_CHARACTERS) : name,
    site: url === undefined ? '' : siteOf(url),
    ...(url === undefined ? {} : { url }),
    ...(shown === '' ? {} : { text: shown }),
  }
}

/** The hits of a search; null if the data has another shape. */
export function readHits(data: unknown): readonly WebItem[] | null {
  const read = Hits.safeParse(data)
  if (!read.success) return null
  return read.data.results
    .slice(0, MAX_ITEMS)
    .map(({ url, title, snippet }) => webItem(url, title, snippet ?? ''))
}

function pageItem(page: z.infer<typeof Page>): PageItem {
  const { url, title, description, text: content, error, links = [] } = page
  return {
    ...webItem(url, title, description || content || ''),
    ...(error ? { error: line(error, MAX_EXTRACT_CHARACTERS) } : {}),
    ...(content ? { content } : {}),
    links: links.slice(0, MAX_LINKS).map((link) => webItem(link.href, link.text, '')),
  }
}

/**
 * The pages of `fetch_page` and `crawl_batch`; null if the data has another shape. A page too long for one result is only
 * in the artifact, which has its title and URL.
 */
export function readPages(
  name: string,
  data: unknown,
  artifact?: unknown,
): readonly PageItem[] | null {
  if (name === 'crawl_batch') {
    const read = Pages.safeParse(data)
    return read.success ? read.data.results.slice(0, MAX_ITEMS).map(pageItem) : null
  }
  if (canonicalToolName(name) !== 'fetch_page') return null
  const read = Page.safeParse(data)
  if (read.success) return [pageItem(read.data)]
  const { display, url } = fieldsOf(artifact)
  const { content } = fieldsOf(data)
  const page = Page.safeParse({ url, title: display, text: content })
  return page.success ? [{ ...pageItem(page.data), text: '' }] : null
}
