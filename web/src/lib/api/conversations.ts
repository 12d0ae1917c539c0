// Conversations: the list, a single one, and changes to them.
import {
  type InfiniteData,
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  BulkAction,
  BulkResult,
  Conversation,
  ConversationPage,
  CreateConversationBody,
  PatchConversationBody,
  TagList,
} from '../../../../server/protocol/conversation.ts'
import { authorization, request, requestDone } from '../api-client.ts'

type Pages = InfiniteData<z.infer<typeof ConversationPage>, string | null>

/** Which conversations the list shows. */
export type ListView = 'current' | 'archived' | 'trash'

type ListFilters = {
  q: string
  view: ListView
  /** Only conversations with this tag; null: all. */
  tag: string | null
  /** Only pinned conversations, or only the others; the trash has both together. */
  pinned: boolean
}

export const conversationKeys = {
  lists: ['conversations'] as const,
  list: (filters: ListFilters) => ['conversations', filters] as const,
  one: (id: string) => ['conversation', id] as const,
}

/** Newest activity first, in pages; the first page is polled while one of them is running. */
export const useConversations = (filters: ListFilters) =>
  useInfiniteQuery({
    enabled: !(filters.view === 'trash' && filters.pinned),
    queryKey: conversationKeys.list(filters),
    queryFn: ({ pageParam, signal }) =>
      request<z.output<typeof ConversationPage>>('/api/conversations', {
        query: {
          limit: 40,
          cursor: pageParam,
          q: filters.q,
          tag: filters.tag,
          ...(filters.view === 'trash' ? { trashed: 'true' } : { pinned: filters.pinned }),
          ...(filters.view === 'archived' ? { archived: 'true' } : {}),
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: (query) =>
      query.state.data?.pages.some(({ items }) =>
        items.some(({ active_run_id: run }) => run !== null),
      ) === true
        ? 8_000
        : false,
    placeholderData: (previous) => previous,
  })

/** The conversations of a project, newest activity first, in pages. */
export const useProjectConversations = (projectId: string) =>
  useInfiniteQuery({
    queryKey: [...conversationKeys.lists, 'project', projectId],
    queryFn: ({ pageParam, signal }) =>
      request<z.output<typeof ConversationPage>>('/api/conversations', {
        query: { limit: 40, cursor: pageParam, project_id: projectId },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    meta: { quiet: true },
  })

/** The user's tags, most used first. */
export const useTags = () =>
  useQuery({
    queryKey: ['tags'],
    queryFn: ({ signal }) =>
      request<z.output<typeof TagList>>('/api/tags', { signal }).then(({ items }) => items),
    meta: { quiet: true },
  })

export const conversationQuery = (id: string) =>
  queryOptions({
    queryKey: conversationKeys.one(id),
    queryFn: ({ signal }) => request<Conversation>(`/api/conversations/${id}`, { signal }),
    meta: { quiet: true },
  })

export function useConversation(id: string) {
  const client = useQueryClient()
  return useQuery({
    ...conversationQuery(id),
    // The sidebar knows it already, so its title and composer appear while it is refetched.
    placeholderData: () =>
      client
        .getQueriesData<Pages>({ queryKey: conversationKeys.lists })
        .flatMap(([, list]) => list?.pages ?? [])
        .flatMap(({ items }) => items)
        .find((conversation) => conversation.id === id),
  })
}

export const createConversation = (body: Partial<CreateConversationBody>) =>
  request<Conversation>('/api/conversations', { method: 'POST', body })

/** Deletes a conversation for good while its page may be closing; nobody waits for the response. */
export function removeWhileLeaving(id: string): void {
  deletedHere.add(id)
  void authorization()
    .then((headers) =>
      fetch(`/api/conversations/${id}?permanent=true`, {
        method: 'DELETE',
        keepalive: true,
        headers,
      }),
    )
    .catch(() => undefined)
}

/** Deletes a conversation without messages; one that holds a message stays. */
export async function deleteIfEmpty(id: string): Promise<void> {
  const { message_count: messages, active_run_id: run } = await request<Conversation>(
    `/api/conversations/${id}`,
  )
  if (messages === 0 && run === null)
    await requestDone(`/api/conversations/${id}?permanent=true`, { method: 'DELETE' })
}

/** Puts the current conversation into every cached list and its own entry. */
export function updateCached(
  client: QueryClient,
  id: string,
  change: (conversation: Conversation) => Conversation,
): void {
  client.setQueryData<Conversation>(conversationKeys.one(id), (old) => old && change(old))
  client.setQueriesData<Pages>({ queryKey: conversationKeys.lists }, (old) =>
    old === undefined
      ? old
      : {
          ...old,
          pages: old.pages.map((page) => ({
            ...page,
            items: page.items.map((item) => (item.id === id ? change(item) : item)),
          })),
        },
  )
}

/** Shown at once, and rolled back if the server refuses. */
export function usePatchConversation() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: { id: string } & Partial<PatchConversationBody>) =>
      request<Conversation>(`/api/conversations/${id}`, { method: 'PATCH', body }),
    onMutate: ({ id, leaf_id: _leaf, ...body }) => {
      const present = Object.fromEntries(
        Object.entries(body).filter(([, value]) => value !== undefined),
      )
      updateCached(client, id, (conversation) => ({ ...conversation, ...present }))
    },
    onSuccess: (conversation) => {
      updateCached(client, conversation.id, () => conversation)
    },
    onSettled: (_data, _error, { tags }) => {
      if (tags !== undefined) void client.invalidateQueries({ queryKey: ['tags'] })
      return client.invalidateQueries({ queryKey: conversationKeys.lists })
    },
    onError: (_error, { id }) => client.invalidateQueries({ queryKey: conversationKeys.one(id) }),
  })
}

/** Conversations in one request, at most. */
const BULK_LIMIT = 100

const deletedHere = new Set<string>()

/** Whether this tab requested the deletion, in which case no notice is needed. */
export const isDeletedHere = (id: string): boolean => deletedHere.has(id)

/** The action that takes another one back. */
const INVERSES: Partial<Record<BulkAction, BulkAction>> = {
  archive: 'unarchive',
  unarchive: 'archive',
  delete: 'restore',
  restore: 'delete',
}

/** Changes several conversations. Resolves with those that were changed and the action that undoes it, if any does. */
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
      for (const id of ids)
        if (action === 'restore') deletedHere.delete(id)
        else if (action.startsWith('delete')) deletedHere.add(id)
    },
    onError(_error, { ids, action }) {
      if (action.startsWith('delete')) for (const id of ids) deletedHere.delete(id)
    },
    onSuccess({ changed }, { action }) {
      if (action.startsWith('delete'))
        for (const id of changed) client.removeQueries({ queryKey: conversationKeys.one(id) })
    },
    onSettled: () => client.invalidateQueries({ queryKey: conversationKeys.lists }),
  })
}
