// Loads the inspector when a run is first inspected.
import { lazy, Suspense } from 'react'
import { inspectRun, useInspected } from '../inspected-run.ts'

const RunInspector = lazy(() =>
  import('./run-inspector.tsx').then((module) => ({ default: module.RunInspector })),
)

/** `activeRunId`: of the conversation's active run, if any. */
export function LateInspector({ activeRunId }: { activeRunId: string | null }) {
  const runId = useInspected((store) => store.runId)
  if (runId === null) return null
  return (
    <Suspense fallback={null}>
      <RunInspector runId={runId} live={runId === activeRunId} onClose={() => inspectRun(null)} />
    </Suspense>
  )
}
