// The messages of a conversation's active branch: queries, cache updates, changes.
import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  Feedback,
  Message,
  MessagePage,
} from '../../../../server/protocol/conversations/message.ts'
import { ApiError, request, requestDone, send } from '../http/api-client.ts'
import { refreshConversations } from './conversations.ts'

type Pages = InfiniteData<z.infer<typeof MessagePage>, string | null>

/** The query keys of messages; others that depend on messages extend `list`. */
export const messageKeys = {
  list: (conversationId: string) => ['messages', conversationId] as const,
  one: (conversationId: string, id: string | null) => ['messages', conversationId, id] as const,
}

/** The query of the active branch: 40 messages per page, newest page first. */
export const messagesQuery = (conversationId: string) =>
  infiniteQueryOptions({
    queryKey: messageKeys.list(conversationId),
    queryFn: ({ pageParam, signal }) =>
      request<z.output<typeof MessagePage>>(`/api/conversations/${conversationId}/messages`, {
        query: { limit: 40, cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    meta: { quiet: true },
  })

/** All loaded messages as one list, oldest first. */
export const useMessages = (conversationId: string) =>
  useInfiniteQuery({
    ...messagesQuery(conversationId),
    select: ({ pages }): Message[] => pages.toReversed().flatMap(({ items }) => items),
  })

/** After a failure that may pass. */
const RETRY_MS = 10_000

/** One message of any branch; sends no request for null. Invalidated together with the list. */
export const useMessage = (conversationId: string, id: string | null) =>
  useQuery({
    queryKey: messageKeys.one(conversationId, id),
    queryFn: ({ signal }) =>
      request<Message>(`/api/conversations/${conversationId}/messages/${id}`, { signal }),
    enabled: id !== null,
    // A queued message may wait for it, also on a page that nobody looks at.
    refetchInterval: ({ state: { error } }) =>
      error instanceof ApiError && error.status !== 404 ? RETRY_MS : false,
    refetchIntervalInBackground: true,
    meta: { quiet: true },
  })

/**
 * Appends new messages to the cached branch. Removes the messages from `replaced` on, because an edit or a regenerated
 * answer starts a new branch there.
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
    // Pages are newest first; `replaced` cuts off everything after it, so walk from the oldest.
    const remaining = pages
      .toReversed()
      .map((page) => ({
        ...page,
        items: page.items.filter(({ id }) => {
          if (id === replaced) cut = true
          return !cut && !known.has(id)
        }),
      }))
      .toReversed()
    const newest = remaining[0] ?? { items: [], next_cursor: null, has_more: false }
    return {
      pageParams: old?.pageParams ?? [null],
      pages: [{ ...newest, items: [...newest.items, ...added] }, ...remaining.slice(1)],
    }
  })
}

/** Whether the cached branch has this message. */
export const isOnBranch = (client: QueryClient, conversationId: string, id: string): boolean =>
  client
    .getQueryData<Pages>(messageKeys.list(conversationId))
    ?.pages.some(({ items }) => items.some((item) => item.id === id)) ?? false

/** Shows the branch with this message; resolves when it is loaded. */
export async function showBranch(
  client: QueryClient,
  conversationId: string,
  id: string,
): Promise<void> {
  const path = `/api/conversations/${conversationId}`
  await request(path, { method: 'PATCH', body: { leaf_id: id } })
  await client.invalidateQueries({ queryKey: messageKeys.list(conversationId) })
}

/** Marks a cached answer as streaming again, so that it does not count as final. */
export function markStreaming(client: QueryClient, conversationId: string, runId: string): void {
  client.setQueryData<Pages>(
    messageKeys.list(conversationId),
    (old) =>
      old && {
        ...old,
        pages: old.pages.map((page) => ({
          ...page,
          items: page.items.map((item) =>
            item.run_id === runId ? { ...item, status: 'streaming' as const } : item,
          ),
        })),
      },
  )
}

/** Deletes a message and everything after it. Resolves with the number of deleted messages. */
export function useDeleteMessage(conversationId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (id: string) => {
      const path = `/api/conversations/${conversationId}/messages/${id}`
      const response = await send(path, { method: 'DELETE' })
      const body: { deleted_messages: number } = await response.json()
      return body.deleted_messages
    },
    onSettled: () => client.invalidateQueries({ queryKey: messageKeys.list(conversationId) }),
  })
}

/** How many messages a deletion of this one would remove; undefined until loaded. */
export const useDeletionSize = (conversationId: string, id: string | null): number | undefined =>
  useQuery({
    queryKey: ['deletion', conversationId, id],
    queryFn: ({ signal }) =>
      request<{ messages: number }>(
        `/api/conversations/${conversationId}/messages/${id}/deletion`,
        { signal },
      ),
    enabled: id !== null,
    // Refetched for each dialog: answers may have arrived since.
    gcTime: 0,
    meta: { quiet: true },
  }).data?.messages

/** Undoes the deletion of a message. */
export function useRestoreMessage(conversationId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      requestDone(`/api/conversations/${conversationId}/messages/${id}/restore`, {
        method: 'POST',
      }),
    onSettled: () => client.invalidateQueries({ queryKey: messageKeys.list(conversationId) }),
  })
}

/** Changes the text of an answer by creating an edited sibling. */
export function useReviseAnswer(conversationId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, text }: { id: string; text: string }) =>
      request<Message>(`/api/conversations/${conversationId}/messages/${id}/revisions`, {
        method: 'POST',
        body: { text },
      }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: messageKeys.list(conversationId) }),
        refreshConversations(client, [conversationId]),
      ]),
  })
}

/** Stores the user's feedback on an answer; it is shown at once. */
export function useSetFeedback(conversationId: string) {
  const client = useQueryClient()
  const queryKey = messageKeys.list(conversationId)
  return useMutation({
    mutationFn: ({ id, feedback }: { id: string; feedback: Feedback | null }) =>
      request(`/api/conversations/${conversationId}/messages/${id}/feedback`, {
        method: 'PUT',
        body: { feedback },
      }),
    onMutate: ({ id, feedback }) => {
      client.setQueryData<Pages>(
        queryKey,
        (old) =>
          old && {
            ...old,
            pages: old.pages.map((page) => ({
              ...page,
              items: page.items.map((item) =>
                item.id === id ? { ...item, feedback: feedback ?? undefined } : item,
              ),
            })),
          },
      )
    },
    onError: () => client.invalidateQueries({ queryKey }),
  })
}
