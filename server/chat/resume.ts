// A person resumes an ended run: it continues in the same answer, with a new number of iterations.
import { isResumable, type RunRow } from '../db/repositories/runs/runs.ts'
import { appError } from '../errors.ts'
import type { RunId, UserId } from '../protocol/ids.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import { activeRunError, assertRunAllowed, type RunRegistry } from '../runs/registry.ts'
import { limitsOf, readRunOptions, readRunState } from '../runs/state.ts'
import { ownedRun } from './owned.ts'
import { runSiteOf, type Sending } from './send.ts'

type Dependencies = Pick<
  ChatDependencies,
  'store' | 'database' | 'settings' | 'catalog' | 'access' | 'instance'
> & { runs: Pick<RunRegistry, 'continue' | 'withEndedRun'>; admit: Sending['admit'] }

/**
 * Continues an ended run that failed, was stopped, or reached a limit.
 * @returns the run afterwards.
 * @throws AppError if it cannot be resumed, or no run may start now; `project_not_found` if its user is no member of its project
 * any more.
 */
export async function resume(
  { userId, runId }: { userId: UserId; runId: RunId },
  dependencies: Dependencies,
): Promise<RunRow> {
  const { store, runs } = dependencies
  await ownedRun(store, userId, runId)
  await runs.withEndedRun(runId, async () => {
    const run = await ownedRun(store, userId, runId)
    if (run.endedAt === null) throw appError('run_still_active')
    if (!isResumable(run)) throw appError('run_completed')
    await dependencies.catalog.resolve(run.model, dependencies.access.models(userId))
    const site = await runSiteOf(store, userId, run.conversationId, undefined)
    // Another answer to the same question may be in progress; the transaction checks it.
    await dependencies.admit(userId, { ...site, activeRunId: null })
    await reopen(run, dependencies)
  })
  await runs.continue(runId)
  return await ownedRun(store, userId, runId)
}

/** Stores that the run is active again. */
async function reopen(
  run: RunRow,
  dependencies: Omit<Dependencies, 'runs' | 'admit'>,
): Promise<void> {
  const { store, database, settings, instance } = dependencies
  const { finish: _finish, limit: _limit, ...state } = readRunState(run.state)
  try {
    await database.write(async (tx) => {
      await assertRunAllowed(tx, run.userId, dependencies)
      const { userId, projectId } = run
      // What it did there so far is in its answer, but it gets nothing more.
      if (projectId !== null && (await store.projects.isClosedTo(userId, projectId, tx)))
        throw appError('project_not_found')
      const other = await store.runs.findInTheWay(tx, { ...run, beside: true })
      if (other !== undefined) throw activeRunError(other)
      const reopened = await store.runs.reopen(tx, run.id, {
        status: 'running',
        error: null,
        finishReason: null,
        reachedLimit: null,
        state: {
          ...state,
          iterationLimit:
            run.iteration + limitsOf(readRunOptions(run.options), settings).maxIterations,
          resumedAfter: run.finishReason,
        },
        owner: instance,
      })
      if (reopened === undefined) throw appError('run_still_active')
      // If the message has been deleted, nobody would see the answer.
      const { conversationId, messageId } = run
      if ((await store.messages.find(conversationId, messageId, tx)) === undefined)
        throw appError('run_not_found')
      await store.messages.update(tx, messageId, { status: 'streaming', error: null })
    })
  } catch (error) {
    if (!database.isUniqueViolation(error)) throw error
    const active = await store.runs.findActive(run.conversationId)
    throw active === undefined
      ? appError('store_busy', {}, { retryAfter: 1 })
      : activeRunError(active.id)
  }
}
