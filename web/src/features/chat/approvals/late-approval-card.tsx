// The approval card, loaded when the first request arrives.
import type { ComponentProps } from 'react'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import type * as card from './approval-card.tsx'

const ApprovalCard = lazyPart(() =>
  import('./approval-card.tsx').then((module) => module.ApprovalCard),
)

/** A lazy `ApprovalCard`; renders nothing while it loads. Used for answers and background tasks. */
export function LateApprovalCard(props: ComponentProps<typeof card.ApprovalCard>) {
  return (
    <PartBoundary fallback={null}>
      <ApprovalCard {...props} />
    </PartBoundary>
  )
}
