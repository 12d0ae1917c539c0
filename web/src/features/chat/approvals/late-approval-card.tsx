// The approval card, loaded when the first request arrives.
import type { ComponentProps } from 'react'
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

/** A lazy `ApprovalCard`; renders nothing while it loads. Used for answers and background tasks. */
export function LateApprovalCard(props: ComponentProps<typeof card.ApprovalCard>) {
  return (
    <PartBoundary fallback={null}>
      <ApprovalCard {...props} />
    </PartBoundary>
  )
}
