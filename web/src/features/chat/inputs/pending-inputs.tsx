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
}: {
  runId: string
  inputs: readonly PendingInput[]
}) {
  return (
    <PartBoundary fallback={null}>
      {inputs.map((input) => (
        <InputCard
          key={input.id_ref}
          runId={runId}
          input={input}
          onAnswered={() => useLiveRuns.getState().removeInput(runId, input.id_ref)}
        />
      ))}
    </PartBoundary>
  )
}
