// The sources that an answer cites, for shared copies and exports.
import type { FullMessage } from '../db/repositories/conversations/messages.ts'
import { escapeHtml } from '../lib/escape-html.ts'
import type { SharedSource } from '../protocol/conversations/share.ts'
import { sourcesOf } from '../protocol/sources/answer-sources.ts'
import { citedIn } from '../protocol/sources/cited.ts'
import type { Source } from '../protocol/sources/source.ts'

function sharedSource(source: Source): SharedSource {
  const { number } = source
  if (source.kind === 'web')
    return { number, title: source.title, place: source.site, url: source.url }
  return { number, title: source.document, place: source.heading ?? '' }
}

/** The cited sources, by number. A result or an artifact that is read in pieces because it is long has none. */
export function citedSources({ steps }: Pick<FullMessage, 'steps'>): SharedSource[] {
  const sources = sourcesOf(steps)
  if (sources.length === 0) return []
  const text = steps.flatMap((step) => (step.type === 'text' ? [step.content] : [])).join('\n')
  const cited = citedIn(text, sources)
  return sources.filter(({ number }) => cited.has(number)).map(sharedSource)
}

/** The list below an answer; empty without sources. @param title the word for sources. */
export function sourcesHtml(sources: readonly SharedSource[], title: string): string {
  if (sources.length === 0) return ''
  const items = sources.map(({ number, title: name, place, url }) => {
    const label = escapeHtml(name === '' ? place : name)
    const link =
      url === undefined
        ? label
        : `<a rel="nofollow noopener noreferrer" href="${escapeHtml(url)}">${label}</a>`
    const where = place === '' || place === name ? '' : ` <span>${escapeHtml(place)}</span>`
    return `<li value="${number}" dir="auto">${link}${where}</li>`
  })
  return `<section class="sources"><h3>${title}</h3><ol>${items.join('')}</ol></section>\n`
}
