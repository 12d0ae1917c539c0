// Loads the inspector when it first opens.

import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { inspectRun, useInspected } from '../inspected-run.ts'

const RunInspector = lazyPart(() =>
  import('./run-inspector.tsx').then((module) => module.RunInspector),
)

/** `activeRunIds` are the conversation's active runs, if any. */
export function LateInspector({ activeRunIds }: { activeRunIds: readonly (string | null)[] }) {
  const runId = useInspected((store) => store.runId)
  if (runId === null) return null
  return (
    <PartBoundary fallback={null} isOver subject={runId} onClose={() => inspectRun(null)}>
      <RunInspector
        runId={runId}
        live={activeRunIds.includes(runId)}
        onClose={() => inspectRun(null)}
      />
    </PartBoundary>
  )
}
