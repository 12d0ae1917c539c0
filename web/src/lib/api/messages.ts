// The messages of a conversation's active branch, newest page first, and the cache of them.
import {
  type InfiniteData,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import type { z } from 'zod'
import type { Message, MessagePage } from '../../../../server/protocol/message.ts'
import { request, requestDone } from '../api-client.ts'

type Pages = InfiniteData<z.infer<typeof MessagePage>, string | null>

export const messageKeys = {
  list: (conversationId: string) => ['messages', conversationId] as const,
}

export const useMessages = (conversationId: string) =>
  useInfiniteQuery({
    queryKey: messageKeys.list(conversationId),
    queryFn: ({ pageParam, signal }) =>
      request<z.output<typeof MessagePage>>(`/api/conversations/${conversationId}/messages`, {
        query: { limit: 50, cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    // Oldest first across the pages, as they are read.
    select: ({ pages }): Message[] => pages.toReversed().flatMap(({ items }) => items),
    meta: { quiet: true },
  })

/**
 * Places new messages at the end of the shown branch. Everything from `replaced` on leaves the page
 * (an edit or a new answer opens a branch there).
 */
export function appendMessages(
  client: QueryClient,
  conversationId: string,
  added: readonly Message[],
  replaced: string | null,
): void {
  client.setQueryData<Pages>(messageKeys.list(conversationId), (old) => {
    const pages = old?.pages ?? []
    const known = new Set(added.map(({ id }) => id))
    let cut = false
    // Pages lie newest first, so the cut is looked for from the oldest on.
    const kept = pages
      .toReversed()
      .map((page) => ({
        ...page,
        items: page.items.filter(({ id }) => {
          if (id === replaced) cut = true
          return !cut && !known.has(id)
        }),
      }))
      .toReversed()
    const newest = kept[0] ?? { items: [], next_cursor: null, has_more: false }
    return {
      pageParams: old?.pageParams ?? [null],
      pages: [{ ...newest, items: [...newest.items, ...added] }, ...kept.slice(1)],
    }
  })
}

export function useDeleteMessage(conversationId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      requestDone(`/api/conversations/${conversationId}/messages/${id}`, { method: 'DELETE' }),
    onSettled: () => client.invalidateQueries({ queryKey: messageKeys.list(conversationId) }),
  })
}
