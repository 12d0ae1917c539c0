// Conversations: the list, a single one, and changes to them.

import {
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  Conversation,
  ConversationPage,
  CreateConversationBody,
  PatchConversationBody,
  TagList,
} from '../../../../server/protocol/conversations/conversation.ts'
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import { fromHost } from '../base-path.ts'
import { ApiError, authorization, request, requestDone } from '../http/api-client.ts'
import {
  findListed,
  inProject,
  LISTS_PATH,
  type ListFilters,
  listKeys,
  listParameters,
  placeInLists,
} from './conversation-lists.ts'

/** The query keys of conversations and their lists. */
export const conversationKeys = {
  lists: listKeys.all,
  one: (id: string) => ['conversation', id] as const,
}

/** Where the files of a conversation are: its project, or its own ones; null before the first. */
export const filesOf = ({
  project_id: projectId,
  scratch_project_id: own,
}: Pick<Conversation, 'project_id' | 'scratch_project_id'>): ProjectId | null =>
  // A conversation that was kept for offline use by an earlier version of the page has no field for its own files.
  projectId ?? own ?? null

/**
 * A list of conversations, newest activity first, in pages. `GET /api/events` keeps loaded pages up to date, so a list of
 * several pages is not refetched when the window gets the focus. A single page is: that costs one request.
 */
export const useConversations = (filters: ListFilters) =>
  useInfiniteQuery({
    enabled: !(filters.view === 'trash' && filters.pinned === true),
    queryKey: listKeys.one(filters),
    queryFn: ({ pageParam, signal }) =>
      request<z.output<typeof ConversationPage>>(LISTS_PATH, {
        query: listParameters(filters, pageParam),
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    staleTime: ({ state }) =>
      (state.data?.pages.length ?? 0) > 1 ? Number.POSITIVE_INFINITY : 15_000,
    placeholderData: (previous) => previous,
    meta: { onLoaded: placePendingChanges },
  })

/** The conversations of a project, newest activity first, in pages. */
export const useProjectConversations = (projectId: string) => useConversations(inProject(projectId))

/** The user's tags, most used first. */
export const useTags = () =>
  useQuery({
    queryKey: ['tags'],
    queryFn: ({ signal }) =>
      request<z.output<typeof TagList>>('/api/tags', { signal }).then(({ items }) => items),
    meta: { quiet: true },
  })

const patchKey = ['patch conversation'] as const
const pinsKey = ['order pins'] as const

type ConversationPatch = { id: string } & Partial<PatchConversationBody>

/** The ids of the pinned conversations from top to bottom. */
type PinnedIds = readonly string[]

/** Patches that succeeded or failed. Their mutations count as pending until all callbacks have run. */
const settled = new WeakSet<ConversationPatch>()

/** What a patch changes in the cached conversation. `leaf_id` is not a field of it: it selects the shown branch. */
const changesOf = ({ id: _id, leaf_id: _leaf, ...body }: ConversationPatch) =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))

type PendingChange = {
  id: string
  changes: Partial<Conversation>
  /** The conversation as it was shown after the change. */
  shown?: Conversation | undefined
}

/** The changes that are still being sent, oldest first, those of the order of pins last. */
function pendingChanges(client: QueryClient): PendingChange[] {
  const sent = (mutationKey: readonly string[]) =>
    client
      .getMutationCache()
      .findAll({ mutationKey, status: 'pending' })
      .map(({ state }) => state)
  // Variables and contexts are those of `usePatchConversation` and `useOrderPins`.
  const patches = sent(patchKey).flatMap(({ variables, context }): PendingChange[] => {
    const patch = variables as ConversationPatch
    const shown = context as Conversation | undefined
    return settled.has(patch) ? [] : [{ id: patch.id, changes: changesOf(patch), shown }]
  })
  const places = sent(pinsKey).flatMap(({ variables }): PendingChange[] =>
    (variables as PinnedIds).map((id, at) => ({ id, changes: { pin_position: at } })),
  )
  return [...patches, ...places]
}

/** A conversation from the server, with the changes that are still being sent. */
function withPendingChanges(client: QueryClient, conversation: Conversation): Conversation {
  let shown = conversation
  for (const { id, changes } of pendingChanges(client))
    if (id === conversation.id) shown = { ...shown, ...changes }
  return shown
}

/** Repeats the changes that are still being sent in the lists: one that was requested earlier has just loaded. */
function placePendingChanges(client: QueryClient): void {
  const changed = new Map<string, Conversation>()
  for (const { id, changes, shown } of pendingChanges(client)) {
    const known = changed.get(id) ?? findListed(client, id) ?? shown
    if (known !== undefined) changed.set(id, { ...known, ...changes })
  }
  if (changed.size > 0) placeInLists(client, changed)
}

/** The query of one conversation, for components and for prefetching. */
export const conversationQuery = (id: string) =>
  queryOptions({
    queryKey: conversationKeys.one(id),
    queryFn: async ({ client, signal }) =>
      withPendingChanges(
        client,
        await request<Conversation>(`/api/conversations/${id}`, { signal }),
      ),
    meta: { quiet: true },
  })

/** One conversation; until it has loaded, the copy from a list. */
export function useConversation(id: string) {
  const client = useQueryClient()
  return useQuery({
    ...conversationQuery(id),
    // The sidebar usually has it already, so the title and the composer appear at once.
    placeholderData: () => findListed(client, id),
  })
}

/**
 * Creates a conversation; the server fills in the fields that `body` leaves out. Repeated with the same `key`, it returns the
 * same one. Throws `ApiError`.
 */
export const createConversation = (body: Partial<CreateConversationBody>, key?: string) =>
  request<Conversation>('/api/conversations', {
    method: 'POST',
    body,
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })

/** Deletes a conversation permanently without waiting for the response: the page may be closing. */
export function removeWhileLeaving(id: string): void {
  deletedHere.add(id)
  void authorization()
    .then((headers) =>
      fetch(fromHost(`/api/conversations/${id}?permanent=true`), {
        method: 'DELETE',
        keepalive: true,
        headers,
      }),
    )
    .catch(() => undefined)
}

/** Deletes a conversation permanently if it has no messages and no active run. */
export async function deleteIfEmpty(id: string): Promise<void> {
  const { message_count: messages, active_run_id: run } = await request<Conversation>(
    `/api/conversations/${id}`,
  )
  if (messages === 0 && run === null)
    await requestDone(`/api/conversations/${id}?permanent=true`, { method: 'DELETE' })
}

/** Changes a cached conversation: its own entry, and every list, in which it may move, appear or disappear. Returns it, changed. */
export function updateCached(
  client: QueryClient,
  id: string,
  change: (conversation: Conversation) => Conversation,
): Conversation | undefined {
  const known =
    client.getQueryData<Conversation>(conversationKeys.one(id)) ?? findListed(client, id)
  if (known === undefined) return undefined
  const changed = change(known)
  client.setQueryData<Conversation>(conversationKeys.one(id), (old) => old && changed)
  placeInLists(client, new Map([[id, changed]]))
  return changed
}

/** Refetches conversations that have changed on the server, one request each, and updates the cached lists. */
export async function refreshConversations(
  client: QueryClient,
  ids: readonly string[],
): Promise<void> {
  if (ids.length > MAX_SINGLE_READS)
    return await client.invalidateQueries({ queryKey: conversationKeys.lists })
  const read = new Map<string, Conversation | null>()
  await Promise.all(
    ids.map(async (id) => {
      try {
        const query = conversationQuery(id)
        // A pending request may have missed the change.
        await client.cancelQueries({ queryKey: query.queryKey, exact: true })
        read.set(id, await client.fetchQuery({ ...query, staleTime: 0 }))
      } catch (error) {
        // Other errors: the server is unreachable, and everything is refetched once it is back.
        if (error instanceof ApiError && error.status === 404) read.set(id, null)
      }
    }),
  )
  placeInLists(client, read)
}

/**
 * Removes conversations that were deleted on the server from the lists. One that has been opened here is refetched, so that
 * its view receives the 404.
 */
export async function dropConversations(
  client: QueryClient,
  ids: readonly string[],
): Promise<void> {
  placeInLists(client, new Map(ids.map((id) => [id, null])))
  const opened = ids.filter((id) => client.getQueryState(conversationKeys.one(id)) !== undefined)
  await refreshConversations(client, opened)
}

/** Stores the order of the pinned conversations; the lists show it at once. The last change wins. */
export function useOrderPins() {
  const client = useQueryClient()
  return useMutation({
    mutationKey: pinsKey,
    // One after the other: requests that are sent together may arrive in any order.
    scope: { id: 'pins' },
    mutationFn: (ids: PinnedIds) =>
      request('/api/conversations/pins', { method: 'PUT', body: { ids } }),
    onMutate(ids) {
      for (const [at, id] of ids.entries())
        updateCached(client, id, (conversation) => ({ ...conversation, pin_position: at }))
    },
    onError: () => {
      // Not awaited: the order that was refused would count as pending until the lists have loaded.
      void client.invalidateQueries({ queryKey: conversationKeys.lists })
    },
  })
}

/**
 * Changes a conversation. The change is shown at once, and rolled back if the server refuses it. When the
 * conversation is read, or another change of it succeeds, the changes that are still being sent stay shown.
 */
export function usePatchConversation() {
  const client = useQueryClient()
  return useMutation({
    mutationKey: patchKey,
    mutationFn: ({ id, ...body }: ConversationPatch) =>
      request<Conversation>(`/api/conversations/${id}`, { method: 'PATCH', body }),
    onMutate: (patch) => {
      const changes = changesOf(patch)
      return updateCached(client, patch.id, (conversation) => ({ ...conversation, ...changes }))
    },
    onSuccess: (conversation, patch) => {
      settled.add(patch)
      updateCached(client, conversation.id, () => withPendingChanges(client, conversation))
    },
    onSettled: (_data, _error, { tags }) =>
      tags === undefined ? undefined : client.invalidateQueries({ queryKey: ['tags'] }),
    onError: (_error, patch) => {
      settled.add(patch)
      return refreshConversations(client, [patch.id])
    },
  })
}

/** Up to this many changed conversations are refetched one by one; beyond that, whole lists are. */
export const MAX_SINGLE_READS = 100

const deletedHere = new Set<string>()

/** Whether this tab requested the deletion, so that the view needs no notice. */
export const isDeletedHere = (id: string): boolean => deletedHere.has(id)

/** Records that this tab deletes these conversations, or with `isDeleted` false that it no longer does. */
export function markDeletedHere(ids: readonly string[], isDeleted: boolean): void {
  for (const id of ids)
    if (isDeleted) deletedHere.add(id)
    else deletedHere.delete(id)
}
