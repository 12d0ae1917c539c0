// Views of results from the web and from documents: search hits, fetched pages, passages.

import { BookOpen, Globe, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { PageItem, WebItem } from '../../../../../../server/protocol/sources/web-results.ts'
import { useTranslation } from '../../../../lib/i18n/use-translation.tsx'
import { keyed } from '../../../../lib/list-keys.ts'
import { Fold } from '../../../../ui/table/fold.tsx'
import { TextStep } from '../text-step.tsx'
import type { PassageItem } from './result-kinds.ts'

const CARDS_FOLDED = 6
const PAGE_LINES_FOLDED = 24
const LINKS_FOLDED = 10

const cardClass = 'min-w-0 rounded-xl border border-line bg-surface px-3.5 py-2.5 text-sm'

function Place({ icon: Icon, children }: { icon: typeof Globe; children: ReactNode }) {
  return (
    <p className="flex min-w-0 items-center gap-1.5 text-xs text-muted">
      <Icon size={12} aria-hidden className="shrink-0" />
      <span className="truncate">{children}</span>
    </p>
  )
}

/** A link to the page; plain text if it has no http or https URL. */
export function WebTitle({ item }: { item: WebItem }) {
  const { title, url } = item
  if (url === undefined)
    return (
      <span dir="auto" className="font-medium [overflow-wrap:anywhere]">
        {title}
      </span>
    )
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer nofollow"
      dir="auto"
      className="font-medium text-accent underline decoration-accent/40 underline-offset-3 [overflow-wrap:anywhere] hover:decoration-current"
    >
      {title}
    </a>
  )
}

/** The hits of a web search as links, in the search engine's order. */
export function HitCards({ label, hits }: { label: string; hits: readonly WebItem[] }) {
  const { t } = useTranslation()
  if (hits.length === 0) return <p className="text-sm text-muted">{t('steps.nothingFound')}</p>
  return (
    <Fold
      total={hits.length}
      folded={CARDS_FOLDED}
      unit="items"
      draw={(count) => (
        <ol aria-label={label} className="grid grid-cols-1 gap-2 sm:grid-cols-2">
          {keyed(hits.slice(0, count), ({ url }) => url ?? '').map(({ key, item: hit }) => (
            <li key={key} className={cardClass}>
              {hit.site !== '' && <Place icon={Globe}>{hit.site}</Place>}
              <p className="mt-0.5">
                <WebTitle item={hit} />
              </p>
              {hit.text !== undefined && (
                <p
                  dir="auto"
                  className="mt-1 line-clamp-3 text-note text-soft [overflow-wrap:anywhere]"
                >
                  {hit.text}
                </p>
              )}
            </li>
          ))}
        </ol>
      )}
    />
  )
}

/** Fetched pages with the beginning of their text, or why they could not be read. */
export function PageCards({ label, pages }: { label: string; pages: readonly PageItem[] }) {
  return (
    <ul aria-label={label} className="flex flex-col gap-2">
      {keyed(pages, ({ url }) => url ?? '').map(({ key, item: page }) => (
        <li key={key} className={cardClass}>
          {page.site !== '' && <Place icon={Globe}>{page.site}</Place>}
          <p className="mt-0.5">
            <WebTitle item={page} />
          </p>
          {page.error !== undefined && (
            <p className="mt-1 flex items-center gap-1.5 text-note text-bad">
              <TriangleAlert size={13} aria-hidden className="shrink-0" />
              {page.error}
            </p>
          )}
          <PageBody page={page} alone={pages.length === 1} />
        </li>
      ))}
    </ul>
  )
}

function PageBody({ page, alone }: { page: PageItem; alone: boolean }) {
  const { t } = useTranslation()
  const lines = (page.content ?? '').split('\n')
  return (
    <>
      {page.content === undefined && page.text !== undefined && (
        <p dir="auto" className="mt-1 text-note text-soft">
          {page.text}
        </p>
      )}
      {page.content !== undefined && (
        <div className="mt-2 flex flex-col gap-2 border-t border-line pt-2 text-note">
          <Fold
            total={lines.length}
            folded={alone ? PAGE_LINES_FOLDED : 4}
            unit="lines"
            draw={(count) => <TextStep text={lines.slice(0, count).join('\n')} />}
          />
        </div>
      )}
      {page.links.length > 0 && (
        <div className="mt-2 flex flex-col gap-1.5 border-t border-line pt-2 text-note">
          <Fold
            total={page.links.length}
            folded={LINKS_FOLDED}
            unit="items"
            draw={(count) => (
              <ul aria-label={t('results.links')} className="flex flex-col gap-1">
                {keyed(page.links.slice(0, count), ({ url }) => url ?? '').map(({ key, item }) => (
                  <li key={key} className="min-w-0">
                    <WebTitle item={item} /> <span className="text-muted">{item.site}</span>
                  </li>
                ))}
              </ul>
            )}
          />
        </div>
      )}
    </>
  )
}

/** Passages with document, heading and page, best first. */
export function PassageCards({
  label,
  passages,
}: {
  label: string
  passages: readonly PassageItem[]
}) {
  const { t } = useTranslation()
  if (passages.length === 0) return <p className="text-sm text-muted">{t('steps.nothingFound')}</p>
  return (
    <Fold
      total={passages.length}
      folded={CARDS_FOLDED}
      unit="items"
      draw={(count) => (
        <ol aria-label={label} className="flex flex-col gap-2">
          {keyed(passages.slice(0, count), ({ heading, page }) => `${heading} ${page ?? ''}`).map(
            ({ key, item: passage }) => (
              <li key={key} className={cardClass}>
                <Place icon={BookOpen}>
                  {[
                    passage.heading,
                    passage.page === undefined ? '' : t('documents.page', { page: passage.page }),
                  ]
                    .filter((part) => part)
                    .join(' · ')}
                </Place>
                <p className="mt-0.5 font-medium">{passage.document}</p>
                <p
                  dir="auto"
                  className="mt-1 line-clamp-4 text-note whitespace-pre-line text-soft [overflow-wrap:anywhere]"
                >
                  {passage.text.slice(0, 2_000)}
                </p>
              </li>
            ),
          )}
        </ol>
      )}
    />
  )
}
