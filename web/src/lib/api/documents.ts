// The knowledge base of a project: its documents and their passages.
import {
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import type { ErrorParams } from '../../../../server/protocol/error.ts'
import { request, requestDone } from '../http/api-client.ts'
import type { PageOf } from '../http/pages.ts'

/** A document of the knowledge base. `size` is in bytes; `error`, `reason` and `params` explain a failure. */
export type ProjectDocument = {
  id: string
  name: string
  size: number
  status: 'pending' | 'ready' | 'failed'
  error: string | null
  reason: string | null
  params: ErrorParams | null
  /** The encoding of a text that can be read in another one; null for other documents. */
  encoding: string | null
  /** How many passages are indexed; grows while the document is being processed. */
  passages: number
  /** The file of the project that it is; null for an uploaded document. */
  path: string | null
}

/** A piece of a document. `position` is its index in the text; `page` counts from 1. */
export type Passage = {
  position: number
  heading: string | null
  page: number | null
  text: string
}

/** The query key of a project's documents. */
export const documentsKey = (projectId: string) => ['documents', projectId] as const

/** The polling interval of documents in milliseconds while one of them is being read, else false. */
export const pollWhilePending = (
  documents: readonly Pick<ProjectDocument, 'status'>[],
): number | false => (documents.some(({ status }) => status === 'pending') ? 2_000 : false)

/** The documents of a project that are none of its files, polled while one is pending. Sends no request for null. */
export const useUploadedDocuments = (projectId: string | null) =>
  useInfiniteQuery({
    queryKey: documentsKey(projectId ?? ''),
    enabled: projectId !== null,
    queryFn: ({ signal, pageParam }) =>
      request<PageOf<ProjectDocument>>(`/api/projects/${projectId}/documents`, {
        query: { limit: 100, cursor: pageParam, without_file: true },
        signal,
      }),
    initialPageParam: null as string | null, // the type of the later cursors
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: ({ state }) =>
      pollWhilePending(state.data?.pages.flatMap(({ items }) => items) ?? []),
    meta: { quiet: true },
  })

/** Removes a document with its passages from the knowledge base. */
export function useDeleteDocument(projectId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      requestDone(`/api/projects/${projectId}/documents/${id}`, { method: 'DELETE' }),
    onSuccess: () => documentsChanged(client, projectId),
  })
}

/** Reads a document again in another encoding. */
export function useReadDocumentAs(projectId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, encoding }: { id: string; encoding: string }) =>
      request<ProjectDocument>(`/api/projects/${projectId}/documents/${id}`, {
        method: 'PATCH',
        body: { encoding },
      }),
    onSuccess: () => documentsChanged(client, projectId),
  })
}

/** Makes a file of the project searchable. */
export function useMakeSearchable(projectId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (path: string) =>
      request<ProjectDocument>(`/api/projects/${projectId}/searchable-files`, {
        method: 'POST',
        body: { path },
      }),
    onSuccess: () => documentsChanged(client, projectId),
  })
}

/** The folders of a project say which of their files are documents. */
const documentsChanged = (client: QueryClient, projectId: string) =>
  Promise.all([
    client.invalidateQueries({ queryKey: documentsKey(projectId) }),
    client.invalidateQueries({ queryKey: ['project-files', projectId, 'folder'] }),
  ])

const PASSAGES_PER_PAGE = 10

/** The query key of a document's passages, read from `position`. */
export const passagesKey = (projectId: string, documentId: string, position: number) =>
  ['passages', projectId, documentId, position] as const

/** Passages of a document, ten at a time in both directions, starting at `position`. */
export const usePassages = (projectId: string, documentId: string, position: number) =>
  useInfiniteQuery({
    queryKey: passagesKey(projectId, documentId, position),
    queryFn: ({ signal, pageParam }) =>
      request<{ document: ProjectDocument; items: Passage[] }>(
        `/api/projects/${projectId}/documents/${documentId}/passages`,
        { query: pageParam, signal },
      ),
    initialPageParam: { position, limit: PASSAGES_PER_PAGE },
    getNextPageParam({ document, items }) {
      const next = (items.at(-1)?.position ?? document.passages) + 1
      return next < document.passages ? { position: next, limit: PASSAGES_PER_PAGE } : null
    },
    getPreviousPageParam({ items }) {
      const first = items[0]?.position ?? 0
      const start = Math.max(0, first - PASSAGES_PER_PAGE)
      return start < first ? { position: start, limit: first - start } : null
    },
    meta: { quiet: true },
  })
