// The knowledge base of a project: its documents and their passages.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ErrorParams } from '../../../../server/protocol/error.ts'
import { request, requestDone } from '../http/api-client.ts'

/**
 * A document of the knowledge base; `size` in bytes. `error`, `reason` and `params` say why it
 * `failed`.
 */
export type ProjectDocument = {
  id: string
  name: string
  size: number
  status: 'pending' | 'ready' | 'failed'
  error: string | null
  reason: string | null
  params: ErrorParams | null
  /** How many are indexed; grows while the document is read. */
  passages: number
}

/**
 * A piece of a document; `position` is its place in the order of the text, `page` counts from 1.
 */
export type Passage = {
  position: number
  heading: string | null
  page: number | null
  text: string
}

/** The key of a project's documents in the cache. */
export const documentsKey = (projectId: string) => ['documents', projectId] as const

/** Polled every other second while a document is being read. */
export const useDocuments = (projectId: string | null) =>
  useQuery({
    queryKey: documentsKey(projectId ?? ''),
    enabled: projectId !== null,
    queryFn: ({ signal }) =>
      request<{ items: ProjectDocument[] }>(`/api/projects/${projectId}/documents`, {
        query: { limit: 100 },
        signal,
      }).then(({ items }) => items),
    refetchInterval: (query) =>
      query.state.data?.some(({ status }) => status === 'pending') === true ? 2_000 : false,
    meta: { quiet: true },
  })

/** Removes a document with its passages from the knowledge base. */
export function useDeleteDocument(projectId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      requestDone(`/api/projects/${projectId}/documents/${id}`, { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: documentsKey(projectId) }),
  })
}

/** Ten passages of a document, from `position` on. */
export const usePassages = (projectId: string, documentId: string, position: number) =>
  useQuery({
    queryKey: ['passages', projectId, documentId, position],
    queryFn: ({ signal }) =>
      request<{ document: ProjectDocument; items: Passage[] }>(
        `/api/projects/${projectId}/documents/${documentId}/passages`,
        { query: { position, limit: 10 }, signal },
      ),
    meta: { quiet: true },
  })
