// Loads the overview of the branches when it is first opened.
import { lazy, Suspense } from 'react'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { loadPageTexts } from '../../../lib/i18n/i18n.ts'
import { useShownBranches } from './shown-branches.ts'

const BranchOverview = lazy(async () => {
  const [module] = await Promise.all([import('./branch-overview.tsx'), loadPageTexts()])
  return { default: module.BranchOverview }
})

export function LateBranches(props: {
  conversationId: string
  locked: boolean
  onShow: (id: MessageId) => void
}) {
  const { shown } = useShownBranches()
  if (!shown) return null
  return (
    <Suspense fallback={null}>
      <BranchOverview {...props} />
    </Suspense>
  )
}
