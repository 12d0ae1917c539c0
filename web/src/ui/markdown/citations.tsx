// Citations in a text: `[1]` becomes a chip if the text has numbered sources, `[c1]` a button that opens the quoted passage.

import { type ReactNode, useContext } from 'react'
import { addressToShow } from '../../../../server/protocol/markdown/link-address.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { lazyPart } from '../states/late.tsx'
import { PartBoundary } from '../states/part-boundary.tsx'
import { type Citation, CitationContext, QuoteContext } from './citation-context.ts'

const LateChip = lazyPart(() => import('./citation-chip.tsx').then((module) => module.CitationChip))

/** The chip of the source with this number; plain `[number]` if there is no such source. */
export function CitationMark({ number }: { number: number }) {
  const citation = useContext(CitationContext)?.byNumber(number)
  if (citation === undefined) return `[${number}]`
  return <Chip citation={citation} />
}

/** The button of the quote with this id; plain `[id]` if the text has no such quote. */
export function QuoteMark({ id }: { id: string }) {
  const { t } = useTranslation()
  const quotes = useContext(QuoteContext)
  const title = quotes?.titleOf(id)
  if (quotes === null || title === undefined) return `[${id}]`
  return (
    <button
      type="button"
      className="cite-chip"
      aria-label={t('quote.open', { id, title })}
      onClick={() => quotes.open(id)}
    >
      {id}
    </button>
  )
}

function Chip({ citation }: { citation: Citation }) {
  const plain = <span className="cite-chip">{citation.number}</span>
  return (
    <PartBoundary fallback={plain} instead={plain}>
      <LateChip citation={citation} />
    </PartBoundary>
  )
}

const textOf = (node: ReactNode): string =>
  typeof node === 'string' ? node : Array.isArray(node) ? node.map(textOf).join('') : ''

/** A link in the text. If its address can carry data that its text does not show, the address stands behind it. A link with only a number to a known source, such as `[1](https://…)`, becomes its chip. */
export function TextLink({ href, children }: { href: string | undefined; children: ReactNode }) {
  const sources = useContext(CitationContext)
  const isNumber = typeof children === 'string' && /^\[?\d{1,3}\]?$/.test(children)
  const citation = isNumber && href !== undefined ? sources?.byUrl(href) : undefined
  if (citation !== undefined) return <Chip citation={citation} />
  const address =
    href === undefined || sources?.byUrl(href) !== undefined
      ? null
      : addressToShow(href, textOf(children))
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
      {address !== null && (
        <span dir="ltr" className="link-address font-mono text-note break-all text-soft">
          {' '}
          ({address})
        </span>
      )}
    </>
  )
}
