// The steps of an answer: its text, with thinking and tool calls on a rail in between.
import { memo, useMemo, useState } from 'react'
import type { PendingApproval } from '../../../../../server/protocol/runs/run-event.ts'
import type { Step } from '../../../../../server/protocol/runs/step.ts'
import type { Progress } from '../runs/tool-progress.ts'
import { RowKey } from './activity-row.tsx'
import { AnswerApps } from './answer-apps.tsx'
import { FoldedSteps, foldable } from './folded-steps.tsx'
import { type Activity, toSegments } from './segments.ts'
import { TextStep } from './text-step.tsx'
import { ThinkingStep } from './thinking-step.tsx'
import { ToolStep } from './tool-step.tsx'

const nothing: Readonly<Record<string, never>> = {}

type Live = {
  growing: number | null
  progress: Readonly<Record<string, Progress>>
  startedAt: Readonly<Record<string, number>>
  approvals: readonly PendingApproval[]
  rejected: readonly string[]
}

/** Renders each step with the component of its type: `TextStep`, `ThinkingStep` or `ToolStep`. */
export const AnswerSteps = memo(function AnswerSteps({
  steps,
  live,
}: {
  steps: readonly Step[]
  /** The live state of the run; null unless the run is active. */
  live: Live | null
}) {
  const [unfolded] = useState(() => new Set<string>())
  const growing = live?.growing ?? null
  const growingId = growing === null ? undefined : steps[growing]?.id
  const approvals = live?.approvals
  // The card below the steps shows a call that waits for a decision, and more of it than its row would.
  const segments = useMemo(() => {
    const waiting = new Set(approvals?.map(({ id_ref: ref }) => ref))
    return toSegments(
      steps.filter((step) => step?.type !== 'tool_call' || !waiting.has(step.id_ref)),
      growing,
    )
  }, [steps, growing, approvals])
  return (
    <div className="flex flex-col gap-4">
      {segments.map((segment) =>
        segment.kind === 'prose' ? (
          <div key={segment.key} className="answer-text">
            <TextStep text={segment.text} growing={segment.key === growingId} />
          </div>
        ) : (
          <div key={segment.key} className="relative flex flex-col gap-0.5">
            {segment.items.length > 1 && (
              <span aria-hidden className="absolute top-4 bottom-4 start-[13px] w-px bg-line" />
            )}
            {foldable(segment.items).flatMap(({ key, items }) => {
              const rows = items.map((item) => (
                <RowKey key={item.key} value={{ key: item.key, unfolded }}>
                  <ActivityItem item={item} live={live} />
                </RowKey>
              ))
              // In one list, so that rows which fold leave the apps in the others as they are.
              return items.length === 1
                ? rows
                : [
                    <FoldedSteps
                      key={`folded ${key}`}
                      items={items}
                      hasUnfolded={items.some((item) => unfolded.has(item.key))}
                    >
                      {rows}
                    </FoldedSteps>,
                  ]
            })}
          </div>
        ),
      )}
      {live === null && <AnswerApps steps={steps} />}
    </div>
  )
})

function ActivityItem({ item, live }: { item: Activity; live: Live | null }) {
  switch (item.kind) {
    case 'thinking':
      return <ThinkingStep text={item.text} open={item.open} durationMs={item.durationMs} />
    case 'tool': {
      const ref = item.call.id_ref
      return (
        <ToolStep
          call={item.call}
          result={item.result}
          live={live !== null}
          rejected={live?.rejected.includes(ref) ?? false}
          progress={(live?.progress ?? nothing)[ref]}
          startedAt={(live?.startedAt ?? nothing)[ref]}
        />
      )
    }
  }
}
