// The services behind `web_search`, each as one function from a query to hits.
import { z } from 'zod'
import { errorText } from '../../../../errors.ts'
import { deadline, untilAborted } from '../../../../lib/abort.ts'
import { readableOf } from '../../../../lib/loose-list.ts'
import type { FetchOutcome, GuardedFetch } from '../../../../net/guarded-fetch.ts'
import type { PageReader } from '../../../../net/page-reader.ts'
import type { SearchHit } from '../../../../net/search-page.ts'
import { serviceUrl } from '../service-url.ts'

/** The hits of a search service, or the reason why there are none. */
export type SearchOutcome = { ok: true; hits: SearchHit[] } | { ok: false; error: string }

/** A web search service. */
export interface SearchProvider {
  readonly name: string
  /** Never throws. `error` says why the service failed, and never contains a key. */
  search(query: string, count: number, signal: AbortSignal): Promise<SearchOutcome>
}

/** Time limit for one service, including its whole response. */
const TIMEOUT_MS = 10_000

const unavailable = (outcome: FetchOutcome): string | null => {
  if (!outcome.ok) return outcome.error
  if (outcome.status === 429 || outcome.status === 202)
    return 'it is currently refusing more searches'
  if (outcome.status === 401 || outcome.status === 403) return 'it refused the request'
  return outcome.status >= 400 ? `it responded with HTTP status ${outcome.status}` : null
}

const body = (outcome: FetchOutcome): string =>
  outcome.ok ? Buffer.from(outcome.body).toString() : ''

/** DuckDuckGo's page for browsers without JavaScript: needs no key, but rejects clients that search too often. */
export function createDuckDuckGo(parts: {
  fetch: GuardedFetch
  pages: PageReader
  url?: string | undefined
}): SearchProvider {
  return {
    name: 'duckduckgo',
    async search(query, count, signal) {
      const url = serviceUrl(parts.url, 'https://html.duckduckgo.com/html/')
      url.searchParams.set('q', query)
      url.searchParams.set('kl', 'wt-wt')
      const outcome = await parts.fetch(url.href, {
        signal,
        trusted: parts.url !== undefined,
        timeoutMs: TIMEOUT_MS,
        headers: { accept: 'text/html', 'accept-language': 'en,*;q=0.5' },
      })
      const error = unavailable(outcome)
      if (error !== null) return { ok: false, error }
      const hits = await parts.pages.readSearch(body(outcome), signal)
      if (hits !== null) return { ok: true, hits: hits.slice(0, count) }
      return { ok: false, error: 'it is currently refusing more searches' }
    },
  }
}

/** What the package passes on is whatever the page holds. */
const ScrapedHit = z.object({
  title: z.string(),
  url: z.string(),
  rawDescription: z.string().catch(''),
})

/**
 * DuckDuckGo through the `duck-duck-scrape` package, whose endpoint may work when the page does not. The package makes its
 * own requests, only to fixed addresses of DuckDuckGo.
 */
export function createDuckDuckScrape(): SearchProvider {
  return {
    name: 'duckduckgo',
    async search(query, count, signal) {
      try {
        // The bundled package has only a default export.
        const { search } = (await import('duck-duck-scrape')).default
        const limits = { open_timeout: 5_000, response_timeout: 10_000, read_timeout: 10_000 }
        // The package accepts no signal. Its own limits end the request soon after.
        const { results } = await untilAborted(
          search(query, {}, limits),
          deadline(TIMEOUT_MS, signal),
        )
        const hits = readableOf(ScrapedHit, results).map(({ title, url, rawDescription }) => ({
          title,
          url,
          snippet: rawDescription.replace(/<\/?b>/g, ''),
        }))
        return { ok: true, hits: hits.slice(0, count) }
      } catch (error) {
        return { ok: false, error: errorText(error).slice(0, 200) }
      }
    },
  }
}

const BraveHit = z.object({
  title: z.string(),
  url: z.string(),
  description: z.string().catch(''),
})
const BraveResponse = z.object({
  web: z.object({ results: z.array(z.unknown()) }).optional(),
})

/** The API at https://api.search.brave.com; needs a key. */
export function createBrave(parts: {
  fetch: GuardedFetch
  apiKey: string
  url?: string | undefined
}): SearchProvider {
  return {
    name: 'brave',
    async search(query, count, signal) {
      const url = serviceUrl(parts.url, 'https://api.search.brave.com/res/v1/web/search')
      url.searchParams.set('q', query)
      url.searchParams.set('count', String(count))
      const headers = { accept: 'application/json', 'x-subscription-token': parts.apiKey }
      const trusted = parts.url !== undefined
      const outcome = await parts.fetch(url.href, {
        signal,
        trusted,
        headers,
        timeoutMs: TIMEOUT_MS,
      })
      const error = unavailable(outcome)
      if (error !== null) return { ok: false, error }
      const listed = readJson(BraveResponse, body(outcome))?.web?.results ?? null
      if (listed === null) return { ok: false, error: 'its response could not be parsed' }
      const hits = readableOf(BraveHit, listed)
      return {
        ok: true,
        hits: hits.slice(0, count).map(({ title, url: page, description }) => ({
          title: plain(title),
          url: page,
          snippet: plain(description),
        })),
      }
    },
  }
}

const SearxngHit = z.object({ title: z.string(), url: z.string(), content: z.string().catch('') })
const SearxngResponse = z.object({ results: z.array(z.unknown()) })

/** A SearXNG instance of the operator. Its formats must include `json`. */
export function createSearxng(parts: { fetch: GuardedFetch; url: string }): SearchProvider {
  return {
    name: 'searxng',
    async search(query, count, signal) {
      const url = serviceUrl(parts.url, 'https://searx.invalid/search')
      url.searchParams.set('q', query)
      url.searchParams.set('format', 'json')
      const outcome = await parts.fetch(url.href, { signal, trusted: true, timeoutMs: TIMEOUT_MS })
      const error = unavailable(outcome)
      if (error !== null)
        return { ok: false, error: `${error} (SearXNG needs \`json\` among its formats)` }
      const found = readJson(SearxngResponse, body(outcome))
      if (found === null) return { ok: false, error: 'its response is not JSON' }
      return {
        ok: true,
        hits: readableOf(SearxngHit, found.results)
          .slice(0, count)
          .map(({ title, url: page, content }) => ({ title, url: page, snippet: content })),
      }
    },
  }
}

function readJson<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

/** Brave highlights matching words with <strong>. */
const plain = (text: string): string =>
  text
    .replace(/<\/?strong>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
