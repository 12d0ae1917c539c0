// Checks whether a user may start another run, and inserts it.
import type { Writer } from '../../db/database.ts'
import { inParallel } from '../../db/fragments.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { type AppError, appError } from '../../errors.ts'
import type { RunId, UserId } from '../../protocol/ids.ts'
import type { ChatDependencies, UserAccess } from '../dependencies.ts'
import type { Write } from '../group-commit.ts'

/** The error for a user who has `runsPerUser` unfinished runs. */
export const tooManyRuns = (runsPerUser: number): AppError =>
  appError('runs_exhausted', { limit: runsPerUser }, { retryAfter: 5 })

/** The 409 error that names the active run. */
export const activeRunError = (runId: RunId): AppError =>
  appError('conversation_has_run', {}, { details: { run_id: runId } })

/** The maximum number of unfinished runs of a user. */
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

/** Thrown by the first execution of `newRun` if the run was not inserted. The second execution throws the reason. */
export class RunNotInserted extends Error {}

/** How often a run is inserted again in one transaction if the reason why it was refused no longer exists. */
const MAX_INSERTS = 3

/**
 * The write that inserts a new run together with `write`, which stores its messages. Writes nothing if the run is already
 * stored: then the transaction was committed and only its confirmation was lost.
 * @param run its `beside` becomes the stored one: whether it is the second of two active runs.
 * @throws AppError as `assertRunAllowed` does, the database's unique violation or `activeRunError` if the conversation has an
 * active run, and `RunNotInserted` on the first execution: then execute it again.
 */
export function newRun(
  run: RunRow,
  write: Write,
  dependencies: Pick<ChatDependencies, 'store' | 'access'>,
): Write {
  const { store, access } = dependencies
  const asked = { ...run }
  let isRepeated = false
  return async (tx) => {
    const insert = async (): Promise<boolean> => {
      const inserted = await store.runs.insert(tx, asked, runsAtOnce(access, run.userId))
      if (inserted !== undefined) run.beside = inserted.beside
      return inserted !== undefined
    }
    // On the first execution, the run cannot be stored already, so there is nothing to wait for: PostgreSQL receives all
    // statements at once.
    if (!isRepeated) {
      isRepeated = true
      const inserted = async (): Promise<void> => {
        if (!(await insert())) throw new RunNotInserted('The run was not inserted.')
      }
      return await inParallel(inserted, () => write(tx))
    }
    for (let inserts = 0; inserts < MAX_INSERTS; inserts += 1) {
      if (await insert()) return await write(tx)
      if ((await store.runs.findIn(tx, run.id)) !== undefined) return
      await assertRunAllowed(tx, run.userId, dependencies)
      const other = await store.runs.findInTheWay(tx, asked)
      if (other !== undefined) throw activeRunError(other)
      // PostgreSQL lets each statement see what others committed meanwhile: what was in the way has just ended.
    }
    throw appError('store_busy', {}, { retryAfter: 1 })
  }
}
