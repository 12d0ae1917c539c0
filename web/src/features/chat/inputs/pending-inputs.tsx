// What MCP servers ask the person for; the card is loaded when the first question arrives.
import { lazy, Suspense } from 'react'
import type { PendingInput } from '../../../../../server/protocol/input.ts'
import { useLiveRuns } from '../runs/live-runs.ts'

const InputCard = lazy(() =>
  import('./input-card.tsx').then((module) => ({ default: module.InputCard })),
)

export function PendingInputs({
  conversationId,
  runId,
  inputs,
}: {
  conversationId: string
  runId: string
  inputs: readonly PendingInput[]
}) {
  return (
    <Suspense fallback={null}>
      {inputs.map((input) => (
        <InputCard
          key={input.id_ref}
          runId={runId}
          input={input}
          onAnswered={() =>
            useLiveRuns.getState().inputAnswered(conversationId, runId, input.id_ref)
          }
        />
      ))}
    </Suspense>
  )
}
