// The approval card, loaded when the first request arrives.
import { type ComponentProps, lazy, Suspense } from 'react'
import type * as card from './approval-card.tsx'

const ApprovalCard = lazy(() =>
  import('./approval-card.tsx').then((module) => ({ default: module.ApprovalCard })),
)

export function LateApprovalCard(props: ComponentProps<typeof card.ApprovalCard>) {
  return (
    <Suspense fallback={null}>
      <ApprovalCard {...props} />
    </Suspense>
  )
}
