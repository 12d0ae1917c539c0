// One quiet line below an answer that used a tool which can do harm: what it did. It unfolds.
import { ChevronRight, ReceiptText } from 'lucide-react'
import { useId, useState } from 'react'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import type { ReceiptSummary } from '../../../../../server/protocol/runs/receipt.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { Loading } from '../../../ui/states/feedback.tsx'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'

const ReceiptDetails = lazyPart(() =>
  import('./receipt-details.tsx').then((module) => module.ReceiptDetails),
)

/** Renders nothing for answers that could not do harm. */
export function ReceiptLine({
  conversationId,
  messageId,
  summary,
}: {
  conversationId: string
  messageId: MessageId
  summary: ReceiptSummary | undefined
}) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const id = useId()
  if (summary?.acted !== true) return null
  const { files, commands, sent, unresolved, changed } = summary
  const facts = [
    ...(changed ? [] : [t('receipt.nothing')]),
    ...(files > 0 ? [t('receipt.files', { count: files })] : []),
    ...(commands > 0 ? [t('receipt.commands', { count: commands })] : []),
    ...(sent > 0 ? [t('receipt.sent', { count: sent })] : []),
  ]
  return (
    <section aria-label={t('receipt.title')} data-receipt>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="-ms-1 flex min-h-8 max-w-full items-center gap-1.5 rounded-md px-1 text-start text-note text-muted hover:text-ink pointer-coarse:min-h-11"
      >
        <ReceiptText size={14} aria-hidden className="shrink-0" />
        <span className="min-w-0">
          {facts.length === 0 ? t('receipt.title') : facts.join(' · ')}
          {unresolved > 0 && (
            <span className="text-bad">
              {' · '}
              {t('receipt.unresolved', { count: unresolved })}
            </span>
          )}
        </span>
        <ChevronRight
          size={14}
          aria-hidden
          className={classNames('shrink-0 transition-transform', open && 'rotate-90')}
        />
      </button>
      {open && (
        <div id={id} className="mt-1 rounded-xl border border-line bg-surface p-3 text-sm">
          <PartBoundary fallback={<Loading />}>
            <ReceiptDetails conversationId={conversationId} messageId={messageId} />
          </PartBoundary>
        </div>
      )}
    </section>
  )
}
