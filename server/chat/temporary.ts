// Removes temporary conversations that nobody has open after their last run. A page removes its own when the user leaves
// them.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { ConversationId } from '../protocol/ids.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import type { RunRegistry } from '../runs/registry.ts'

type StartedRun = Pick<RunRow, 'id' | 'userId' | 'conversationId'>

/**
 * The share of the configured time after which the server checks whether the run's user has a page open: half a minute of
 * ten. Until then, a client that lost its connection can still read the end of the answer, and a page that reloads can
 * reconnect.
 */
const LOOK_SHARE = 1 / 20

/** Removes temporary conversations when they are over. */
export interface TemporaryRemoval {
  /**
   * Removes the temporary conversation of a run if the run has ended and its user has no page open; in any case after
   * nothing has run in it for the configured time.
   */
  after(run: StartedRun): void
  /** Like `after`, for runs that an earlier process left unfinished and this process continues. */
  afterRestart(unfinished: readonly StartedRun[]): Promise<void>
}

/** If a crash or shutdown prevents a removal, the purge at the next start or hour makes up for it. */
export function createTemporaryRemoval(
  { store, scratch, log, settings, isFollowed }: ChatDependencies,
  runs: RunRegistry,
): TemporaryRemoval {
  const timers = new Map<ConversationId, NodeJS.Timeout>()

  async function remove({ id, userId, conversationId }: StartedRun): Promise<void> {
    // The store is about to close. The next start removes the conversation.
    if (runs.isDraining) return
    try {
      if (await store.runs.isAnyUnfinished(conversationId)) return
      // The program's next request brings the results of its tools. If it never comes, the purge removes the conversation.
      if ((await store.runs.find(id))?.finishReason === 'tool_calls') return
      // A request that is repeated with its Idempotency-Key gets its response from here. The purge removes both.
      if (await store.idempotency.keeps(conversationId)) return
      await scratch.remove(userId, conversationId)
      await store.conversations.remove(userId, conversationId)
    } catch (error) {
      log.warn({ err: error, run_id: id }, 'a temporary conversation could not be removed yet')
    }
  }
  const removal: TemporaryRemoval = {
    after(run) {
      void runs.get(run.id)?.ended.then(() => {
        clearTimeout(timers.get(run.conversationId))
        const endsAt = performance.now() + settings.temporaryIdleMs
        const look = (): void => {
          const timer = setTimeout(() => {
            if (isFollowed(run.userId) && performance.now() < endsAt) return look()
            timers.delete(run.conversationId)
            void remove(run)
          }, settings.temporaryIdleMs * LOOK_SHARE).unref()
          timers.set(run.conversationId, timer)
        }
        look()
      })
    },
    async afterRestart(unfinished) {
      const ids = unfinished.map(({ conversationId }) => conversationId)
      const temporary = await store.trash.temporaryAmong(ids)
      for (const run of unfinished) if (temporary.has(run.conversationId)) removal.after(run)
    },
  }
  return removal
}
