// Checks whether a user may start another run, and inserts it.
import type { Writer } from '../../db/database.ts'
import type { RunRow } from '../../db/repositories/runs.ts'
import { type AppError, appError } from '../../errors.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { ChatDependencies, UserAccess } from '../dependencies.ts'

export const tooManyRuns = (runsPerUser: number): AppError =>
  appError('runs_exhausted', { limit: runsPerUser }, { retryAfter: 5 })

/** How many runs of a user may be unfinished. */
export const runsAtOnce = (access: Pick<UserAccess, 'quota'>, userId: UserId): number =>
  access.quota(userId).concurrent_runs ?? Number.MAX_SAFE_INTEGER

/**
 * Rejects a run that exceeds the limits. Call it first in the transaction that inserts or reopens the run.
 * @throws AppError `too_many_runs`, or `unauthorized` if the account has been disabled.
 */
export async function assertRunAllowed(
  tx: Writer,
  userId: UserId,
  { store, access }: Pick<ChatDependencies, 'store' | 'access'>,
): Promise<void> {
  const runsPerUser = runsAtOnce(access, userId)
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
  dependencies: Pick<ChatDependencies, 'store' | 'access'>,
): Promise<boolean> {
  const { store, access } = dependencies
  if (await store.runs.insert(tx, run, runsAtOnce(access, run.userId))) return true
  if ((await store.runs.findIn(tx, run.id)) === undefined)
    await assertRunAllowed(tx, run.userId, dependencies)
  return false
}
