// After a restart, restores what tools remember of a run, so that they notice changes made in the meantime.
import type { Store } from '../../db/store.ts'
import type { RunId } from '../../protocol/ids.ts'
import type { Step } from '../../protocol/runs/step.ts'
import type { ToolSet } from '../../tools/registry.ts'

/**
 * Passes earlier results and open approval previews to the `recall` of their tools.
 * @param steps the steps of the answer so far.
 */
export async function recallEarlierResults(
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
