// The quotes of an answer, each of which opens the passage that it was taken from.
import { Quote } from 'lucide-react'
import type { ShownCitation } from '../../../../../server/protocol/conversations/citation.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'

/** Renders nothing for an answer without quotes. */
export function QuotesList({
  citations,
  onOpen,
}: {
  citations: readonly ShownCitation[]
  onOpen: (id: string) => void
}) {
  const { t } = useTranslation()
  if (citations.length === 0) return null
  return (
    <ul className="flex flex-wrap gap-1.5" data-quotes>
      {citations.map(({ id, title, page }) => (
        <li key={id} className="min-w-0 max-w-full">
          <button
            type="button"
            aria-label={t('quote.open', { id, title })}
            onClick={() => onOpen(id)}
            className="flex min-h-7 max-w-full items-center gap-1.5 rounded-full border border-line bg-surface px-2.5 text-note text-soft hover:border-line-strong hover:text-ink pointer-coarse:min-h-11"
          >
            <Quote size={12} aria-hidden className="shrink-0 text-muted" />
            <span className="font-medium tabular-nums">{id}</span>
            <span className="min-w-0 truncate">
              {title}
              {page !== undefined && `, ${t('quote.page', { page })}`}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
