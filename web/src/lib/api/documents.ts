// The knowledge base of a project: its documents and their passages.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ErrorParams } from '../../../../server/protocol/error.ts'
import { request, requestDone } from '../http/api-client.ts'

/** A document of the knowledge base. `size` is in bytes; `error`, `reason` and `params` explain a failure. */
export type ProjectDocument = {
  id: string
  name: string
  size: number
  status: 'pending' | 'ready' | 'failed'
  error: string | null
  reason: string | null
  params: ErrorParams | null
  /** How many passages are indexed; grows while the document is being processed. */
  passages: number
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

/** A project's documents, polled every two seconds while one is pending. Sends no request for null. */
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

/** Ten passages of a document, starting at `position`. */
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
