// Bulk changes of conversations, with optimistic updates of the lists.
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  BulkAction,
  BulkResult,
  Conversation,
} from '../../../../server/protocol/conversations/conversation.ts'
import { request } from '../http/api-client.ts'
import { findAllListed, placeInLists, refreshTrash } from './conversation-lists.ts'
import {
  conversationKeys,
  MAX_SINGLE_READS,
  markDeletedHere,
  refreshConversations,
} from './conversations.ts'

/** Most conversations in one request. */
const BULK_LIMIT = 100

/** The action that undoes another one. */
const INVERSES: Partial<Record<BulkAction, BulkAction>> = {
  archive: 'unarchive',
  unarchive: 'archive',
  delete: 'restore',
  restore: 'delete',
}

/** Ids of the conversations that a pending request of this tab changes. */
const changingHere = new Set<string>()

/** Whether this tab is changing the conversation, and so knows the outcome without fetching it. */
export const isChangingHere = (id: string): boolean => changingHere.has(id)

/** The conversation after an action; null if the lists no longer show it. */
const OUTCOMES: Partial<Record<BulkAction, (conversation: Conversation) => Conversation | null>> = {
  archive: (conversation) => ({ ...conversation, archived: true }),
  unarchive: (conversation) => ({ ...conversation, archived: false }),
  pin: (conversation) => ({ ...conversation, pinned: true }),
  unpin: (conversation) => ({ ...conversation, pinned: false }),
  delete: () => null,
  delete_permanently: () => null,
}

/** Updates the lists as the action will. Restored conversations are not in the cache, so they are skipped. */
function updateOptimistically(
  client: QueryClient,
  ids: readonly string[],
  action: BulkAction,
): void {
  const outcome = OUTCOMES[action]
  if (outcome === undefined) return
  const known = findAllListed(client, new Set(ids))
  placeInLists(client, new Map([...known].map(([id, one]) => [id, outcome(one)])))
}

/**
 * Changes several conversations; the lists show it at once. Resolves with the ids of those that were changed and the
 * action that undoes the change, if there is one.
 */
export function useChangeConversations() {
  const client = useQueryClient()
  return useMutation({
    async mutationFn({ ids, action }: { ids: readonly string[]; action: BulkAction }) {
      const changed: string[] = []
      for (let from = 0; from < ids.length; from += BULK_LIMIT) {
        const batch = ids.slice(from, from + BULK_LIMIT)
        const body = { ids: batch, action }
        const result = await request<z.output<typeof BulkResult>>('/api/conversations/bulk', {
          method: 'POST',
          body,
        })
        changed.push(...result.changed)
      }
      return { changed, undo: INVERSES[action] }
    },
    onMutate({ ids, action }) {
      for (const id of ids) changingHere.add(id)
      if (action === 'restore') markDeletedHere(ids, false)
      else if (action.startsWith('delete')) markDeletedHere(ids, true)
      updateOptimistically(client, ids, action)
    },
    onError(_error, { ids, action }) {
      if (action.startsWith('delete')) markDeletedHere(ids, false)
    },
    onSuccess({ changed }, { ids, action }) {
      if (action.startsWith('delete'))
        for (const id of changed) client.removeQueries({ queryKey: conversationKeys.one(id) })
      // A list may have been refetched while the request was pending. Conversations that were not changed no longer exist.
      updateOptimistically(client, changed, action)
      const done = new Set<string>(changed)
      placeInLists(client, new Map(ids.filter((id) => !done.has(id)).map((id) => [id, null])))
    },
    onSettled(data, error, { ids, action }) {
      for (const id of ids) changingHere.delete(id)
      // The outcome is known; refetching very many conversations would take longer than the change.
      const isKnown =
        action.startsWith('delete') || (ids.length > MAX_SINGLE_READS && action in OUTCOMES)
      return Promise.all([
        refreshTrash(client),
        isKnown && error === null ? undefined : refreshConversations(client, data?.changed ?? ids),
      ])
    },
  })
}
