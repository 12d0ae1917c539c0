// The approval card, loaded when the first request arrives.
import type { ComponentProps } from 'react'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import type * as card from './approval-card.tsx'

/** The card appears with its preview: the buttons would otherwise come first, and move when the preview comes above them. */
const ApprovalCard = lazyPart(async () => {
  const [{ ApprovalCard: Card }] = await Promise.all([
    import('./approval-card.tsx'),
    import('./approval-preview.tsx').then(({ loadPreviews }) => loadPreviews()),
  ])
  return Card
})

/** A lazy `ApprovalCard`; says only that something waits while it loads. Used for answers and background tasks. */
export function LateApprovalCard(props: ComponentProps<typeof card.ApprovalCard>) {
  const { t } = useTranslation()
  return (
    <PartBoundary fallback={<p className="text-sm text-warn">{t('steps.state.waiting')}</p>}>
      <ApprovalCard {...props} />
    </PartBoundary>
  )
}
