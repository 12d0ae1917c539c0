// Folds run events into steps. The page and the tests share it, which proves that the page shows what is stored.
import type { RunEvent } from './run-event.ts'
import type { Step } from './step.ts'

/**
 * The steps after `event`. Pure: returns the same array when nothing changed, and shares every untouched step.
 * `process_step` replaces the step at its index, `step_delta` appends to it (or opens it).
 */
export function applyRunEvent(steps: readonly Step[], event: RunEvent): readonly Step[] {
  if (event.event === 'process_step') return withStep(steps, event.step)
  if (event.event !== 'step_delta') return steps
  const open = steps[event.index]
  const textBefore = open !== undefined && open.type === event.type ? open.content : ''
  return withStep(steps, {
    id: event.id,
    index: event.index,
    type: event.type,
    content: textBefore + event.delta,
  })
}

function withStep(steps: readonly Step[], step: Step): readonly Step[] {
  const next = steps.slice()
  next[step.index] = step
  return next
}
