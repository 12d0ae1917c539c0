// Removes temporary conversations once nobody looks at them after their last run. The page removes them when it leaves them.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { ConversationId } from '../protocol/ids.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import type { RunRegistry } from '../runs/registry.ts'

type StartedRun = Pick<RunRow, 'id' | 'userId' | 'conversationId'>

/**
 * The share of the configured time after which a run's user is looked for: half a minute of ten. Until then, a client that lost
 * its connection can still read the end of the answer, and a page that is being reloaded is back.
 */
const LOOK_SHARE = 1 / 20

/** Removes temporary conversations when they are over. */
export interface TemporaryRemoval {
  /**
   * Removes the temporary conversation of a run when the run has ended and its user has no page open; in any case when nothing
   * has run in it for the configured time.
   */
  after(run: StartedRun): void
  /** The same for those of runs that an earlier process left unfinished and this one continues. */
  afterRestart(unfinished: readonly StartedRun[]): Promise<void>
}

/** What a crash or a shutdown prevents is made up for by the purge at the next start or hour. */
export function createTemporaryRemoval(
  { store, log, settings, isFollowed }: ChatDependencies,
  runs: RunRegistry,
): TemporaryRemoval {
  const timers = new Map<ConversationId, NodeJS.Timeout>()

  async function remove({ id, userId, conversationId }: StartedRun): Promise<void> {
    // The store is about to close; the next start makes up for it.
    if (runs.isDraining) return
    try {
      if (await store.runs.isAnyUnfinished(conversationId)) return
      // The results of the program's tools come with its next request; if they don't, the purge removes it.
      if ((await store.runs.find(id))?.finishReason === 'tool_calls') return
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
