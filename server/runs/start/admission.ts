// Checks whether a user may start another run, and inserts it.
import type { Writer } from '../../db/database.ts'
import { inParallel } from '../../db/in-parallel.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { type AppError, appError } from '../../errors.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { ChatDependencies, UserAccess } from '../dependencies.ts'
import type { Write } from '../group-commit.ts'

/** The error for a user who has `runsPerUser` unfinished runs. */
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

/** Thrown by the first try of `newRun` when the run was not inserted; the second one says why. */
export class RunNotInserted extends Error {}

/**
 * The write that inserts a new run together with `write`, which stores its messages. Nothing is written when it is stored
 * already: the transaction was committed and only its confirmation was lost.
 * @throws AppError as `assertRunAllowed` does, the database's unique violation when the conversation has an active run, and
 * the first time `RunNotInserted`: then it must be tried again.
 */
export function newRun(
  run: RunRow,
  write: Write,
  dependencies: Pick<ChatDependencies, 'store' | 'access'>,
): Write {
  const { store, access } = dependencies
  let isRepeated = false
  return async (tx) => {
    const insert = () => store.runs.insert(tx, run, runsAtOnce(access, run.userId))
    // The first time, it cannot be stored already, so nothing waits for that answer: PostgreSQL gets all of it at once.
    if (!isRepeated) {
      isRepeated = true
      const inserted = async (): Promise<void> => {
        if (!(await insert())) throw new RunNotInserted('The run was not inserted.')
      }
      return await inParallel(inserted, () => write(tx))
    }
    if (await insert()) await write(tx)
    else if ((await store.runs.findIn(tx, run.id)) === undefined)
      await assertRunAllowed(tx, run.userId, dependencies)
  }
}
