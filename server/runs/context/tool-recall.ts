// After a restart: reminds tools of what their run has seen, so that a change since then is noticed.
import type { Store } from '../../db/store.ts'
import type { RunId } from '../../protocol/ids.ts'
import type { Step } from '../../protocol/step.ts'
import type { ToolSet } from '../../tools/registry.ts'

/** `steps`: what the answer holds so far. Results first, in their order, then the approval requests that still wait or were just decided. */
export async function recallShown(
  runId: RunId,
  steps: readonly Step[],
  store: Pick<Store, 'runs'>,
  tools: ToolSet,
): Promise<void> {
  const answered = new Set<string>()
  for (const step of steps) {
    if (step.type !== 'tool_result') continue
    answered.add(step.id_ref)
    if (step.artifact !== undefined) tools.get(step.name)?.recall?.(step.artifact, runId)
  }
  for (const { idRef, name, preview } of await store.runs.approvals(runId))
    if (!answered.has(idRef) && preview !== null) tools.get(name)?.recall?.(preview, runId)
}
