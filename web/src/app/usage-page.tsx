// The usage page, combined with the run inspector.
import { useState } from 'react'
import { inspectRun } from '../features/chat/inspected-run.ts'
import { LateInspector } from '../features/chat/inspector/late-inspector.tsx'
import { StatsPage } from '../features/stats/stats-page.tsx'

/** The page at `/stats`. */
export function UsagePage() {
  const [active, setActive] = useState<string | null>(null)
  return (
    <>
      <StatsPage
        onInspect={({ id, ended_at: ended }) => {
          setActive(ended === null ? id : null)
          inspectRun(id)
        }}
      />
      <LateInspector activeRunIds={[active]} />
    </>
  )
}
