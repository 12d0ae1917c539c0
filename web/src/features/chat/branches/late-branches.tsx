// Loads the overview of the branches when it first opens.
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { lazyView } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { showBranches, useShownBranches } from './shown-branches.ts'

const BranchOverview = lazyView(() =>
  import('./branch-overview.tsx').then((module) => module.BranchOverview),
)

/** Renders nothing while the overview is closed, so that its code loads only when needed. */
export function LateBranches(props: {
  conversationId: string
  locked: boolean
  onShow: (id: MessageId) => void
}) {
  const { shown } = useShownBranches()
  if (!shown) return null
  return (
    <PartBoundary fallback={null} isOver onClose={() => showBranches(false)}>
      <BranchOverview {...props} />
    </PartBoundary>
  )
}
