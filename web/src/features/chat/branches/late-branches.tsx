// Loads the overview of the branches when it is first opened.
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { lazyView } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { showBranches, useShownBranches } from './shown-branches.ts'

const BranchOverview = lazyView(() =>
  import('./branch-overview.tsx').then((module) => module.BranchOverview),
)

/** Draws nothing while the overview is closed, so its code loads only when somebody opens it. */
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
