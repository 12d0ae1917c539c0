// Stops runs: one that its user stops, and all of a conversation, project or user that is about to be removed.
import type { Writer } from '../db/database.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { StopCause } from '../db/tables/runs/runs.ts'
import { appError } from '../errors.ts'
import type { ConversationId, RunId, UserId } from '../protocol/ids.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import type { RunRegistry } from '../runs/registry.ts'
import { ownedRun } from './owned.ts'

/** Maximum number of attempts to stop the runs of a conversation before its deletion fails. */
const MAX_STOP_ATTEMPTS = 5

type Dependencies = Pick<ChatDependencies, 'store' | 'database'> & {
  runs: Pick<RunRegistry, 'stop' | 'findIds'>
}

/** Stops a run of the user; does nothing if it has ended. @returns the run afterwards. @throws AppError `not_found`. */
export async function stop(
  { userId, runId }: { userId: UserId; runId: RunId },
  { store, runs }: Dependencies,
): Promise<RunRow> {
  const run = await ownedRun(store, userId, runId)
  if (run.endedAt !== null) return run
  await runs.stop(runId, 'stopped')
  return await ownedRun(store, userId, runId)
}

/** Stops every matching run, whichever process performs it. Resolves when they have ended, or after a second. */
export async function stopAll(
  matches: (run: RunRow) => boolean,
  { store, runs }: Dependencies,
  cause: StopCause = 'deleted',
): Promise<void> {
  const stored = (await store.runs.unfinished()).filter(matches).map(({ id }) => id)
  const ids = new Set([...runs.findIds(matches), ...stored])
  await Promise.all([...ids].map((id) => runs.stop(id, cause)))
}

/**
 * Stops the runs of a conversation, then performs `write` while none can start. @throws AppError if new runs keep
 * starting.
 */
export async function withoutRuns<T>(
  conversationId: ConversationId,
  dependencies: Dependencies,
  write: (tx: Writer) => Promise<T>,
): Promise<T> {
  const { store, database } = dependencies
  for (let attempt = 0; attempt < MAX_STOP_ATTEMPTS; attempt += 1) {
    await stopAll((run) => run.conversationId === conversationId, dependencies)
    const done = await database.write(async (tx) => {
      if ((await store.messages.lockLeaf(tx, conversationId)) === undefined)
        throw appError('conversation_not_found')
      // A run may have started since the others were stopped. Under this lock, none can start.
      if (await store.runs.hasActive(tx, conversationId)) return null
      return { result: await write(tx) }
    })
    if (done !== null) return done.result
  }
  throw appError('conversation_busy')
}
