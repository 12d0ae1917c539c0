// The pending input requests of MCP servers. The card loads when the first request arrives.
import type { PendingInput } from '../../../../../server/protocol/runs/input.ts'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { useLiveRuns } from '../runs/live-runs.ts'

const InputCard = lazyPart(() => import('./input-card.tsx').then((module) => module.InputCard))

/** One card per request, below the steps of the answer whose run waits. */
export function PendingInputs({
  runId,
  inputs,
  callHash,
  takesFocus = true,
  onAnswered,
}: {
  runId: string
  inputs: readonly PendingInput[]
  /** What was shown, for a single question; the answer is refused for anything else. */
  callHash?: string
  /** Whether a card takes the focus when it appears. */
  takesFocus?: boolean
  onAnswered?: () => void
}) {
  return (
    <PartBoundary fallback={null}>
      {inputs.map((input) => (
        <InputCard
          key={input.id_ref}
          runId={runId}
          input={input}
          {...(callHash === undefined ? {} : { callHash })}
          takesFocus={takesFocus}
          onAnswered={() => {
            useLiveRuns.getState().removeInput(runId, input.id_ref)
            onAnswered?.()
          }}
        />
      ))}
    </PartBoundary>
  )
}
