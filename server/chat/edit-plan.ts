// A person changes the plan of a run while it works: stored first, then shown, and read by the model before its next iteration.
import type { z } from 'zod'
import { appError } from '../errors.ts'
import type { RunId, UserId } from '../protocol/ids.ts'
import type { EditPlanBody, Plan } from '../protocol/runs/plan.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import type { RunRegistry } from '../runs/registry.ts'
import { ownedRun } from './owned.ts'

/**
 * Replaces the plan. Two changes at once leave one of them whole.
 * @param editor who changes it.
 * @throws AppError if the user has no such run, it has ended, or it has no plan.
 */
export async function editPlan(
  { userId, runId }: { userId: UserId; runId: RunId },
  { items }: z.output<typeof EditPlanBody>,
  editor: NonNullable<Plan['edited_by']>,
  {
    store,
    database,
    runs,
  }: Pick<ChatDependencies, 'store' | 'database'> & { runs: Pick<RunRegistry, 'get'> },
): Promise<Plan> {
  const run = await ownedRun(store, userId, runId)
  const plan: Plan = { items, edited_by: editor }
  await database.write(async (tx) => {
    // The lock also keeps the model from replacing it at the same moment.
    if ((await store.runs.lockActive(tx, run.id)) === undefined) throw appError('run_takes_no_plan')
    if ((await store.plans.find(tx, run.messageId)) === null) throw appError('run_without_plan')
    await store.plans.set(tx, run.messageId, plan)
  })
  // Pages that follow the run through another instance learn of it before the next iteration.
  runs.get(runId)?.runLog.appendEvent({ event: 'plan', run_id: runId, ...plan })
  return plan
}
