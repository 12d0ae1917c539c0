// Changes of several conversations at once, which the lists show before the server has done them.
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
  noteDeletedHere,
  refreshConversations,
} from './conversations.ts'

/** Conversations in one request, at most. */
const BULK_LIMIT = 100

/** The action that takes another one back. */
const INVERSES: Partial<Record<BulkAction, BulkAction>> = {
  archive: 'unarchive',
  unarchive: 'archive',
  delete: 'restore',
  restore: 'delete',
}

/** Conversations that a request of this tab is changing. */
const changingHere = new Set<string>()

/** Whether this tab is changing the conversation itself: it knows the outcome without reading it again. */
export const isChangingHere = (id: string): boolean => changingHere.has(id)

/** What an action makes of a conversation; null: nothing that a list shows. */
const OUTCOMES: Partial<Record<BulkAction, (conversation: Conversation) => Conversation | null>> = {
  archive: (conversation) => ({ ...conversation, archived: true }),
  unarchive: (conversation) => ({ ...conversation, archived: false }),
  pin: (conversation) => ({ ...conversation, pinned: true }),
  unpin: (conversation) => ({ ...conversation, pinned: false }),
  delete: () => null,
  delete_permanently: () => null,
}

/** Shows in the lists what an action will have done; of what it restores, nothing is known here. */
function foresee(client: QueryClient, ids: readonly string[], action: BulkAction): void {
  const outcome = OUTCOMES[action]
  if (outcome === undefined) return
  const known = findAllListed(client, new Set(ids))
  placeInLists(client, new Map([...known].map(([id, one]) => [id, outcome(one)])))
}

/**
 * Changes several conversations; the lists show it at once. Resolves with those that were changed and the action that undoes
 * it, if any does.
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
      if (action === 'restore') noteDeletedHere(ids, false)
      else if (action.startsWith('delete')) noteDeletedHere(ids, true)
      foresee(client, ids, action)
    },
    onError(_error, { ids, action }) {
      if (action.startsWith('delete')) noteDeletedHere(ids, false)
    },
    onSuccess({ changed }, { ids, action }) {
      if (action.startsWith('delete'))
        for (const id of changed) client.removeQueries({ queryKey: conversationKeys.one(id) })
      // A list may have been read while the request was on its way. Others had deleted what was not changed.
      foresee(client, changed, action)
      const done = new Set<string>(changed)
      placeInLists(client, new Map(ids.filter((id) => !done.has(id)).map((id) => [id, null])))
    },
    onSettled(data, error, { ids, action }) {
      for (const id of ids) changingHere.delete(id)
      // Reading very many again would take longer than the change, which is known.
      const isKnown =
        action.startsWith('delete') || (ids.length > MAX_SINGLE_READS && action in OUTCOMES)
      return Promise.all([
        refreshTrash(client),
        isKnown && error === null ? undefined : refreshConversations(client, data?.changed ?? ids),
      ])
    },
  })
}
