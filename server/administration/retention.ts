// Removes for good what can no longer be restored: folders of removed projects, deleted messages, old trash, temporary
// conversations, incomplete shared copies, old records of runs and of schedules, old audit entries.
import type { ChatService } from '../chat/chat-service.ts'
import type { StoreLog } from '../db/database.ts'
import type { OwnedConversation } from '../db/repositories/conversations/trash.ts'
import type { Store } from '../db/store.ts'
import type { ConversationId } from '../protocol/ids.ts'
import type { Workspaces } from '../workspace/workspaces.ts'

const HOUR_MS = 60 * 60 * 1000
/** How long deleted messages can be restored. */
const UNDO_MS = 24 * HOUR_MS
/** How long a conversation stays in the trash. */
const TRASH_MS = 30 * 24 * HOUR_MS
/** Age at which a temporary conversation that nobody has written in, and a shared copy that is not complete, are removed. */
const UNUSED_TEMPORARY_MS = HOUR_MS
/** How long an Idempotency-Key is remembered. */
const IDEMPOTENCY_MS = 24 * HOUR_MS
/** How long every occurrence of a schedule is remembered, so that a repeated request to a hook is known; then the newest are. */
const OCCURRENCES_MS = 24 * HOUR_MS
const OCCURRENCES_KEPT = 1_000
const PURGE_EVERY_MS = HOUR_MS

/** Purges now and every hour. @returns a function that ends it. */
export function purgeDeleted({
  store,
  workspaces,
  chat,
  endLostAccess,
  isSole,
  auditDays,
  inspectorDays,
  log,
  now,
}: {
  store: Pick<
    Store,
    | 'messages'
    | 'trash'
    | 'idempotency'
    | 'audit'
    | 'runRecords'
    | 'projects'
    | 'shares'
    | 'occurrences'
  >
  workspaces: Pick<Workspaces, 'remove'>
  chat: Pick<ChatService, 'removeConversation'>
  /** Ends what people have in projects that they are no members of any more, by whatever way that came. */
  endLostAccess(): Promise<void>
  /** Whether only this process has conversations open. */
  isSole: boolean
  /** Days for which entries of the audit log are stored. */
  auditDays: number
  /** Days for which requests of runs to models are stored. */
  inspectorDays: number
  log: Pick<StoreLog, 'warn'>
  now(): Date
}): () => void {
  let isStopped = false
  /**
   * Until the first purge, the time of the start: everything that an earlier process left is due, because no page has it
   * open. Null afterwards.
   */
  let startedAt: Date | null = isSole ? now() : null
  const before = (ageMs: number): Date => new Date(now().getTime() - ageMs)

  /** Goes on after one that cannot be removed now: it must not keep what others deleted. */
  async function removeAll(
    findDue: (after: ConversationId | null) => Promise<OwnedConversation[]>,
  ): Promise<void> {
    for (let after: ConversationId | null = null; !isStopped; ) {
      const due = await findDue(after)
      if (due.length === 0) return
      for (const { userId, id } of due) {
        after = id
        try {
          await chat.removeConversation(userId, id)
        } catch (error) {
          if (isStopped) return
          log.warn({ err: error, conversation: id }, 'a conversation could not be removed yet')
        }
      }
    }
  }
  async function purge(): Promise<void> {
    try {
      // Their rows were removed, and then the process died.
      for (const { id, userId } of await store.projects.removed()) {
        try {
          await workspaces.remove(userId, id)
          await store.projects.forgetRemoved(id)
        } catch (error) {
          // A program of its user may have closed its folder; that must not keep what others deleted.
          log.warn({ err: error, project: id }, 'the folders of a project could not be removed yet')
        }
      }
      await endLostAccess()
      await store.messages.purge(before(UNDO_MS))
      await store.idempotency.purge(before(IDEMPOTENCY_MS))
      await removeAll((after) => store.trash.due(before(TRASH_MS), after))
      const dueBefore = startedAt ?? before(UNUSED_TEMPORARY_MS)
      await removeAll((after) => store.trash.dueTemporary(dueBefore, after))
      await store.shares.removeUnfinished(dueBefore)
      startedAt = null
      await store.runRecords.removeBefore(before(inspectorDays * 24 * HOUR_MS))
      await store.occurrences.removeOld(before(OCCURRENCES_MS), OCCURRENCES_KEPT)
      await store.audit.removeBefore(before(auditDays * 24 * HOUR_MS))
    } catch (error) {
      // The store closes meanwhile; the next start purges what is left.
      if (!isStopped) log.warn({ err: error }, 'deleted data could not be purged yet')
    }
  }
  const timer = setInterval(() => void purge(), PURGE_EVERY_MS).unref()
  void purge()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
