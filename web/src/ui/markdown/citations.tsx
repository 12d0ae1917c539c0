// Citations in a text: `[1]` becomes a chip if the text has numbered sources.

import { type ReactNode, useContext } from 'react'
import { addressToShow } from '../../../../server/protocol/markdown/link-address.ts'
import { lazyPart } from '../states/late.tsx'
import { PartBoundary } from '../states/part-boundary.tsx'
import { type Citation, CitationContext } from './citation-context.ts'

const LateChip = lazyPart(() => import('./citation-chip.tsx').then((module) => module.CitationChip))

/** The chip of the source with this number; plain `[number]` if there is no such source. */
export function CitationMark({ number }: { number: number }) {
  const citation = useContext(CitationContext)?.byNumber(number)
  if (citation === undefined) return `[${number}]`
  return <Chip citation={citation} />
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
