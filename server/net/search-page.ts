// Parses the results of DuckDuckGo's page for browsers without JavaScript.
import { load } from 'cheerio'

/** One hit on a page of results. */
export interface SearchHit {
  title: string
  url: string
  snippet: string
}

/** Null when the page is not a results page (for example a refusal). */
export function readSearchPage(html: string): SearchHit[] | null {
  const page = load(html)
  const hits: SearchHit[] = []
  for (const element of page('.result, .web-result').toArray()) {
    const result = page(element)
    if (result.hasClass('result--ad')) continue
    const link = result.find('a.result__a, .result__title a, a.result-link').first()
    const url = targetOf(link.attr('href') ?? '')
    const title = link.text().trim()
    if (url === null || title === '' || hits.some((hit) => hit.url === url)) continue
    const snippet = result.find('.result__snippet').first().text().replace(/\s+/g, ' ').trim()
    hits.push({ title, url, snippet })
  }
  if (hits.length > 0) return hits
  const none = page('.no-results, .result--no-result').length > 0
  return none || /no\s+results\s+found|No more results/i.test(page.text()) ? [] : null
}

/** Result links go through DuckDuckGo's redirect, with the target in `uddg`. */
function targetOf(href: string): string | null {
  if (!URL.canParse(href, 'https://duckduckgo.com')) return null
  const url = new URL(href, 'https://duckduckgo.com')
  const target = url.searchParams.get('uddg') ?? url.href
  if (!/^https?:\/\//.test(target) || !URL.canParse(target)) return null
  // Ads go through another redirect of the same host.
  return new URL(target).pathname === '/y.js' ? null : target
}
