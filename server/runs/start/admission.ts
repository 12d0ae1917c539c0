// Checks whether a user may start another run, and inserts it.
import type { Writer } from '../../db/database.ts'
import type { RunRow } from '../../db/repositories/runs.ts'
import { type AppError, appError } from '../../errors.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { ChatDependencies } from '../dependencies.ts'

export const tooManyRuns = (runsPerUser: number): AppError =>
  appError('runs_exhausted', { limit: runsPerUser }, { retryAfter: 5 })

/**
 * Rejects a run that exceeds the limits. Call it first in the transaction that inserts or reopens the run.
 * @throws AppError `too_many_runs`, or `unauthorized` if the account has been disabled.
 */
export async function assertRunAllowed(
  tx: Writer,
  userId: UserId,
  { store, settings: { runsPerUser } }: Pick<ChatDependencies, 'store' | 'settings'>,
): Promise<void> {
  if ((await store.runs.lockUnfinished(tx, userId)) >= runsPerUser) throw tooManyRuns(runsPerUser)
  if (!(await store.users.isActive(tx, userId))) throw appError('account_disabled')
}

/**
 * Inserts a new run. Call it first in its transaction. Returns false when the run is stored already: the transaction was
 * committed and only its confirmation was lost.
 * @throws AppError as `assertRunAllowed` does, and the database's unique violation when the conversation has an active run.
 */
export async function insertRun(
  tx: Writer,
  run: RunRow,
  dependencies: Pick<ChatDependencies, 'store' | 'settings'>,
): Promise<boolean> {
  const { store, settings } = dependencies
  if (await store.runs.insert(tx, run, settings.runsPerUser)) return true
  if ((await store.runs.findIn(tx, run.id)) === undefined)
    await assertRunAllowed(tx, run.userId, dependencies)
  return false
}
