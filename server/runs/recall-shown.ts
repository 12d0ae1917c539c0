// After a restart: tells the tools what their run had been shown, so that a change since then is noticed.
import type { RunId } from '../protocol/ids.ts'
import type { Step } from '../protocol/step.ts'
import type { ChatDependencies } from './dependencies.ts'

/** `steps`: what the answer holds so far. Results first, in their order, then the questions that still wait or were just decided. */
export async function recallShown(
  runId: RunId,
  steps: readonly Step[],
  { store, registry }: Pick<ChatDependencies, 'store' | 'registry'>,
): Promise<void> {
  const answered = new Set<string>()
  for (const step of steps) {
    if (step.type !== 'tool_result') continue
    answered.add(step.id_ref)
    if (step.artifact !== undefined) registry.get(step.name)?.recall?.(step.artifact, runId)
  }
  for (const { idRef, name, preview } of await store.runs.approvals(runId))
    if (!answered.has(idRef) && preview !== null) registry.get(name)?.recall?.(preview, runId)
}
