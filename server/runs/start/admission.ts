// Whether a user may have one more run.
import type { Writer } from '../../db/database.ts'
import { type AppError, appError } from '../../errors.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { ChatDependencies } from '../dependencies.ts'

export const tooManyRuns = (runsPerUser: number): AppError =>
  appError('runs_exhausted', { limit: runsPerUser }, { retryAfter: 5 })

/**
 * Refuses a run beyond the limits, inside the transaction that adds it and before anything else in it.
 * @throws AppError `too_many_runs`, `unauthorized` for an account that was disabled meanwhile.
 */
export async function assertRunAllowed(
  tx: Writer,
  userId: UserId,
  { store, settings: { runsPerUser } }: Pick<ChatDependencies, 'store' | 'settings'>,
): Promise<void> {
  if ((await store.runs.lockUnfinished(tx, userId)) >= runsPerUser) throw tooManyRuns(runsPerUser)
  if (!(await store.users.isActive(tx, userId))) throw appError('account_disabled')
}
