// The text of a file with page numbers. Highlights the searched words and scrolls to the first one on the requested page.

import { useEffect, useRef } from 'react'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ScrollRegion } from '../../../ui/scroll-region.tsx'

/** The most characters that are rendered; the download has all. */
const MAX_CHARACTERS = 400_000
/** Characters before the requested page that are rendered with it. */
const LEAD_CHARACTERS = 20_000

type Section = { page: number | null; text: string }

/** Splits a text in which each page begins with a line like `[Page 7]`. */
function sectionsOf(text: string): Section[] {
  const pieces = text.split(/^\[Page (\d{1,6})\]\n?/m)
  const sections: Section[] = [{ page: null, text: pieces[0] ?? '' }]
  for (let at = 1; at < pieces.length; at += 2)
    sections.push({ page: Number(pieces[at]), text: pieces[at + 1] ?? '' })
  return sections.filter(({ text: one }) => one.trim() !== '')
}

/** The part to render: around the page, or from the beginning. */
function drawnPart(text: string, page: number | null): string {
  if (text.length <= MAX_CHARACTERS) return text
  const at = page === null ? 0 : Math.max(0, text.indexOf(`[Page ${page}]\n`) - LEAD_CHARACTERS)
  const start = at === 0 ? 0 : Math.max(0, text.indexOf('[Page ', at))
  return text.slice(start, start + MAX_CHARACTERS)
}

/** The ranges of the words in the text, in order and without overlaps. White space in a search hit is collapsed. */
function placesOf(text: string, words: readonly string[]): [number, number][] {
  const patterns = words
    .filter((word) => word.trim() !== '')
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(/\s+/g, '\\s+'))
  if (patterns.length === 0) return []
  return [...text.matchAll(new RegExp(patterns.join('|'), 'giu'))].map((match) => [
    match.index,
    match.index + match[0].length,
  ])
}

/** `marks` are the words to highlight. */
export function FileText({
  text,
  page,
  marks,
}: {
  text: string
  /** The page to scroll to; null scrolls to the first word. */
  page: number | null
  marks: readonly string[]
}) {
  const { t } = useTranslation()
  const view = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the marks are rendered once the text has arrived
  useEffect(() => {
    const patterns = page === null ? null : view.current?.querySelector(`[data-page="${page}"]`)
    const first = (patterns ?? view.current)?.querySelector('mark') ?? patterns
    first?.scrollIntoView({ block: 'center' })
  }, [text, page])
  return (
    <ScrollRegion
      ref={view}
      dir="auto"
      className="max-h-[62dvh] overflow-y-auto rounded-lg bg-sunken p-4 text-note leading-relaxed"
    >
      {sectionsOf(drawnPart(text, page)).map((section) => (
        <section key={section.page ?? 0} data-page={section.page} className="mt-4 first:mt-0">
          {section.page !== null && (
            <h3 className="mb-1 border-b border-line pb-1 text-xs font-medium text-muted">
              {t('search.page', { page: section.page })}
            </h3>
          )}
          <pre className="font-mono whitespace-pre-wrap wrap-anywhere">
            <Marked text={section.text} marks={marks} />
          </pre>
        </section>
      ))}
    </ScrollRegion>
  )
}

function Marked({ text, marks }: { text: string; marks: readonly string[] }) {
  const places = placesOf(text, marks)
  return (
    <>
      {places.map(([from, to], at) => (
        <span key={from}>
          {text.slice(places[at - 1]?.[1] ?? 0, from)}
          <mark className="rounded-xs bg-warn-soft text-ink">{text.slice(from, to)}</mark>
        </span>
      ))}
      {text.slice(places.at(-1)?.[1] ?? 0)}
    </>
  )
}
